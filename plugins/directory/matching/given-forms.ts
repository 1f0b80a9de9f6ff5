/** Each line: the forms of one given name, or of one family name, in several languages and romanizations, with short forms. */
const FORMS = `
aleksandr alexander aleksander alexandr oleksandr aliaksandr aleksandar alexandre alexandru alessandro alejandro sasha sacha iskander aleksandros alexandros alex oleks
aleksandra alexandra oleksandra aliaksandra alessandra alejandra
aleksei alexei alexey aleksey aleksej oleksiy oleksii aliaksei alexis alexios alekos
anatoly anatoliy anatolii anatolij anatole
andrei andrey andrej andriy andrii andrew andreas andre andrea andrzej ondrej andres andras
anna hanna ann anne hana ganna anya ania
antony anthony anton antoni antonio antoine antonis antonios tony
arkady arkadiy arkadii arkadij
boris borys
daniel danil daniil danylo danilo
dmitry dmitri dmitriy dmitrii dmitrij dmytro dimitri dimitry dzmitry dimitrios dimitris dima mitya dimitar
ekaterina yekaterina jekaterina kateryna katerina catherine katherine katarina catalina caterina katarzyna katya kate
elena yelena jelena olena helena helen alena lena eleni
elizaveta yelizaveta elisabeth elizabeth isabel yelyzaveta elisabetta elzbieta
evgeny yevgeny evgeni evgeniy evgenii evgenij yevgeniy yevgenii jewgeni yevhen yevheniy eugene eugen eugenio eugeniusz zhenya
fyodor fedor fjodor fiodor theodore teodor fedir theodor teodoro theodoros
galina halyna galyna
gennady gennadiy gennadii gennadij hennadiy henadz
georgy georgi georgiy georgii george georg giorgi giorgos georgios yorgos jorge georges gheorghe heorhiy jerzy giorgio
gregory grigory grigoriy grigori hryhoriy hryhorii grigorios
igor ihor
irina iryna irene irena
ivan iwan ioan ivane
john johann johannes jan jean juan giovanni joao ioannis yannis giannis hans johan
joseph josef jozef iosif yosef jose giuseppe josip yusuf youssef yusef yousef yousuf yusif josif yosyp
konstantin constantin constantine kostyantyn konstantinos kostas costas
ksenia kseniya xenia ksenija oksana
leonid leonyd
lev leo leon lew
louis luis ludwig luigi lewis luiz ludovic
lyudmila ludmila liudmyla ljudmila lyudmyla
maria marija mariya mary marie mariia maryia
marcus mark marc marco markus marek marko
matthew mateusz matteo mathieu matthias matteus matvey mateo matias mathias
maxim maksim maksym maxime massimo maximo
michael mikhail michail mykhailo mykhaylo mikhailo mihail mikheil michel miguel michele mihai mikael mikhael michal misha mihajlo mihailo
natalia natalya nataliya natalja nataliia natasha
nicholas nikolai nikolay nikolaj mykola nicolas nikolaos nicolae mikolaj nikola nikolas nicola nikos nick kolya mikalai
oleg oleh aleh
olga olha volha
paul pavel pavlo pawel pablo paolo pavlos paulo pal pavle
peter pyotr petr petro pjotr piotr pietro pedro pierre petros petar petru pierro
philip philippe filipp filip felipe pylyp filippo philipp
roman raman
sergei sergey sergej sergiy serhiy serhii serge sergio siarhei sergii sergiu
stepan stephan stefan stephen steven etienne esteban stefano stefanos stjepan istvan stevan
svetlana svitlana sviatlana
semyon semen simon simeon shimon
timothy timofey tymofiy timofei
valentin valentyn valentino
valery valeriy valerii valerij valeri
vasily vasiliy vasilii vasyl basil vasili wassili vassilis vasilios
victor viktor wiktor vittorio viktar vitya
vitaly vitaliy vitalii vitalij vitali
vladimir volodymyr wladimir uladzimir wolodymyr volodimir vova volodya vladymyr
vladislav vladyslav wladyslaw uladzislau
vyacheslav viacheslav vjaceslav vyachaslau slava
yaroslav jaroslav jaroslaw iaroslav
yulia julia yuliya iuliia julija giulia
yuri yury yuriy yurii jurij jurii iurii yuriy iuri juri
xavier javier saverio
william guillaume wilhelm guillermo guglielmo willem
henry henri heinrich enrique enrico henrik hendrik henryk
charles carlos karl carl carlo karel karol
francis francois francisco francesco franz frans franciszek ferenc
james jaime jacques giacomo jacob jakob iakov yakov jakub yakiv
lawrence laurent lorenzo laurentius lars lavrentiy
edward eduard eduardo edouard edvard edoardo
frederick friedrich federico frederic fryderyk fredrik
raphael rafael raffaele
stanislav stanislaw stanislas stanislau
mohammed muhammad mohamed mohammad mohamad muhammed mohd mehmet mahomet muhamad magomed mohamud muhammet muhamed mukhammad
ahmed ahmad ahmet achmed akhmed akhmad achmad
ali aly aliy
hassan hasan hassane khasan
hussein husain husayn hossein hussain hosein huseyin husein hossain hussayn houssein khusein khusayn
ibrahim ibraheem abraham avraham brahim ebrahim
ismail ismael ismaeel esmail esmaeil
khalid khaled kaled halid
khalil khaleel halil
mahmoud mahmud mahmood mehmood
mustafa mostafa moustafa mustapha moustapha
mousa musa moussa moses moshe
omar umar omer umer
osama usama oussama
othman osman usman uthman ousmane
qasem qassem kasim qasim kassem ghasem kassim
said saeed saed sayed
suleiman sulaiman soleiman suleyman solomon soliman sulayman souleymane
tariq tarek tareq tarik
walid waleed oualid
yahya yehia yahia yahiya
zayd zaid zayed
fatima fatma fatemeh fatimah fatoumata
aisha aysha ayesha aicha
hamid hameed
karim kareem
nasser nasir naser nassir
rashid rasheed rachid
salim saleem
jamal gamal djamal djamel
abdullah abdallah abdulla abdoulaye
gaddafi qaddafi kadafi gadhafi qadhafi khadafi gadafi
kim gim
lee yi rhee
park bak pak
jung chung jeong cheong
choi choe
roh noh no
moon mun
kang gang
cho jo
yoon yun
`;

const groups = new Map<string, Set<number>>();
for (const [number, line] of FORMS.trim().split('\n').entries()) {
  for (const word of line.split(' ')) groups.set(word, (groups.get(word) ?? new Set()).add(number));
}

/** Whether two words are one name in two languages or romanizations. */
export function areFormsOfOne(one: string, other: string): boolean {
  const [left, right] = [groups.get(one), groups.get(other)];
  return left !== undefined && right !== undefined && [...left].some((number) => right.has(number));
}

/** Whether the word is a name of which the forms are known, so that a similar one is another name. */
export const hasKnownForms = (word: string): boolean => groups.has(word);
