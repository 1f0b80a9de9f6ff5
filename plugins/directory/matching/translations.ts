import { foldText } from 'civic';
import { latin, syllables } from './latin.ts';

/** Each line: a word that is frequent in names of organizations, then its forms in other languages, in Latin letters. */
export const TRANSLATIONS = `
  russia rossiya rossiia rossii rossiyskoy rossiyskaya
  ukraine ukrainy ukraina ukrayiny
  belarus belarusi belarusskiy
  kazakhstan kazakhstana qazaqstan
  moscow moskva moskvy moskovskiy
  bank banco banque banka banca bankas pankki trapeza bk bkg banking
  central tsentralnyy tsentralnyi centralny centrale zentral zentrale tsentralnyj merkez
  national natsionalnyy natsionalnyi nacional nationale nationaler nazionale natsionalnaya narodowy ulusal natsionalnoe
  international internacional internationale mezhdunarodnyy mezhdunarodnaya mezhdunarodnyi mizhnarodnyi uluslararasi internazionale
  state gosudarstvennyy gosudarstvennaya gosudarstvennoe derzhavnyi estatal panstwowy devlet staatlich
  commercial kommercheskiy comercial commerciale kommerz
  industrial promyshlennyy industrielle industriel promyshlennaya sanayi ind
  general generalnyy generale gen
  company kompaniya kompania compania compagnie compagnia sherkat shirkat companhia kompanie
  corporation korporatsiya korporatsia corporacion corporacao korporacja kooperation
  group gruppa grupo groupe gruppe gruppo grupa grubu grup hrupa
  holding holdings kholding
  concern kontsern konzern
  association assotsiatsiya asociacion associacao associazione asotsiatsiia verband associacio dernegi
  union soyuz soiuz union syndicat sindicato spilka
  federation federatsiya federacion federazione federacao federasyonu federatsiia
  foundation fond fundacion fundacao fondation fondazione stiftung fundacja vakfi fonden
  fund fondo fonds
  institute institut instituto istituto instytut enstitusu
  university universitet universidad universidade universite universita universitat uniwersytet universitesi univerzita universiteit
  academy akademiya academia akademie accademia akademia akademisi
  ministry ministerstvo ministerio ministere ministerium ministero ministerul bakanligi vizarat wizarat
  defense oborony defensa verteidigung difesa oboroni
  finance finansov finanzas finances finanzen finanze
  health zdravookhraneniya salud sante gesundheit salute okhorony
  education obrazovaniya educacion bildung istruzione
  justice yustitsii justicia justiz giustizia
  agency agentstvo agencia agence agentur agenzia ajansi
  committee komitet comite komitee comitato
  commission komissiya comision kommission commissione
  department departament departamento departement dipartimento
  bureau byuro buro
  center tsentr centro zentrum merkezi
  factory zavod fabrika fabrik fabrica fabbrica usine fabryka
  plant zavody kombinat
  oil neft nafta petroleo petrole petrolio naphtha
  gas gaz
  energy energiya energia energie enerji enerhiya
  trading torgovyy torgovaya ticaret
  trade handel
  commerce comercio commercio
  transport transportes trasporti transportnaya
  shipping sudokhodstvo naviera schiffahrt denizcilik
  insurance strakhovaya seguros assurance assurances versicherung assicurazioni sigorta
  construction stroitelnaya construccion costruzioni insaat stroitelstvo constr
  investment investitsii inversiones investissement investitsionnaya yatirim invest
  research issledovaniya investigacion recherche forschung ricerca issledovatelskiy
  scientific nauchnyy nauchno cientifico scientifique
  science nauk ciencias sciences wissenschaften
  technology tekhnologii tekhnologiya tecnologia technologie teknoloji technologies tecnologias tech techs
  engineering ingenieria inzhiniring ingegneria muhendislik eng engr
  industry promyshlennost industria industrie sanayii industries
  production proizvodstvo produccion produktion
  airline avialinii aerolineas airlines
  aviation aviatsiya aviacion aviatsionnyy
  railway zheleznye ferrocarril eisenbahn railways rly
  security bezopasnosti seguridad sicherheit sicurezza
  service sluzhba servicio servicios dienst servizi services
  republic respublika republica republique republik repubblica
  people narodnyy narodnaya popular pueblo
  party partiya partido parti partei partito partia partiia
  movement dvizhenie movimiento mouvement bewegung movimento
  front frente
  world mirovoy mundial mondiale welt
  new novyy nuevo nouveau neue nuova novaya
  laboratory laboratoriya lab laboratorio laboratoire labs
  manufacturing mfg manufaktura
  headquarters hq
  management upravlenie
  development razvitiya desarrollo developpement entwicklung sviluppo
  medical meditsinskiy medico
  military voennyy militar militaire
  petroleum petroleos petrol
  chemical khimicheskiy quimica chimique chemische
  steel stal acero acier stahl
  telecom telekom
  electronics elektronika electronica elektronik
`;

/** Chinese words of names of organizations; what stands between them is one word. */
const CHINESE = new Map(Object.entries({
  有限责任公司: 'ltd', 股份有限公司: 'ltd', 有限公司: 'ltd', 公司: 'company', 集团: 'group', 集團: 'group', 银行: 'bank', 銀行: 'bank', 大学: 'university', 大學: 'university', 中国: 'china', 中國: 'china', 技术: 'technology', 技術: 'technology', 科技: 'technology',
  石油: 'oil', 天然气: 'gas', 国际: 'international', 國際: 'international', 国家: 'national', 贸易: 'trade', 保险: 'insurance', 电子: 'electronics', 工业: 'industry', 能源: 'energy', 投资: 'investment', 研究院: 'institute', 研究所: 'institute',
  基金会: 'foundation', 协会: 'association', 委员会: 'committee', 中央: 'central', 人民: 'people', 航空: 'airline', 通信: 'communications', 建设: 'construction', 农业: 'agricultural', 工商: 'industrialcommercial',
}));
const CHINESE_WORD = new RegExp(`(${[...CHINESE.keys()].sort((one, other) => other.length - one.length).join('|')})`, 'u');

function cutOrganization(run: string): string[] {
  return run.split(CHINESE_WORD).filter(Boolean).map((part) => CHINESE.get(part) ?? syllables(part));
}

/** Returns the name of an organization in Latin letters. */
export const latinOrganization = (name: string): string => latin(name, cutOrganization);

const LANGUAGES = ['ru', 'uk', 'fr', 'es', 'de', 'it', 'pt', 'pl', 'tr', 'nl', 'sv', 'ro'];
const REGIONS = 'AE AF AL AM AO AR AT AU AZ BA BD BE BG BH BR BY CA CH CL CN CO CU CY CZ DE DK DZ EE EG ES ET FI FR GE GH GR HR HU ID IE IL IN IQ IR IS IT JO JP KE KG KH KR KW KZ LB LK LT LU LV LY MA MD MM MN MT MX MY NG NL NO NP PE PH PK PL PT QA RO RS RU SA SD SE SG SI SK SN SO SY TH TJ TM TN TR TZ UA UG UY UZ VE VN YE ZA ZM ZW'.split(' ');

/** Returns the names of countries that are one word, in several languages, each with the English one. */
export function countryNames(): Map<string, string> {
  const names = (language: string) => new Intl.DisplayNames([language], { type: 'region' });
  const english = names('en');
  const isWord = (name: string) => /^[a-z]{4,}$/.test(name);
  return new Map(LANGUAGES.map(names).flatMap((of) => REGIONS.flatMap((region): [string, string][] => {
    const [word, kept] = [of, english].map((display) => foldText(latinOrganization(display.of(region) ?? '')).replace(/['’]/g, '')) as [string, string];
    return isWord(word) && isWord(kept) && word !== kept ? [[word, kept]] : [];
  })));
}
