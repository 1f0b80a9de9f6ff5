import { countryNames, TRANSLATIONS } from './translations.ts';

const list = (text: string): string[] => text.trim().split(/\s+/);

/** One form for both numbers of a word; that it is the right one matters less than that it is the same. */
export function stem(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.length > 3 && /[^suia0-9]s$/.test(word) ? word.slice(0, -1) : word;
}

const stems = (text: string): Set<string> => new Set(list(text).map(stem));

/** Each line: the form that is kept, then those that stand for it. */
function forms(text: string): Map<string, string> {
  return new Map(text.trim().split('\n').flatMap((line) => {
    const [kept = '', ...others] = list(line).map(stem);
    return others.map((other): [string, string] => [other, kept]);
  }));
}

/** They say what an organization is in law and are left out by many who write its name. */
export const LEGAL_FORMS = new Set(list('inc incorporated corp corporation co company llc lc llp lp pllc plc ltd limited gmbh nfp nonprofit 501c3 501c4 pbc').map(stem));

/** Words that carry nothing. */
export const STOP_WORDS = new Set(list('the a an of and for in at on to by with from de del la el los las our al und et le les der des du di da y dos das'));

/** Words that come and go in one and the same name. */
export const WEAK = stems('group organization official us unitedstates home website corporation company incorporated holding concern pmc');

/** What a body is called with or without: "Insurance" and "House Committee on Insurance", "County Library" and "County Library District". */
export const OPTIONAL = stems('committee house senate joint standing assembly district');

/** "Saint" and "Street" share their abbreviation, so both are kept as that. */
export const ABBREVIATIONS = forms(`
  association assn assoc asso asn
  department dept dpt
  st saint sainte street
  fort ft
  mount mt
  committee cmte cmtee comte
  commission commn
  community cmty commty
  government govt
  national natl
  international intl
  american amer
  foundation fdn fndn
  center centre ctr cntr
  county cnty
  university univ
  college coll
  school sch schl
  district dist distr
  development dev devel dvlpmt
  service svc srvc serv
  management mgmt mgt
  administration admin admn
  authority auth
  avenue ave
  boulevard blvd
  building bldg
  brother bro
  council cncl cncil
  cooperative coop
  education educ edu
  environmental envtl env
  federation fedn
  hospital hosp
  housing hsg
  institute inst
  library lib libr
  memorial meml
  metropolitan metro
  ministry mins
  municipal muni
  neighborhood nbhd neighbourhood
  office ofc
  organization org orgn organisation
  professional prof
  program prog programme
  public publ
  regional regl
  republican repub
  democratic democrat
  society soc socy
  technology tech
  township twp
  transportation transp
  veteran vet
  volunteer vol
  northeast ne
  northwest nw
  southeast se
  southwest sw
  united utd
  worker wkr
  teacher tchr
  junior jr
  senior sr
  health hlth
  historical hist
  elementary elem
  independent indep
  legislative legis
  recreation rec
  height hts hgts
  corporation corp
  group grp
  holding hldg
  pharmaceutical pharma pharm
  system sys
  trading trdg
  shipping shpg
  enterprise ent entpr
  partner ptnr
  solution soln
  company co
  incorporated inc
  mountain mtn
  chapter chap chpt
  auxiliary aux
  division div
  theater theatre
  labor labour
  defense defence
  us usa
`);

/** One word for those that mean the same in other languages. */
export const TRANSLATED = new Map([...[...countryNames()].map(([word, kept]): [string, string] => [stem(word), stem(kept)]), ...forms(TRANSLATIONS)]);

/** They make another body of the name beside them: its friends, its fund, its branch. */
export const CHANGERS = stems(`
  friends foundation fund auxiliary alumni youth junior pta pto ptsa booster pac chapter local division branch section department bureau unit ward precinct
  subcommittee campaign women men girls boys student young police fire library school college hospital museum church caucus north south east west
  northern southern eastern western northeast northwest southeast southwest upper lower against anti former press airport court clerk treasurer sheriff
  employees retirees store shop endowment academy
`);

/** Frequent in names of civic organizations: to agree on them says little, and none is a typing error of another. */
export const COMMON = new Set([...CHANGERS, ...WEAK, ...OPTIONAL, ...LEGAL_FORMS, ...ABBREVIATIONS.values(), ...TRANSLATED.values(), ...stems(`
  senior action office district commission board council coalition network union guild league park trust institute project program conference convention
  festival legal water sanitation planning zoning elections support libertarian green state city town village federal global capital
  advocates advocacy affairs aging aid alliance animal area art arts assistance athletic baptist band bible black bank baseball basketball bay beach
  book bridge broadcasting business care catholic chamber charitable charity charter child children choice christ christian citizens civic civil clean
  climate clinic club collaborative colored commerce common concerned conservation conservancy consortium consumer country crisis culture cultural data day
  democracy dental design disability disabled downtown ecumenical economic elderly emergency empowerment energy engineers enterprise environment equality equity
  estate ethics evangelical exchange family farm farmers fair faith field finance financial fellowship food football forest forum fraternal free freedom
  garden good grace great greater growth harvest head heart help heritage high hill hispanic history hockey holy homeless homeowners hope human
  humane humanity immigrant independence indian industrial industry information initiative insurance interfaith issues jewish jobs justice kids
  knights land lake latino law leaders leadership learning legacy liberty life light lions literacy little living lutheran main
  market media medical mental methodist mission missionary music mutual native nature neighbors new news nurses nursing oak older open opera
  order orthodox outreach owners parents partners partnership peace pentecostal people performing pantry planned players point policy
  political poor power prevention presbyterian preschool preservation prison progress progressive property protection providers rail
  real recovery refugee relief renters resource responsible restoration retired rights ridge river road rotary rural safe safety science
  shelter soccer social solutions special spirit sports springs square studies substance sustainable swim task force taxpayers teen temple
  tenants tennis therapy together trades training transit treatment trails trees urban valley victory view violence vision
  voices vote voters walk watch watershed welfare wellness wildlife work workforce world worship writers zoo zion firefighters officers
  carpenters electrical plumbers builders contractors realtors bankers lawyers bar physicians dentists educators aldermen representatives
  budget rules ways means appropriations oversight judiciary tax taxation accountability administrative corrections healthcare childcare
  accounting aerospace agricultural airport aluminium automobile automotive beverages biotech brewery broker brokerage cement ceramics chain coal coating component computer communications
  consulting contracting cosmetics dairy defence delivery diagnostics diamond digital distribution electricity equipment equities export exploration fertilizer fishery freight furniture generation
  gold grain hardware heavy hospitality import infrastructure innovation instruments interactive iron leasing logistics machinery manufacturers marine maritime materials media metals mineral mining mobile
  motors navigation networks nuclear offshore optical packaging paper petrochemical pharmaceutical pharmacy pipeline plastics polymer ports precision printing procurement products refinery refining rubber
  securities semiconductor shipbuilding software solar space spare sugar supply systems tanker telecommunication textile tobacco tourism towing toys tractor transmission travel vehicle ventures vessel warehouse wholesale wind wine wood yacht
  restaurant cafe hotel inn bakery salon kitchen bike bicycle pedestrian golf course electric gas utility waste recycling improvement
`)]);

/** Names of states by their abbreviations; those that are also words ("in", "or", "me") are left out. */
export const STATES = forms(`
  alabama ala
  alaska ak
  arizona az ariz
  arkansas ar ark
  california ca calif
  colorado colo
  connecticut ct conn
  florida fl fla
  georgia ga
  illinois il ill
  iowa ia
  kansas ks kans
  kentucky ky
  maryland md
  massachusetts mass
  michigan mich
  minnesota mn minn
  mississippi ms
  missouri mo
  nebraska neb nebr
  nevada nv nev
  newhampshire nh
  newjersey nj
  newmexico nm
  newyork ny
  northcarolina nc
  northdakota nd
  oklahoma okla
  oregon ore
  pennsylvania penn penna
  rhodeisland ri
  southcarolina sc
  southdakota sd
  tennessee tn tenn
  texas tx tex
  utah ut
  vermont vt
  virginia va
  washington wash
  westvirginia wv
  wisconsin wi wis wisc
  wyoming wy wyo
`);

/** Written as one word or as two: kept as one. */
export const PAIRS = new Set(`
  new hampshire|new jersey|new mexico|new york|north carolina|north dakota|rhode island|south carolina|south dakota|west virginia|united states|
  health care|non profit|work force|water shed|down town|home owners|after school|pre school|child care|day care|fire fighters|co op|co operative
`.split('|').map((pair) => list(pair).map(stem).join(' ')));

const ordered = (text: string, from: number): [string, string][] => list(text).map((word, at) => [word, String(at + from)]);

export const NUMBER_WORDS = new Map([
  ...ordered('one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty', 1),
  ...ordered('first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth', 1),
]);

/** After these a Roman number or a single letter says which one it is. */
export const NUMBERED = stems('chapter local district region ward lodge post unit troop pack precinct division section area zone council number no num title type part phase fund capital partners holding series class');
export const ROMAN = new Map(ordered('i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx', 1));
