import { Failure } from 'civic';
import type { ActorType } from '../types.ts';
import { evidenceOf, otherNames, readEvidence } from './evidence.ts';
import type { ExportedActor, Format, ReadContext, Row, WriteContext } from './format.ts';
import type { TextFile } from './file.ts';
import { jsonItems, parseItem, type JsonItem } from './json.ts';
import { actorIdOf, asList, cleanText, dayOf, handleOf, originOf, rowsOrFault, startRow, townOf, type RowBuilder } from './row.ts';
import { eventTimeOf } from './time.ts';

/** What is read of a Popolo document; all of it may be missing or wrong. */
interface Thing {
  id?: string;
  name?: string;
  summary?: string;
  biography?: string;
  description?: string;
  classification?: string;
  email?: string;
  url?: string;
  dissolution_date?: string;
  death_date?: string;
  start_date?: string;
  end_date?: string;
  location?: string;
  status?: string;
  area?: Area;
  area_id?: string;
  areas?: Area[];
  issue_areas?: string[];
  other_names?: { name?: string }[];
  identifiers?: { scheme?: string; identifier?: string }[];
  contact_details?: { type?: string; label?: string; value?: string }[];
  links?: { url?: string; note?: string }[];
  sources?: { url?: string; note?: string }[];
  memberships?: Membership[];
  parent_id?: string;
  parent?: { id?: string; name?: string };
  claims?: unknown;
}

interface Membership {
  id?: string;
  role?: string;
  label?: string;
  person_id?: string;
  member_id?: string;
  organization_id?: string;
  organization?: { id?: string; name?: string };
  start_date?: string;
  end_date?: string;
  sources?: Thing['sources'];
}

interface Area {
  id?: string;
  name?: string;
  classification?: string;
}

const SECTIONS = ['areas', 'organizations', 'persons', 'events', 'memberships', 'posts', 'motions', 'vote_events'];
const TYPES = new Map<string, ActorType>([['persons', 'person'], ['organizations', 'organization'], ['events', 'event']]);
const CLASSIFIED = new Map<string, ActorType>([['initiative', 'initiative'], ['campaign', 'campaign']]);

export const popolo: Format = {
  name: 'popolo',
  summary: 'Popolo JSON: persons, organizations, memberships, events',
  type: 'application/json',
  extension: '.json',
  reads,
  writes,
};

/** Names and first sources by id, so that memberships can say who, where and by whom; all that is kept of a file while it is read. */
interface Names {
  areas: Map<string, string>;
  actors: Map<string, { name: string; type: ActorType; source: string | undefined }>;
}

async function* reads(file: TextFile, context: ReadContext): AsyncIterable<Row> {
  const names: Names = { areas: new Map(), actors: new Map() };
  let known = 0;
  for await (const item of jsonItems(file.text(), SECTIONS)) {
    if (item.section !== null) known++;
    else if (known === 0 && isDocument(item)) throw new Failure(`This is not a Popolo document: it has none of the lists ${SECTIONS.slice(0, 5).join(', ')}`);
    yield* rowsOrFault(item.number, item.text, rowsOf(item, names, context));
  }
}

function isDocument({ text }: JsonItem): boolean {
  const parsed = parseItem(text);
  return !('value' in parsed && 'name' in parsed.value);
}

async function* rowsOf({ number, section, text }: JsonItem, names: Names, context: ReadContext): AsyncIterable<Row> {
  const parsed = parseItem(text);
  if ('fault' in parsed) return yield { number, raw: text, fault: parsed.fault };
  const thing = parsed.value as Thing & Membership;
  if (section === 'areas') {
    if (thing.id && thing.name) names.areas.set(thing.id, thing.name);
  } else if (section === 'memberships') yield membershipRow(number, thing, names, context);
  else {
    const type = section === null ? typeOfLone(thing) : TYPES.get(section);
    if (type) yield await thingRow(number, thing, type, names, context);
  }
}

/** Things of a plain list have no section to say what they are. */
function typeOfLone(thing: Thing): ActorType | undefined {
  if (!thing.name) return undefined;
  if (thing.start_date && thing.location) return 'event';
  return 'given_name' in thing || 'family_name' in thing || 'birth_date' in thing || 'memberships' in thing ? 'person' : 'organization';
}

async function thingRow(number: number, thing: Thing, sectionType: ActorType, names: Names, context: ReadContext): Promise<Row> {
  const type = (sectionType === 'organization' && CLASSIFIED.get(thing.classification ?? '')) || sectionType;
  const id = cleanText(thing.id);
  const origin = id ? originFor(id, context) : null;
  const row = startRow({ number, raw: thing, type, sources: sourcesOf(thing), evidence: readEvidence(thing.claims), ...(origin ? { origin, id: actorIdOf(origin, id!) } : {}) }, context);
  const name = cleanText(thing.name);
  if (id && name) names.actors.set(id, { name, type, source: sourcesOf(thing)[0]?.url });
  row.say('name', name, asList(thing.other_names).length > 0 ? { rank: 'preferred' } : {});
  for (const other of asList(thing.other_names)) row.say('name', other?.name, { rank: 'normal' });
  row.say('description', thing.summary ?? thing.biography ?? thing.description);
  sayContacts(row, thing);
  for (const { scheme, identifier } of asList(thing.identifiers)) if (scheme && identifier) row.say('identifier', { scheme, value: String(identifier) });
  await sayPlaces(row, thing, names);
  for (const slug of asList(thing.issue_areas)) if (context.hasIssueArea(slug)) row.say('issue_area', slug);
  for (const membership of asList(thing.memberships)) sayMembership(row, membership, names, context);
  const parent = cleanText(thing.parent?.id ?? thing.parent_id);
  if (parent) sayMembership(row, { organization_id: parent, organization: thing.parent, role: 'part of' }, names, context);
  if (type === 'event') {
    row.say('event_start', eventTimeOf(thing.start_date, context.timezone));
    row.say('event_end', eventTimeOf(thing.end_date, context.timezone));
    row.say('event_location', thing.location);
    if (/cancel/i.test(thing.status ?? '')) row.say('status', 'inactive');
  }
  if (isPast(thing.dissolution_date ?? thing.death_date, context) || thing.status === 'inactive') row.say('status', 'inactive');
  return row.row();
}

function sayContacts(row: RowBuilder, { email, url, links, contact_details: details }: Thing): void {
  row.say('email', email);
  if (url) row.sayWebsite(url);
  for (const { type, value } of asList(details)) {
    const kind = type?.toLowerCase() ?? '';
    if (kind === 'email') row.say('email', value);
    else if (['phone', 'voice', 'cell', 'telephone'].includes(kind)) row.say('phone', value);
    else if (['url', 'website'].includes(kind)) row.sayWebsite(value);
    else {
      const social = handleOf(kind, value);
      if (social) row.say('social', social);
    }
  }
  for (const { url: link } of asList(links)) row.sayWebsite(link);
}

async function sayPlaces(row: RowBuilder, thing: Thing, names: Names): Promise<void> {
  const areas = [thing.area, ...asList(thing.areas)].filter((area) => area !== undefined && area !== null);
  for (const area of areas) await row.sayPlace(area.classification === 'place' ? area.id : area.name ?? area.id);
  if (thing.area_id && areas.length === 0) await row.sayPlace(names.areas.get(thing.area_id));
  if (areas.length > 0 || thing.area_id) return;
  const address = asList(thing.contact_details).find((detail) => detail.type === 'address')?.value;
  await row.sayPlace(townOf(address));
}

function sayMembership(row: RowBuilder, membership: Membership, names: Names, context: ReadContext): void {
  const id = cleanText(membership.organization_id ?? membership.organization?.id);
  const name = cleanText(membership.organization?.name) ?? (id ? names.actors.get(id)?.name : null) ?? null;
  if (!name) return id ? row.note(`the organization ${id} of a membership is not in the file before it`) : undefined;
  row.say('affiliation', {
    entity_id: id ? actorIdOf(originFor(id, context), id) : null,
    name,
    role: cleanText(membership.role) ?? cleanText(membership.label),
    since: dayOf(membership.start_date),
    until: dayOf(membership.end_date),
  });
}

function membershipRow(number: number, membership: Membership, names: Names, context: ReadContext): Row {
  const id = cleanText(membership.person_id ?? membership.member_id);
  const who = id ? names.actors.get(id) : undefined;
  if (!id || !who) return { number, raw: membership, fault: `the member ${id ?? ''} is not in the file before this membership` };
  const origin = originFor(id, context);
  const own = sourcesOf(membership);
  const sources = own.length > 0 || !who.source ? own : [{ url: who.source }];
  const row = startRow({ number, raw: membership, type: who.type, origin, id: actorIdOf(origin, id), sources }, context);
  row.say('name', who.name);
  sayMembership(row, membership, names, context);
  return row.row();
}

function originFor(id: string, context: ReadContext): string {
  return id.startsWith('ocd-') ? id : originOf('popolo', id, context.source);
}

function sourcesOf({ sources, links }: Pick<Thing, 'sources' | 'links'>): { url: string; title?: string | null }[] {
  const named = asList(sources).length > 0 ? sources : links;
  return asList(named).flatMap(({ url, note }) => (url ? [{ url, title: cleanText(note) }] : []));
}

function isPast(date: string | undefined, { now }: ReadContext): boolean {
  const day = dayOf(date);
  return day !== null && day < now.slice(0, day.length);
}

async function* writes({ actors }: WriteContext): AsyncIterable<string> {
  const sections: [string, (type: ActorType) => boolean][] = [
    ['organizations', (type) => type !== 'person' && type !== 'event'],
    ['persons', (type) => type === 'person'],
    ['events', (type) => type === 'event'],
  ];
  yield '{';
  for (const [at, [section, belongs]] of sections.entries()) {
    yield `"${section}": [`;
    let last: string | null = null;
    for await (const exported of actors()) {
      if (!belongs(exported.actor.type)) continue;
      if (last !== null) yield `${last},`;
      last = JSON.stringify(thingOf(exported));
    }
    if (last !== null) yield last;
    yield at < sections.length - 1 ? '],' : ']';
  }
  yield '}';
}

function thingOf({ actor }: ExportedActor): Record<string, unknown> {
  const { contact } = actor;
  return {
    id: actor.id,
    name: actor.name,
    other_names: otherNames(actor).map((name) => ({ name })),
    ...(actor.type === 'person' ? { summary: actor.description } : { description: actor.description }),
    ...(actor.type === 'person' || actor.type === 'event' ? {} : { classification: actor.type }),
    ...(actor.type === 'event' ? { start_date: actor.event?.start, end_date: actor.event?.end, location: actor.event?.location } : {}),
    email: contact.email,
    status: actor.status,
    contact_details: [
      ...(contact.phone ? [{ type: 'phone', value: contact.phone }] : []),
      ...contact.social.map(({ network, url }) => ({ type: network, value: url })),
    ],
    links: contact.website ? [{ url: contact.website }] : [],
    identifiers: actor.identifiers.map(({ scheme, value }) => ({ scheme, identifier: value })),
    areas: actor.places.map((place) => ({ id: place.place_key, name: place.name, classification: 'place' })),
    issue_areas: actor.issue_areas,
    memberships: actor.affiliations.map(({ entity_id, name, role, since, until }) => ({
      role, start_date: since, end_date: until, organization: { id: entity_id, name }, ...(entity_id ? { organization_id: entity_id } : {}),
    })),
    sources: actor.sources.map(({ url, title }) => ({ url, note: title })),
    claims: evidenceOf(actor),
  };
}
