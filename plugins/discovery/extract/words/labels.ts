import { wordSet } from './set.ts';

/** Words of navigation, forms and headings, folded. A name does not consist of them alone. */
export const LABEL_WORDS = wordSet(`
  about above accessibility account accounts action add additional address addresses admin administration advanced advertise advertising affiliate affiliates agenda agendas agreement alerts all also and answers any apply application applications archive archives area areas article articles ask
  at available awards back banking become before below benefits best billing biography bios blog book booking brands browse business businesses button buy by calendar call campaign campaigns cancel card cards career careers cart case catalog categories category change chat check
  checkout choose city class classes clear click close code collection collections comment comments commercial company complaints conditions contact contacts contacto contactenos content contents contest continue cookie cookies copyright corporate country coupons course courses
  create credits current customer customers daily data date day days deals dealer dealers delivery department departments description details direct directions directory disclaimer discover do docs document documents donate donation donations download downloads drive
  edit education email emails emergency employee employees employment english enquiries enter entertainment espanol event events every exhibits experience explore facebook facilities faculty faq faqs fax featured features feedback fees field file files fill find first flickr
  follow food for form forms forum free frequently friday friends from full fun further gallery general get gift gifts giving global go google government group groups guide guidelines guest guests have headquarters health hello help here hide history home homepage hour hours how
  i image images in industry info information inicio inquiries instagram insurance international internet investor investors invite issue issues is job jobs join jump keep keyword last latest learn legal library license like link linkedin links list listing listings live local location
  locations log login logout logo loyalty mail mailing main make manage management map maps market media meet meeting meetings member members membership memberships menu message messages minutes mission mobile monday monthly more most my name names navigation network new news newsletter newsletters
  next no notice notices now number numbers of off offer offers office offices official online only open opening opportunities opportunity or order ordering orders other our out overview page pages parents parking partner partners password past pay payment payments people permits phone photo photos pinterest
  plan planning plans please podcast policies policy popular portal portfolio post postal posted posts powered practice press preview previous price prices pricing print privacy private process product products professional profile program programs project projects promotions
  public publications purchase questions quick quote quotes rates read recent recipes record records recreation recycling references refund register registered registration regulations related releases rent rentals reply report reports request requests required research reservation reservations reserve reserved resident residents
  residential resource resources results return returns review reviews rights room rss rules safety sales saturday save schedule scheduled search section security see select send series service services session share shipping shop shopping show sign sitemap site sites size skip social
  sold solutions speakers special specials spanish sponsor sponsors staff standards start state status step stay stop store stores stories story street student students submit subscribe suggestions suite summer sunday support survey team technical tel telephone term terms testimonials thank thanks the
  this thursday ticket tickets time times tips title to today toggle toll tools top topics tour tours training transportation travel trademark trademarks tuesday tweet tweets twitter type up upcoming update updated updates upload us use useful user username using vacation value venue video videos view visit visiting visitor visitors
  volunteer volunteers warranty was we web weather website wednesday week weekly welcome what when where who wholesale why will winter wireless wishlist with work workshop workshops world year years yelp yes you your youtube zip zipcode
  january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun am pm
  nosotros noticias eventos servicios buscar ayuda mapa politica privacidad terminos condiciones derechos reservados horario horarios telefono correo direccion bienvenidos quienes somos equipo sitio enlaces lunes martes miercoles jueves viernes sabado domingo
`);

/** Words that begin a label or a sentence before a name, folded. */
export const LEADS = wordSet('contact about visit welcome to at in from by copyright our your call email meet follow join support home see and or with for on of via please dear thank thanks is if when where while since as but so this that these those it we you he she they his her their my its all any each every no not also both either after before during until because although however today now here there who what which how why contacte visite bienvenidos sobre designed powered hosted developed website site view all map read more click go back next previous proudly');

/** Words of streets, in English and Spanish, folded without points. */
export const STREET_WORDS = wordSet('street st avenue ave av road rd boulevard blvd drive dr lane ln way court ct place pl highway hwy parkway pkwy square sq terrace ter circle cir suite ste floor fl room rm box building bldg unit apt plaza route rte pike turnpike expressway freeway calle avenida carretera colonia col piso');

const STATE_NAMES = `alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii idaho illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri montana
  nebraska nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia washington wisconsin wyoming ontario quebec manitoba alberta saskatchewan canada mexico america usa us uk england scotland wales ireland germany france spain italy
  china japan korea india australia europe asia africa north south east west northern southern eastern western central new united states kingdom british columbia puerto rico hampshire jersey york carolina dakota island rhode angeles francisco chicago boston
  houston dallas denver seattle atlanta miami philadelphia phoenix detroit portland baltimore cleveland london paris toronto vancouver montreal tokyo`;
/** Words of the names of states, countries and large cities, folded. */
export const PLACE_WORDS = wordSet(STATE_NAMES);
const STATE_CODES = wordSet('AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC PR ON QC BC AB');

const STREET = /^\W{0,3}(?:\d{1,6}[a-z]?(?:-\d{1,6})?\s+(?:[nsew]\b\.?\s+)?\p{L}|p\.?\s?o\.?\s?box\b|post office box|one \p{Lu}\p{L}+ |calle |avenida |av\. )/iu;
const CITY_STATE = /\b([A-Z]{2})\.?,?\s+\d{5}(?:-\d{4})?\b/;

/** Whether a line has the address of a street or of a box, or a postal code after a state. */
export function isAddress(text: string): boolean {
  const line = text.slice(0, 200);
  if (STATE_CODES.has(CITY_STATE.exec(line)?.[1] ?? '')) return true;
  if (!STREET.test(line)) return false;
  return /^\W{0,3}(?:p\.?\s?o|post)/i.test(line) || (line.toLowerCase().match(/\p{L}+/gu) ?? []).slice(0, 12).some((word) => STREET_WORDS.has(word));
}

/** Whether a text is the abbreviation of a state. */
export function isStateCode(text: string): boolean {
  return STATE_CODES.has(text);
}
