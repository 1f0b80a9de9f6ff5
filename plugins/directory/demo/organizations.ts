import { slugOf } from '../places/names.ts';
import { entry, page, say, type Desk, type Entry, type Said } from './pages.ts';
import { KINDS, type Kind } from './kinds.ts';
import { COUNTY, SEAT, TOWNS, VALLEY, type Town } from './region.ts';

export interface Organization {
  entry: Entry;
  kind: Kind;
  town: Town;
  /** The address of its site, without a slash at the end. */
  site: string;
  host: string;
  address: string;
}

const BODY = { city: 'City Council', town: 'Town Council', village: 'Village Board' } as const;

/** Everybody who has an office in the region: public bodies, unions, pantries, papers. */
export function writeOrganizations(desk: Desk): Organization[] {
  return KINDS.flatMap((kind) => townsOf(desk, kind).map((town, index) => writeOrganization(desk, kind, town, index)));
}

function townsOf({ random }: Desk, { where: [seat, towns, villages] }: Kind): Town[] {
  const of = (size: Town['kind'], count: number) => random.shuffled(TOWNS.filter(({ kind }) => kind === size)).slice(0, count);
  return [...(seat ? [SEAT] : []), ...of('town', towns), ...of('village', villages)];
}

export function fill(text: string, values: Record<string, string>): string {
  return text.replace(/\{(\w+)\}/g, (_match, name: string) => values[name]!);
}

/** Capital at the start: names such as "the Ledger" come in the middle of sentences too. */
function sentence(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1);
}

function writeOrganization(desk: Desk, kind: Kind, town: Town, index: number): Organization {
  const { random } = desk;
  const name = fill(kind.names[index % kind.names.length]!, { place: town.name, county: COUNTY, body: BODY[town.kind] });
  const who = entry(desk, 'organization', `organization/${kind.key}/${slugOf(town.name)}`, name);
  const townHost = `${town.domain}.example`;
  const host = kind.site === 'public' ? townHost : `${slugOf(name).replaceAll('-', '')}.example`;
  const site = kind.site === 'public' ? `https://www.${townHost}/${kind.key}` : `https://www.${host}`;
  const address = kind.key === 'council' ? `${town.hall}, ${town.name}` : `${random.between(1, 180)} ${random.pick(town.streets)}, ${town.name}`;
  const made: Organization = { entry: who, kind, town, site, host, address };
  writeAbout(desk, made);
  writeContact(desk, made);
  if (kind.site === 'own') writeRegistry(desk, made);
  for (const text of random.shuffled(kind.news)) writeNews(desk, made, text);
  if (random.chance(0.55)) writeReport(desk, made);
  return made;
}

function writeAbout(desk: Desk, { entry: who, kind, town, site, host }: Organization): void {
  const about = page(desk, { url: `${site}/about`, title: `About: ${who.name}`, publication: kind.site === 'public' ? townSite(town) : who.name, kind: 'org_website', read: who.age });
  const text = sentence(fill(desk.random.pick(kind.about), { name: who.name, place: town.name, county: COUNTY }));
  say(desk, about, who, text, [['name', who.name], ['description', text]]);
  if (kind.key === 'council') say(desk, about, who, `${town.name} is known for ${town.known}.`, []);
  const where = kind.wide ? desk.random.shuffled(TOWNS.filter(({ kind: size, name }) => size !== 'village' && name !== town.name)).slice(0, desk.random.between(1, 3)) : [];
  const places = [town, ...where];
  say(desk, about, who, `You find us in ${placeList(places)}.`, places.map(({ place_key }): Said => ['place', place_key]));
  for (const area of kind.areas) say(desk, about, who, `We work on ${area.replaceAll('_', ' ')}.`, [['issue_area', area]], { confidence: 0.7 });
  say(desk, about, who, `Our identifier in the demonstration register is ${who.key}.`, [['identifier', { scheme: 'demo', value: who.key }]]);
  say(desk, about, who, `Copyright ${who.name}, www.${host}.`, [['website', site]]);
}

function placeList(places: Town[]): string {
  const names = places.map(({ name }) => name);
  return names.length === 1 ? names[0]! : `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`;
}

function writeContact(desk: Desk, { entry: who, kind, town, site, host, address }: Organization): void {
  const { random } = desk;
  const contact = page(desk, { url: `${site}/contact`, title: `Contact: ${who.name}`, publication: kind.site === 'public' ? townSite(town) : who.name, kind: 'org_website', read: Math.max(1, who.age - random.between(0, 20)) });
  const phone = phoneOf(desk);
  const mail = kind.site === 'public' ? `${kind.key}@${host}` : `hello@${host}`;
  say(desk, contact, who, `Visit us at ${address}, call ${inWords(phone)} or write to ${mail}.`, [['phone', phone], ['email', mail], ['place', town.place_key]]);
  if (random.chance(0.4)) {
    const url = `https://social.example/@${slugOf(who.name).replaceAll('-', '_')}`;
    say(desk, contact, who, `Follow us at ${url}.`, [['social', { network: 'mastodon', url }]]);
  }
  if (random.chance(0.12)) writeOldPhone(desk, who, town);
}

/** A number that was right once stays, with its source, marked as wrong. */
function writeOldPhone(desk: Desk, who: Entry, town: Town): void {
  const old = phoneOf(desk);
  const guide = page(desk, { url: `https://guide.${town.domain}.example/listings/${slugOf(who.name)}`, title: `${who.name} in the guide to ${town.name}`, publication: `${town.name} Guide`, kind: 'other', published: 1_200, read: 900 });
  say(desk, guide, who, `${who.name}: telephone ${inWords(old)}.`, [['phone', old]], { rank: 'deprecated', confidence: 0.5 });
}

function writeRegistry(desk: Desk, { entry: who, town }: Organization): void {
  const number = String(desk.random.between(1_000_000, 9_999_999));
  // No employer identification number begins with 00.
  const ein = `00-${number}`;
  const record = page(desk, { url: `https://registry.anselcounty.example/nonprofits/${number}`, title: `Registered organization ${ein}`, publication: `${COUNTY} Register`, kind: 'government_record', method: 'import', published: who.age + 40, read: who.age });
  say(desk, record, who, `${ein}, ${who.name}, ${town.name}, status: active.`, [['name', who.name], ['identifier', { scheme: 'ein', value: ein }], ['place', town.place_key], ['status', 'active']]);
}

function writeNews(desk: Desk, { entry: who, kind, town }: Organization, template: string): void {
  const { random } = desk;
  const paper = random.pick(PAPERS);
  const published = who.age + random.between(3, 60);
  const text = sentence(fill(template, { name: who.name, place: town.name, county: COUNTY }));
  const article = page(desk, { url: `https://www.${paper.host}/${yearOf(desk, published)}/${slugOf(text.slice(0, 60))}-${random.between(100, 999)}`, title: text.replace(/\.$/, ''), publication: paper.name, kind: 'news_article', method: 'manual', published, read: who.age });
  say(desk, article, who, text, [['name', who.name], ['place', town.place_key], ['issue_area', random.pick(kind.areas)]]);
}

function writeReport(desk: Desk, { entry: who, kind, town, site }: Organization): void {
  const year = yearOf(desk, who.age) - 1;
  const people = desk.random.between(4, 60) * 10;
  const report = page(desk, { url: `${site}/reports/${year}.pdf`, title: `Annual report ${year}, ${who.name}`, publication: who.name, kind: 'report', method: 'model', published: who.age + 90, read: who.age });
  say(desk, report, who, `In ${year} ${who.name} reached ${people} people in ${town.name}.`, [['name', who.name], ['place', town.place_key], ['issue_area', kind.areas[0]!]]);
}

export const PAPERS = [
  { name: `${VALLEY} Ledger`, host: 'kestrelvalleyledger.example' },
  { name: 'The Quarry Signal', host: 'quarrysignal.example' },
  { name: 'WKVR Valley Radio', host: 'wkvr.example' },
  { name: 'Pellam Station Post', host: 'pellampost.example' },
] as const;

export function townSite(town: Town): string {
  return `${town.kind === 'city' ? 'City' : town.kind === 'town' ? 'Town' : 'Village'} of ${town.name}`;
}

export function yearOf({ now }: Desk, days: number): number {
  return new Date(now - days * 86_400_000).getUTCFullYear();
}

// 555-0100 to 555-0199 are kept for fiction in every area code; four codes make enough of them.
const AREA_CODES = ['202', '303', '404', '505'];

export function phoneOf({ random }: Desk): string {
  return `+1${random.pick(AREA_CODES)}55501${String(random.between(0, 99)).padStart(2, '0')}`;
}

function inWords(phone: string): string {
  return `(${phone.slice(2, 5)}) ${phone.slice(5, 8)}-${phone.slice(8)}`;
}
