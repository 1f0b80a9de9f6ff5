import { Failure } from 'civic';
import { createHash } from 'node:crypto';
import { PROPERTIES, type ActorDetail, type ActorType, type Property } from '../types.ts';
import { otherNames } from './evidence.ts';
import type { Format, ReadContext, Row, WriteContext } from './format.ts';
import type { TextFile } from './file.ts';
import { jsonItems, parseField, parseItem } from './json.ts';
import { actorIdOf, asList, cleanText, httpUrl, originOf, rowsOrFault, startRow, type EvidenceClaim, type RowBuilder } from './row.ts';

/** What is read of an organization, program, contact or service; all of it may be missing or wrong. */
interface Thing {
  id?: string;
  organization_id?: string;
  name?: string;
  alternate_name?: string;
  description?: string;
  email?: string;
  website?: string;
  uri?: string;
  url?: string;
  title?: string;
  tax_id?: string;
  status?: string;
  parent_organization_id?: string;
  additional_websites?: { url?: string }[];
  phones?: { number?: string }[];
  locations?: Location[];
  service_at_locations?: { location?: Location }[];
  organization_identifiers?: { identifier_scheme?: string; identifier_type?: string; identifier?: string }[];
  attributes?: Attribute[];
  metadata?: Metadata[];
  programs?: Thing[];
  contacts?: Thing[];
  services?: Thing[];
  program?: Thing;
  organization?: Thing;
}

interface Location {
  external_identifier?: string;
  external_identifier_type?: string;
  addresses?: { city?: string; state_province?: string; country?: string }[];
}

interface Attribute {
  value?: string;
  label?: string;
  taxonomy_term?: { code?: string; name?: string };
}

/** Who said what of a field, and when: the one place of HSDS where a claim and its source fit. */
interface Metadata {
  field_name?: string;
  replacement_value?: string;
  last_action_date?: string;
  updated_by?: string;
}

const SECTIONS = ['organizations', 'organization', 'programs', 'contacts', 'services', 'contents', 'items', 'data'];
const PLACE_KEY = 'place_key';
const STATUS = 'status';

export const hsds: Format = {
  name: 'hsds',
  summary: 'Open Referral HSDS 3 JSON: organizations with programs and contacts',
  type: 'application/json',
  extension: '.json',
  holds: ['organization', 'initiative', 'person'],
  reads,
  writes,
};

/** Organizations by id, so that contacts and programs of lists of their own can name theirs and stand on its source. */
type Names = Map<string, { name: string; source: string | null }>;

async function* reads(file: TextFile, context: ReadContext): AsyncIterable<Row> {
  const names: Names = new Map();
  let known = 0;
  for await (const { number, section, text } of jsonItems(file.text(), SECTIONS)) {
    const parsed = parseItem(text);
    if ('fault' in parsed) {
      yield { number, raw: text, fault: parsed.fault };
      continue;
    }
    const thing = parsed.value as Thing;
    // What is left of the outer object: counts of pages and the like.
    if (section === null && !thing.name && (known > 0 || !thing.id)) continue;
    known++;
    yield* rowsOrFault(number, thing, rowsOf(number, section, thing, names, context));
  }
  if (known === 0) throw new Failure(`${file.path} has no HSDS organizations in it: neither a list of them nor one called organizations or contents`);
}

async function* rowsOf(number: number, section: string | null, thing: Thing, names: Names, context: ReadContext): AsyncIterable<Row> {
  if (section === 'contacts') yield await partRow(number, 'person', thing, thing.organization_id, names, context);
  else if (section === 'programs') yield await partRow(number, 'initiative', thing, thing.organization_id, names, context);
  else if (section === 'services' || thing.organization || thing.organization_id) yield* serviceRows(number, thing, names, context);
  else yield* organizationRows(number, thing, [], names, context);
}

/** A service is no actor: it says where its organization works, and on what. */
async function* serviceRows(number: number, service: Thing, names: Names, context: ReadContext): AsyncIterable<Row> {
  const name = cleanText(service.organization?.name) ?? names.get(service.organization_id ?? '')?.name;
  if (!name) return yield { number, raw: service, fault: `its organization ${service.organization_id ?? ''} is neither in it nor before it` };
  yield* organizationRows(number, { id: service.organization_id, name, ...service.organization, program: service.program }, [service], names, context);
}

async function* organizationRows(number: number, thing: Thing, services: Thing[], names: Names, context: ReadContext): AsyncIterable<Row> {
  const id = cleanText(thing.id);
  const name = cleanText(thing.name);
  if (id && name) names.set(id, { name, source: sourceOf(thing, context) });
  const all = [...services, ...asList(thing.services)];
  const row = start(number, 'organization', thing, null, context);
  sayCommon(row, thing, context);
  const ein = /^\d{2}-?\d{7}$/.test(cleanText(thing.tax_id) ?? '') ? cleanText(thing.tax_id)!.replace('-', '') : null;
  if (ein) row.say('identifier', { scheme: 'ein', value: `${ein.slice(0, 2)}-${ein.slice(2)}` });
  for (const service of all) sayIssueAreas(row, service, context);
  await sayPlaces(row, [...asList(thing.locations), ...all.flatMap((service) => asList(service.service_at_locations).map((each) => each?.location))]);
  const parent = cleanText(thing.parent_organization_id);
  if (parent && names.has(parent)) row.say('affiliation', { entity_id: idOf(parent, context), name: names.get(parent)!.name, role: 'part of', since: null, until: null });
  const made = row.row();
  yield made;
  if ('fault' in made) return;
  for (const program of [...asList(thing.programs), ...asList(thing.program)]) yield await partRow(number, 'initiative', program, id, names, context);
  for (const contact of [...asList(thing.contacts), ...all.flatMap((service) => asList(service.contacts))]) {
    if (cleanText(contact.name)) yield await partRow(number, 'person', contact, id, names, context);
  }
}

async function partRow(number: number, type: ActorType, thing: Thing, organizationId: string | null | undefined, names: Names, context: ReadContext): Promise<Row> {
  const organization = cleanText(organizationId);
  const parent = organization ? names.get(organization) : undefined;
  const row = start(number, type, thing, parent?.source ?? null, context);
  sayCommon(row, thing, context);
  if (organization && parent) row.say('affiliation', { entity_id: idOf(organization, context), name: parent.name, role: cleanText(thing.title) ?? (type === 'person' ? 'contact' : 'program'), since: null, until: null });
  await sayPlaces(row, asList(thing.locations));
  return row.row();
}

function start(number: number, type: ActorType, thing: Thing, parentSource: string | null, context: ReadContext): RowBuilder {
  const id = cleanText(thing.id);
  const evidence = asList(thing.metadata).map(evidenceOf).filter((claim) => claim !== null);
  const own = sourceOf(thing, context) ?? parentSource;
  return startRow({
    number, raw: thing, type, evidence,
    sources: own && evidence.length === 0 ? [{ url: own, kind: 'org_website' }] : [],
    ...(id ? { id: idOf(id, context), origin: originOf('hsds', id, context.source) } : {}),
  }, context);
}

/** The record's own page; its website only when nothing says where the file comes from. */
function sourceOf(thing: Thing, context: ReadContext): string | null {
  return httpUrl(thing.uri) ?? (context.source ? null : httpUrl(thing.website ?? thing.url));
}

function sayCommon(row: RowBuilder, thing: Thing, context: ReadContext): void {
  const other = cleanText(thing.alternate_name);
  row.say('name', thing.name, other ? { rank: 'preferred' } : {});
  if (other) row.say('name', other, { rank: 'normal' });
  row.say('description', thing.description);
  row.say('email', thing.email);
  row.say('website', thing.website ?? thing.url);
  for (const { url } of asList(thing.additional_websites)) row.sayWebsite(url);
  for (const { number } of asList(thing.phones)) row.say('phone', number);
  for (const { identifier_scheme: scheme, identifier_type: type, identifier } of asList(thing.organization_identifiers)) {
    const kind = cleanText(scheme) ?? cleanText(type);
    if (kind && identifier) row.say('identifier', { scheme: kind, value: identifier });
  }
  sayIssueAreas(row, thing, context);
  const inactive = asList(thing.attributes).some(({ label, value }) => label === STATUS && value === 'inactive');
  if (inactive) row.say('status', 'inactive');
}

function sayIssueAreas(row: RowBuilder, { attributes }: Thing, context: ReadContext): void {
  for (const { taxonomy_term: term } of asList(attributes)) {
    if (term?.code && context.hasIssueArea(term.code)) row.say('issue_area', term.code);
    else row.sayIssueAreas(term?.name, { confidence: 0.6 });
  }
}

async function sayPlaces(row: RowBuilder, locations: (Location | undefined)[]): Promise<void> {
  const texts = locations.flatMap((location) => {
    if (location?.external_identifier_type === PLACE_KEY) return location.external_identifier ?? [];
    return asList(location?.addresses).map(({ city, state_province: state, country }) => [cleanText(city), cleanText(state), country && country !== 'US' ? country : null].filter(Boolean).join(', '));
  });
  for (const text of new Set(texts)) await row.sayPlace(text);
}

function idOf(id: string, context: ReadContext): string {
  return actorIdOf(originOf('hsds', id, context.source), id);
}

function evidenceOf({ field_name: property, replacement_value: value, updated_by: source, last_action_date: seen }: Metadata): EvidenceClaim | null {
  if (!PROPERTIES.some((known) => known === property) || !httpUrl(source)) return null;
  return { property: property as Property, value: plain(value ?? ''), source: source!, ...(seen ? { last_seen_at: seen } : {}) };
}

function plain(value: string): unknown {
  if (!value.startsWith('{')) return value;
  try {
    return parseField(value);
  } catch {
    return value;
  }
}

async function* writes({ actors }: WriteContext): AsyncIterable<string> {
  const sections: [string, ActorType, (actor: ActorDetail) => object][] = [
    ['organizations', 'organization', organizationOf],
    ['programs', 'initiative', programOf],
    ['contacts', 'person', contactOf],
  ];
  yield '{';
  for (const [at, [section, type, write]] of sections.entries()) {
    yield `"${section}": [`;
    let last: string | null = null;
    for await (const { actor } of actors()) {
      if (actor.type !== type) continue;
      if (last !== null) yield `${last},`;
      last = JSON.stringify(write(actor));
    }
    if (last !== null) yield last;
    yield at < sections.length - 1 ? '],' : ']';
  }
  yield '}';
}

function organizationOf(actor: ActorDetail): object {
  const ein = actor.identifiers.find(({ scheme }) => scheme === 'ein');
  return {
    ...commonOf(actor, 'organization'),
    website: actor.contact.website,
    ...(ein ? { tax_id: ein.value } : {}),
    additional_websites: actor.contact.social.map(({ network, url }) => ({ id: childId(actor, 'website', url), label: network, url })),
  };
}

function programOf(actor: ActorDetail): object {
  return { ...commonOf(actor, 'program'), organization_id: actor.affiliations.find((each) => each.entity_id)?.entity_id ?? null };
}

function contactOf(actor: ActorDetail): object {
  const first = actor.affiliations.find((each) => each.entity_id);
  return { ...commonOf(actor, 'contact'), organization_id: first?.entity_id ?? null, title: first?.role ?? null };
}

function commonOf(actor: ActorDetail, kind: string): object {
  const urls = new Map(actor.sources.map(({ id, url }) => [id, url]));
  return {
    id: actor.id,
    name: actor.name,
    alternate_name: otherNames(actor)[0] ?? null,
    description: actor.description ?? '',
    email: actor.contact.email,
    phones: actor.contact.phone ? [{ id: childId(actor, 'phone', actor.contact.phone), number: actor.contact.phone }] : [],
    organization_identifiers: actor.identifiers.map(({ scheme, value }) => ({ id: childId(actor, 'identifier', scheme + value), identifier_scheme: scheme, identifier_type: scheme, identifier: value })),
    locations: actor.places.map((place) => ({
      id: childId(actor, 'location', place.place_key),
      location_type: 'physical',
      name: place.name,
      external_identifier: place.place_key,
      external_identifier_type: PLACE_KEY,
      addresses: [{ id: childId(actor, 'address', place.place_key), address_1: '', city: place.name, state_province: place.state ?? '', postal_code: '', country: place.country, address_type: 'physical' }],
    })),
    attributes: [
      ...actor.issue_areas.map((slug) => ({ id: childId(actor, 'attribute', slug), link_id: actor.id, link_entity: kind, taxonomy_term: { id: childId(actor, 'term', slug), code: slug, name: slug.replaceAll('_', ' '), description: '' } })),
      { id: childId(actor, 'attribute', STATUS), link_id: actor.id, link_entity: kind, label: STATUS, value: actor.status },
    ],
    metadata: actor.claims.map((claim) => ({
      id: claim.id, resource_id: actor.id, resource_type: kind, last_action_date: claim.last_seen_at, last_action_type: 'update', field_name: claim.property,
      previous_value: '', replacement_value: typeof claim.value === 'string' ? claim.value : JSON.stringify(claim.value), updated_by: urls.get(claim.source_id) ?? '',
    })),
  };
}

/** HSDS gives every part an id; the same part always gets the same one. */
function childId({ id }: ActorDetail, kind: string, value: string): string {
  return actorIdOf(createHash('sha256').update(`${id} ${kind} ${value}`).digest('hex'), '');
}
