import type { ActorType } from '../types.ts';
import { givenNames, shortForms } from './nicknames.ts';
import { stateOf, type MatchProfile } from './profile.ts';
import { createRandom, type Random } from '../random.ts';
import { mistyped, organizationVariant, personVariant } from './variants.ts';

/** A record of the synthetic set; two of one `entity` are one actor. */
export interface Labelled {
  entity: number;
  profile: MatchProfile;
}

export interface NamePair {
  left: string;
  right: string;
  type: ActorType;
  isMatch: boolean;
}

interface Person { kind: 'person'; given: string; middle: string; family: string; place: string; mail: string; site: string; number: number }
interface Organization { kind: 'organization'; name: string; place: string; domain: string; path: string; ein: string }
type Entity = (Person | Organization) & { phone: string; issues: string[] };

const ISSUES = ['housing', 'transit', 'water', 'schools', 'voting', 'jobs', 'policing', 'parks'];
const START = ['Ab', 'Bar', 'Cal', 'Dor', 'El', 'Fen', 'Gar', 'Hol', 'Ing', 'Jar', 'Kel', 'Lan', 'Mor', 'Nor', 'Os', 'Pel', 'Quin', 'Ros', 'Sal', 'Tor', 'Ul', 'Ven', 'Wal', 'Yar', 'Zim'];
const END = ['ber', 'bury', 'by', 'dale', 'den', 'ditch', 'ferd', 'field', 'gate', 'ham', 'ik', 'kins', 'ley', 'low', 'man', 'mere', 'ner', 'owski', 'rell', 'sen', 'shaw', 'stein', 'ton', 'vale', 'wick', 'worth'];
/** Some names of cities are in every state, most in one. */
const PLACES = ['missouri', 'kansas', 'illinois', 'iowa'].flatMap((state, at) => [
  'riverton', 'oakdale', 'fairview', 'springdale',
  ...START.flatMap((start, index) => [0, 1].map((more) => `${start}${END[(index * 7 + at * 2 + more) % END.length]}`.toLowerCase())),
].map((city) => `${city},${state}`));
const SURNAMES = ['Smith', 'Johnson', 'Garcia', 'Lee', 'Nguyen', 'Brown', 'Davis', 'Martinez', 'Miller', 'Jones'];
const KINDS = ['Tenants Union', 'Community Development Corporation', 'Neighborhood Association', 'Food Pantry', 'Housing Coalition', 'Historical Society', 'Land Trust', 'Legal Aid Society',
  'Public Library', 'Chamber of Commerce', 'Youth Center', 'Health Center', 'School District', 'Fire Department', 'Garden Club', 'Education Foundation', 'Workers Center', 'Arts Council'];
const DEPARTMENTS = ['Department of Public Health', 'Department of Public Works', 'Police Department', 'Planning Commission', 'Parks and Recreation Department', 'Board of Elections'];
const BODIES = ['Service Employees Union', 'Teachers Federation', 'Carpenters Brotherhood', 'Veterans Post', 'Scout Troop', 'Neighborhood Ward Council'];

const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1);
const slug = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '');
const city = (place: string): string => capital(place.split(',')[0]!);
const surname = (random: Random): string => (random.chance(0.2) ? random.pick(SURNAMES) : random.pick(START) + random.pick(END));
const phone = (random: Random): string => `${random.between(3, 8)}1${random.between(2, 9)}-${random.between(220, 989)}-${random.between(1000, 9999)}`;
const issues = (random: Random): string[] => [...new Set([random.pick(ISSUES), random.pick(ISSUES)])];

function person(random: Random): Entity {
  const [given, family] = [capital(random.pick(givenNames)), surname(random)];
  return { kind: 'person', given, middle: random.chance(0.5) ? random.pick([...'ABCDEFGHJKLMRSTW']) : '', family, place: random.pick(PLACES), mail: mailOf(given, family, random), site: siteOf(given, family, random), number: random.between(10_000, 99_999), phone: phone(random), issues: issues(random) };
}

function mailOf(given: string, family: string, random: Random): string {
  return `${slug(given)}.${slug(family)}${random.chance(0.3) ? random.between(1, 99) : ''}@${random.pick(['gmail.com', 'yahoo.com', 'house.example.gov', 'council.example.gov', `${slug(family)}.example.org`])}`;
}

function siteOf(given: string, family: string, random: Random): string {
  const [own, number] = [`${slug(given)}${slug(family)}`, random.between(1, 400)];
  return random.pick([`${own}${number}.org`, `facebook.com/${own}${number}`, `house.example.gov/members/${number}`, 'council.example.gov']);
}

function organization(random: Random): Entity {
  const place = random.pick(PLACES);
  const head = random.chance(0.4) ? city(place) : random.chance(0.5) ? surname(random) : `${surname(random)} ${random.pick(['Hills', 'Park', 'Heights', 'Street', 'Valley'])}`;
  const kind = random.pick(KINDS);
  const name = random.chance(0.15) ? `${kind} of ${head}` : `${head} ${kind}`;
  return { kind: 'organization', name, place, domain: domainOf(name, place), path: '', ein: ein(random), phone: phone(random), issues: issues(random) };
}

const domainOf = (name: string, place: string): string => `${slug(name)}-${slug(place)}.org`;
const ein = (random: Random): string => `${random.between(10, 98)}-${random.between(1_000_000, 9_999_999)}`;

/** Others that are easily taken for it: relatives, branches, departments under one roof, friends of it. */
function lookalikes(entity: Entity, random: Random): Entity[] {
  if (entity.kind === 'person') {
    const relative = { ...person(random), family: entity.family, place: entity.place } as Entity & Person;
    const namesake = { ...person(random), given: entity.given, middle: '', family: entity.family } as Entity & Person;
    const colleague = { ...person(random), place: entity.place, phone: entity.phone } as Entity;
    relative.mail = mailOf(relative.given, relative.family, random);
    namesake.mail = `${namesake.mail.split('@')[0]}${random.between(100, 999)}@gmail.com`;
    return [relative, colleague, ...(random.chance(0.15) && entity.place !== namesake.place ? [namesake] : [])];
  }
  const other = (name: string, more: Partial<Organization & { phone: string }> = {}): Entity =>
    ({ ...entity, name, domain: domainOf(name, more.place ?? entity.place), path: '', ein: ein(random), phone: phone(random), issues: issues(random), ...more });
  const shared = { domain: entity.domain, phone: random.chance(0.5) ? entity.phone : phone(random) };
  const body = `${city(entity.place)} ${random.pick(BODIES)}`;
  const [one, two] = [random.between(1, 40), random.between(41, 99)];
  return random.pick([
    () => [other(`Friends of ${entity.name}`, random.chance(0.5) ? { ...shared, path: '/friends' } : {})],
    () => [other(`${entity.name} Foundation`, { ...shared, path: '/foundation' })],
    () => [other(`${body} Local ${one}`, { domain: `${slug(body)}.org` }), other(`${body} Local ${two}`, { domain: `${slug(body)}.org` })],
    () => DEPARTMENTS.slice(0, 3).map((part) => other(`City of ${city(entity.place)} ${part}`, { domain: `${slug(entity.place)}.gov`, path: `/${slug(part)}`, phone: entity.phone })),
    () => { const place = random.pick(PLACES); return place === entity.place || !entity.name.includes(city(entity.place)) ? [] : [other(entity.name.replace(city(entity.place), city(place)), { place })]; },
  ])();
}

/** One way to write an entity down, with the faults records have. */
function record(entity: Entity, random: Random): MatchProfile {
  const has = (share: number) => random.chance(share);
  const moved = has(0.03) ? random.pick(PLACES) : entity.place;
  const places = has(0.9) ? [moved] : [];
  const site = entity.kind === 'person' ? `https://${entity.site}` : `https://${has(0.5) ? 'www.' : ''}${entity.domain}${has(0.85) ? entity.path : ''}${has(0.3) ? '/' : ''}`;
  const mail = entity.kind === 'person' ? entity.mail : `${has(0.8) ? 'info' : 'office'}@${entity.domain}`;
  return {
    type: entity.kind,
    names: [has(0.35) ? nameOf(entity) : variant(entity, random)],
    places,
    states: places.map(stateOf),
    websites: has(entity.kind === 'person' ? 0.3 : 0.65) ? [site] : [],
    emails: has(entity.kind === 'person' ? 0.75 : 0.5) ? [has(0.03) ? mistyped(mail, random) : mail] : [],
    phones: has(0.6) ? [has(0.08) ? phone(random) : entity.phone] : [],
    identifiers: has(0.25) ? [entity.kind === 'person' ? { scheme: 'votesmart', value: String(entity.number) } : { scheme: 'ein', value: entity.ein }] : [],
    issue_areas: has(0.7) ? (has(0.7) ? entity.issues : issues(random)) : [],
    dates: [],
  };
}

const nameOf = (entity: Entity): string => (entity.kind === 'person' ? [entity.given, entity.middle && `${entity.middle}.`, entity.family].filter(Boolean).join(' ') : entity.name);

function variant(entity: Entity, random: Random): string {
  return entity.kind === 'person' ? personVariant(entity, shortForms(entity.given.toLowerCase()).map(capital), random) : organizationVariant(entity.name, random);
}

function entities(count: number, random: Random): Entity[][] {
  return Array.from({ length: count }, () => {
    const entity = random.chance(0.5) ? person(random) : organization(random);
    return [entity, ...(random.chance(0.5) ? lookalikes(entity, random) : [])];
  });
}

/** Actors with their duplicates, and others that only look like them. */
export function syntheticRecords(seed: number, count: number): Labelled[] {
  const random = createRandom(seed);
  // Two bodies of one name in one place would be one to anybody.
  const known = new Set<string>();
  const distinct = entities(count, random).flat().filter((entity) => {
    const key = `${nameOf(entity).replace(' of ', ' ').split(' ').sort().join(' ')} ${entity.place}`;
    return !known.has(key) && known.add(key);
  });
  return distinct.flatMap((entity, number) =>
    Array.from({ length: random.pick([1, 1, 2, 2, 3]) }, () => ({ entity: number, profile: record(entity, random) })));
}

/** Pairs of names and nothing else: variants of one, and names that only look like it. */
export function syntheticNames(seed: number, count: number): NamePair[] {
  const random = createRandom(seed);
  return entities(count, random).flatMap(([entity, ...others]): NamePair[] => {
    const pairOf = (right: string, isMatch: boolean): NamePair => ({ left: nameOf(entity!), right, type: entity!.kind, isMatch });
    const stranger = random.chance(0.5) ? person(random) : organization(random);
    return [
      pairOf(variant(entity!, random), true),
      ...others.filter((other) => nameOf(other) !== nameOf(entity!) && isOther(entity!, other)).map((other) => pairOf(random.chance(0.5) ? variant(other, random) : nameOf(other), false)),
      ...(stranger.kind === entity!.kind && isOther(entity!, stranger) ? [pairOf(nameOf(stranger), false)] : []),
    ];
  });
}

/** A namesake has the same name: there is nothing to tell apart. */
function isOther(entity: Entity, other: Entity): boolean {
  return entity.kind !== 'person' || other.kind !== 'person' || entity.given !== other.given || entity.family !== other.family;
}
