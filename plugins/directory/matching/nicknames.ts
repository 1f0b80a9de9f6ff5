/** Each line: a given name, then the short and other forms people use for it. */
const FORMS = `
abigail abby gail
abraham abe
adelaide addie
agnes aggie
albert al bert bertie
alexander alex al sandy xander alec
alexandra alex sandra sandy lexi
alfred al fred alfie
alice ali
allison ali allie
alvin al
amanda mandy
amelia amy millie
andrea andie
andrew andy drew
angela angie
anna ann annie anne nan
annette annie
anthony tony
antonio tony
antoinette toni
archibald archie
arnold arnie
arthur art artie
augustus gus
barbara barb barbie babs
barnard barney
bartholomew bart
beatrice bea trixie
benjamin ben benny benji benj
bernadette bernie
bernard bernie
bethany beth
beverly bev
bradley brad
bradford brad
brandon bran
bridget bridie
calvin cal
cameron cam
candace candy
carl karl
caroline carrie carol
carolyn carol carrie
cassandra cassie sandra
catherine cathy kathy kate katie cat katherine kathryn cathryn kay kit kitty
cecilia celia cissy
charles charlie chuck chas charley
charlotte lottie charlie
chester chet
christina chris tina chrissy
christine chris tina chrissy
christopher chris kit topher
clarence clare
clayton clay
clifford cliff
clifton cliff
clinton clint
constance connie
cornelius neil
curtis curt kurt
cynthia cindy
cyrus cy
daniel dan danny danl
danielle dani
darlene darla
david dave davey
deanna dee
deborah deb debbie debby debra debi
delores dee lola
dennis denny
diana di
dominic dom nick
donald don donnie
donna dee
dorothy dot dottie dolly
douglas doug
edgar ed
edith edie
edmund ed ned ted
edward ed eddie ned ted teddy edw
edwin ed eddie
eleanor ellie nora nell
elizabeth liz beth betty betsy lizzie eliza libby bess bessie elisabeth lisa
ellen nell ellie
emily em
emma em
ernest ernie
eugene gene
evelyn evie
ezekiel zeke
florence flo
frances fran frannie francie
francis frank fran
francisco frank paco
franklin frank
frederick fred freddie fritz frederic fredk
gabriel gabe
gabriella gabby
genevieve gen
geoffrey geoff jeff
george georgie geo
gerald jerry gerry
geraldine gerry
gerard jerry gerry
gilbert gil
gordon gordy
grace gracie
gregory greg gregg
gretchen greta
gwendolyn gwen
harold hal harry
harriet hattie
harrison harry
harvey harv
helen nell
henrietta etta
henry hank harry hal
herbert herb bert
herman herm
howard howie
hubert bert hugh
ignacio nacho
irene rene
isaac ike
isabella bella izzy isabel
jacob jake
jacqueline jackie jacquie
james jim jimmy jamie jas
jane janie
janet jan
janice jan
jason jay
jasmine jazz
jean jeannie
jeffrey jeff jeffery
jennifer jen jenny
jeremiah jerry
jeremy jerry
jerome jerry
jessica jess jessie
jesus chuy
jillian jill
joan joanie
joanna jo
joel joey
john jack johnny jon
jonathan jon jonny nathan
jordan jordy
jose pepe
joseph joe joey jos
josephine jo josie
joshua josh
joyce joy
juan johnny
judith judy
julia julie
julian jules
justin jus
karen kari
kathleen kathy kate kay katie
kelley kelly
kenneth ken kenny
kevin kev
kimberly kim
kristen kris kristin
kristina kris tina
laura laurie
lauren laurie
lawrence larry laurence
leonard leo len lenny
leonardo leo
leroy lee roy
leslie les
lester les
lewis lew louis lou
lillian lil lily
lincoln linc
linda lindy
louis lou louie
louise lou
lucille lucy
luis lou
madeline maddie
malcolm mal
manuel manny
marcus marc mark
margaret maggie meg peggy marge margie peg greta rita
maria mary
marianne mary
marilyn mary
marjorie marge margie
martha marty
martin marty
marvin marv
mary molly polly
matthew matt
maureen mo
maurice maury
maximilian max
maxwell max
megan meg
melanie mel
melinda mindy
melissa missy mel lissa
melvin mel
michael mike mickey mick micky
michelle shelly
mildred millie
miguel mike
miranda randi
mitchell mitch
mohammed mohammad muhammad mohamed
montgomery monty
morris morrie
nancy nan
natalie nat
natasha tasha
nathan nate nat
nathaniel nate nat nathan
nicholas nick nicky nicolas
nicole nikki nicki
norman norm
oliver ollie
olivia liv
oscar ozzie
pamela pam
patricia pat patty tricia trish patti
patrick pat paddy
paula polly
pauline polly
penelope penny
peter pete
philip phil phillip
phyllis phyl
priscilla cilla
prudence prue
rachel rae
ralph ralphie
ramona mona
randall randy
randolph randy
raphael rafe
raymond ray
rebecca becky becca
regina gina
reginald reggie
rhonda ronnie
ricardo rick ricky
richard rick rich dick ricky richie richd
robert bob rob bobby robbie bert robt
roberta bobbie
roberto beto bob
roderick rod
rodney rod
roger rodge
roland rollie
ronald ron ronnie
rosemary rose rosie
rosalind rose
roxanne roxie
rudolph rudy
russell russ rusty
ruth ruthie
sabrina bri
salvador sal
salvatore sal
samantha sam
samuel sam sammy saml
sandra sandy
santiago santi
sarah sally sara
saundra sandy
sebastian seb
seymour sy
sharon shari
shannon shan
sheila shel
shirley shirl
sidney sid
solomon sol
sophia sophie
spencer spence
stanley stan
stephanie steph stef
stephen steve steven stevie
stuart stu
susan sue susie suzie suzy
susanna sue susie
suzanne sue susie suzy
sylvester sly
sylvia syl
tabitha tabby
tamara tammy
teresa terry terri tess theresa
terrance terry
terrence terry terence
thaddeus thad tad
thelma thel
theodore ted teddy theo
thomas tom tommy thos
timothy tim timmy
tobias toby
tracy trace
tyler ty
valerie val
vanessa nessa
veronica ronnie roni
vernon vern
victor vic
victoria vicky vicki tori
vincent vince vinny
viola vi
virginia ginny ginger
vivian viv
wallace wally
walter walt wally
warren ren
wendell wendy
wesley wes
wilbur will
wilfred will fred
wilhelmina mina willie
william bill will billy willie liam wm
winifred winnie
winston win
woodrow woody
yolanda yoli
yvonne vonnie
zachary zach zack
zechariah zach
`;

/** Given names with no short form of their own that are one letter from another. */
const OTHERS = `
aaron adam adrian alan allan allen alma amber amy april ashley audrey blake brenda brett brian bryan bruce carla carlos carmen carol chad cheryl claire
clara claudia cody colin colleen craig crystal dale dana darren darryl dawn dean denise derek diane dylan earl elaine elena eli elijah ella eric erik erica erin ethan
eva evan faith fernando gary glen glenn gloria guy hannah harry hazel heather heidi holly hope ian ida ivan jack jackson janelle jared jill jim joann joanne jodi
jorge juanita julio kara karla kate katrina keith kelly kent kerry kirk kristy kurt kyle lance leah lee leon leona loretta lori lorraine lucas lucia
luke lydia lynn marc marcia mario marion marian marissa mark marla marlene marsha marta max maya mia mindy miriam misty molly monica morgan myra
naomi neil noah noel nora norma olga omar opal owen pablo paige paul pedro perry preston quentin rafael ramon raul renee rene rex rita robin
rosa ross roy ruben ryan sally sean shane shaun shawn sheri sherry sheryl simon sonia sonya stacey stacy sue tamika tanya tara ted terri terry tina todd toni
tonya tracey travis trevor trudy tyrone van vera wade wanda wayne wendy will xavier yvette zoe
`;

/** The most frequent family names of the United States: to agree on one says less. */
export const COMMON_SURNAMES = new Set(`
smith johnson williams brown jones garcia miller davis rodriguez martinez hernandez lopez gonzalez wilson anderson thomas taylor moore jackson martin
lee perez thompson white harris sanchez clark ramirez lewis robinson walker young allen king wright scott torres nguyen hill flores green adams nelson
baker hall rivera campbell mitchell carter roberts gomez phillips evans turner diaz parker cruz edwards collins reyes stewart morris morales murphy
cook rogers gutierrez ortiz morgan cooper peterson bailey reed kelly howard ramos kim cox ward richardson watson brooks chavez wood james bennett gray
mendoza ruiz hughes price alvarez castillo sanders patel myers long ross foster jimenez powell jenkins perry russell sullivan bell coleman butler
henderson barnes gonzales fisher vasquez simmons romero jordan patterson alexander hamilton graham reynolds griffin wallace moreno west cole hayes
bryant herrera gibson ellis tran medina aguilar stevens murray ford castro marshall owens harrison fernandez mcdonald woods washington kennedy wells
vargas henry chen freeman webb tucker guzman burns crawford olson simpson porter hunter gordon mendez silva shaw snyder mason dixon munoz hunt hicks
holmes palmer wagner black robertson boyd rose stone salazar fox warren mills meyer rice schmidt garza daniels ferguson nichols stephens soto weaver
johnston larson carlson hansen hanson jensen petersen andersen
`.trim().split(/\s+/));

const groups = new Map<string, Set<string>>();
const formal = new Map<string, string>();
for (const line of FORMS.trim().split('\n')) {
  const names = line.split(' ');
  for (const name of names) {
    const known = groups.get(name) ?? new Set();
    known.add(names[0]!);
    groups.set(name, known);
    if (!formal.has(name)) formal.set(name, names[0]!);
  }
}
const known = new Set([...groups.keys(), ...OTHERS.trim().split(/\s+/)]);

export const givenNames: readonly string[] = [...known];

/** The short forms of a given name, itself not among them. */
export function shortForms(name: string): string[] {
  return [...groups].filter(([short, names]) => short !== name && names.has(name)).map(([short]) => short);
}

/** Whether a word is a given name we know, so that a near one is another name and no typing error. */
export const isGivenName = (word: string): boolean => known.has(word);

/** Whether two given names can be one person's: Bill and William, Kathy and Kate. */
export function areVariants(one: string, other: string): boolean {
  if (one === other) return true;
  const names = groups.get(one);
  const others = groups.get(other);
  if (!names || !others) return false;
  return [...names].some((name) => others.has(name));
}

/** The names of which it is a form. */
export const formalNames = (name: string): string[] => [...(groups.get(name) ?? [])];

/** One name for all its forms, for keys that must be equal. */
export const formalName = (name: string): string => formal.get(name) ?? name;
