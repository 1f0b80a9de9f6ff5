import { slugOf } from '../places/names.ts';
import { before, dayInWords, entry, page, say, type Desk, type Entry } from './pages.ts';
import { peopleNames, surnameOf } from './names.ts';
import { fill, PAPERS, phoneOf, townSite, yearOf, type Organization } from './organizations.ts';

export interface Person {
  entry: Entry;
  role: string;
  of: Organization;
}

const SEATS = { city: 9, town: 7, village: 5 } as const;

/** Who sits on the councils and school boards, and who runs the rest. */
export function writePeople(desk: Desk, organizations: Organization[]): Person[] {
  const newName = peopleNames(desk.random);
  const people: Person[] = [];
  for (const of of organizations) {
    if (of.kind.key === 'council') {
      for (let seat = 1; seat <= SEATS[of.town.kind]; seat++) people.push(writeMember(desk, of, newName(), seat === 1 ? 'Mayor' : `Council Member, Seat ${seat}`));
    } else {
      if (of.kind.key === 'schools') for (let seat = 1; seat <= 5; seat++) people.push(writeMember(desk, of, newName(), `School Board Member, District ${seat}`));
      if (desk.random.chance(0.72)) people.push(writeLead(desk, of, newName()));
    }
  }
  return people;
}

function person(desk: Desk, of: Organization, name: string, role: string): Entry {
  const who = entry(desk, 'person', `person/${slugOf(name)}`, name);
  // A body's people are looked after together with it.
  who.age = desk.random.chance(0.7) ? of.entry.age : who.age;
  const profile = page(desk, { url: `${of.site}/people/${slugOf(name)}`, title: `${name}, ${role}`, publication: of.kind.site === 'public' ? townSite(of.town) : of.entry.name, kind: 'org_website', read: who.age });
  say(desk, profile, who, `${name}, ${role}, ${of.entry.name}.`, [['name', name], ['place', of.town.place_key]]);
  say(desk, profile, who, `In the demonstration register this is ${who.key}.`, [['identifier', { scheme: 'demo', value: who.key }]]);
  return who;
}

/** Somebody who was elected, with the dates of the term. */
function writeMember(desk: Desk, of: Organization, name: string, role: string): Person {
  const { random } = desk;
  const who = person(desk, of, name, role);
  const year = new Date(desk.now).getUTCFullYear();
  const start = year - random.between(0, 3);
  const [since, until] = [`${start}-01-01`, `${start + 3}-12-31`];
  const roster = page(desk, { url: `${of.site}/members`, title: `Members: ${of.entry.name}`, publication: townSite(of.town), kind: 'government_record', method: 'structured', read: of.entry.age });
  say(desk, roster, who, `${name}, ${role}, term ${since} to ${until}.`, [['name', name], ['affiliation', { entity_id: of.entry.id, name: of.entry.name, role, since, until }]], { expires_at: `${until}T23:59:59.000Z` });
  const mail = `${slugOf(name).replaceAll('-', '.')}@${of.host}`;
  if (random.chance(0.8)) say(desk, roster, who, `Mail for ${name}: ${mail}.`, [['email', mail]]);
  const area = random.pick(random.chance(0.6) ? of.kind.areas : MINDED);
  const days = who.age + random.between(2, 50);
  const paper = random.pick(PAPERS);
  const text = fill(random.pick(VOTES), { name, role: role.split(',')[0]!.toLowerCase(), surname: surnameOf(name), place: of.town.name, day: dayInWords(before(desk, days, 12)) });
  const article = page(desk, { url: `https://www.${paper.host}/${yearOf(desk, days)}/${slugOf(name)}-${random.between(100, 999)}`, title: `${name}: ${area.replaceAll('_', ' ')}`, publication: paper.name, kind: 'news_article', method: 'manual', published: days, read: who.age });
  say(desk, article, who, text, [['name', name], ['issue_area', area]]);
  return { entry: who, role, of };
}

function writeLead(desk: Desk, of: Organization, name: string): Person {
  const { random } = desk;
  const role = of.kind.lead;
  const who = person(desk, of, name, role);
  const since = `${new Date(desk.now).getUTCFullYear() - random.between(1, 11)}`;
  const staff = page(desk, { url: `${of.site}/staff`, title: `Staff: ${of.entry.name}`, publication: of.entry.name, kind: 'org_website', read: of.entry.age });
  say(desk, staff, who, `${name} has been ${role.toLowerCase()} of ${of.entry.name} since ${since}.`, [['affiliation', { entity_id: of.entry.id, name: of.entry.name, role, since, until: null }], ['issue_area', of.kind.areas[0]!]]);
  if (random.chance(0.5)) {
    const [mail, phone] = [`${slugOf(name).split('-')[0]!}@${of.host}`, phoneOf(desk)];
    say(desk, staff, who, `${name}: ${mail}, ${phone}.`, [['email', mail], ['phone', phone]]);
  }
  if (random.chance(0.45)) writeInterview(desk, who, of, role);
  return { entry: who, role, of };
}

function writeInterview(desk: Desk, who: Entry, of: Organization, role: string): void {
  const { random } = desk;
  const days = who.age + random.between(5, 90);
  const talk = page(desk, { url: `https://www.wkvr.example/talks/${slugOf(who.name)}`, title: `A cup of coffee with ${who.name}`, publication: 'WKVR Valley Radio', kind: 'podcast', method: 'model', published: days, read: who.age });
  const text = `Our guest is ${who.name}, ${role.toLowerCase()} of ${of.entry.name}.`;
  say(desk, talk, who, text, [['name', who.name], ['description', `${role} of ${of.entry.name}.`]]);
}

// What members of councils speak up for besides their committee.
const MINDED = ['housing_affordability', 'public_transit', 'water_infrastructure', 'policing_and_community_safety', 'broadband_and_digital_access', 'physical_infrastructure_decay'];

const VOTES = [
  '“Show me the number,” said {role} {name} before the vote on {day}.',
  '{name} was the only one to vote no, and took ten minutes to say why.',
  'On {day} {name} asked for a second reading of the ordinance.',
  '“We promised this street in {place} twice,” {name} said.',
  '{name} moved to open the books to the public; the motion carried.',
  'Residents thanked {name} for answering letters by hand.',
  '{name} said that the plan helps those who have a car and nobody else.',
  'Asked whether the fee will rise again, {name} said: “Not while I sit here.”',
];
