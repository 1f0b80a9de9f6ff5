import { Failure, startOfText } from 'civic';
import { PROPERTIES, type ActorDetail, type ActorType, type Property } from '../types.ts';
import { otherNames } from './evidence.ts';
import type { Format, ReadContext, Row, WriteContext } from './format.ts';
import type { TextFile } from './file.ts';
import { jsonItems, parseField, parseItem } from './json.ts';
import { actorIdOf, asList, cleanText, dayOf, httpUrl, originOf, rowOrFault, startRow, type EvidenceClaim, type FoundSource, type RowBuilder } from './row.ts';
import { eventTimeOf } from './time.ts';

/** A node of JSON-LD. Any member may be a text, a node, or a list of both. */
type Node = { [member: string]: unknown };

const TYPES: [RegExp, ActorType][] = [
  [/^Person$/, 'person'],
  [/Event$|^EventSeries$|Festival$/, 'event'],
  [/^(Project|FundingScheme|ResearchProject)$/, 'initiative'],
  [/Organi[sz]ation$|^(NGO|Corporation|LocalBusiness|Library|School|GovernmentOffice|PoliticalParty|Consortium|FundingAgency|Airline|CivicStructure|CityHall|Church|Hospital|CollegeOrUniversity|ElementarySchool|HighSchool|PerformingGroup|SportsTeam|WorkersUnion)$/, 'organization'],
];
const CONTEXT = 'https://schema.org';
const PLACE_KEY = 'place_key';

export const schemaorg: Format = {
  name: 'schemaorg',
  summary: 'schema.org JSON-LD: Person, Organization, Project, Event, also as @graph or lines',
  type: 'application/ld+json',
  extension: '.jsonld',
  reads,
  writes,
};

async function* reads(file: TextFile, context: ReadContext): AsyncIterable<Row> {
  let known = 0;
  for (const each of file.files(['.json', '.jsonld', '.ndjson', '.jsonl'])) {
    for await (const { number, text } of jsonItems(each.text(), ['@graph'])) {
      const parsed = parseItem(text);
      if ('fault' in parsed) {
        yield { number, raw: text, fault: parsed.fault };
        continue;
      }
      for (const node of nodesIn(parsed.value)) {
        const type = typeOf(node);
        if (!type) continue;
        known++;
        yield await rowOrFault(number, node, () => nodeRow(number, node, type, context));
      }
    }
  }
  if (known === 0) throw new Failure(`${file.path} has no schema.org Person, Organization, Project or Event in it`);
}

function nodesIn(value: unknown): Node[] {
  return asList<Node>(value as Node | Node[]).filter((node) => node !== null && typeof node === 'object').flatMap((node) => (Array.isArray(node['@graph']) ? nodesIn(node['@graph']) : [node]));
}

function typeOf(node: Node): ActorType | null {
  const names = asList(node['@type']).map((name) => String(name).replace(/^(https?:\/\/schema\.org\/|schema:)/, ''));
  if (names.includes('Project') && node.additionalType === 'campaign') return 'campaign';
  return TYPES.find(([form]) => names.some((name) => form.test(name)))?.[1] ?? null;
}

async function nodeRow(number: number, node: Node, type: ActorType, context: ReadContext): Promise<Row> {
  const key = textOf(node['@id']);
  const evidence = asList<Node>(node.subjectOf as Node).map(evidenceOf).filter((claim) => claim !== null);
  const row = startRow({ number, raw: node, type, evidence, sources: evidence.length > 0 ? [] : sourcesOf(node, context), ...(key ? identityOf(key, context) : {}) }, context);
  const others = asList(node.alternateName).map(textOf);
  row.say('name', textOf(node.name), others.length > 0 ? { rank: 'preferred' } : {});
  for (const other of [...others, textOf(node.legalName)]) row.say('name', other, { rank: 'normal' });
  row.say('description', textOf(node.description));
  sayContacts(row, node);
  sayIdentifiers(row, node);
  await sayPlaces(row, node);
  for (const about of [...asList(node.knowsAbout), ...asList(node.about), ...asList(node.keywords)]) {
    const slug = textOf(about)?.replace(/^.*[/#]/, '') ?? '';
    if (context.hasIssueArea(slug)) row.say('issue_area', slug);
    else row.sayIssueAreas(nameOf(about), { confidence: 0.6 });
  }
  sayAffiliations(row, node, context);
  if (type === 'event') {
    row.say('event_start', eventTimeOf(node.startDate, context.timezone));
    row.say('event_end', eventTimeOf(node.endDate, context.timezone));
    if (/Cancelled/.test(textOf(node.eventStatus) ?? '')) row.say('status', 'inactive');
  }
  const ended = dayOf(node.dissolutionDate ?? node.deathDate);
  if (ended && ended <= context.now.slice(0, ended.length)) row.say('status', 'inactive');
  return row.row();
}

function identityOf(key: string, context: ReadContext): { id: string; origin: string } {
  const origin = /^https?:/.test(key) ? `schema.org:${key}` : originOf('schema.org', key, context.source);
  return { id: actorIdOf(origin, key), origin };
}

function sayContacts(row: RowBuilder, node: Node): void {
  for (const point of [node, ...asList<Node>(node.contactPoint as Node)]) {
    for (const email of asList(point?.email)) row.say('email', textOf(email)?.replace(/^mailto:/, ''));
    for (const phone of asList(point?.telephone)) row.say('phone', textOf(phone)?.replace(/^tel:/, ''));
  }
  const [url] = asList(node.url);
  if (url) row.sayWebsite(textOf(url));
  for (const other of asList(node.sameAs)) {
    const text = textOf(other) ?? '';
    const wikidata = /wikidata\.org\/(?:wiki|entity)\/(Q\d+)$/.exec(text)?.[1];
    if (wikidata) row.say('identifier', { scheme: 'wikidata', value: wikidata });
    else if (text) row.sayWebsite(text);
  }
}

function sayIdentifiers(row: RowBuilder, node: Node): void {
  const ein = (textOf(node.taxID) ?? '').replace(/\D/g, '');
  if (ein.length === 9) row.say('identifier', { scheme: 'ein', value: `${ein.slice(0, 2)}-${ein.slice(2)}` });
  for (const identifier of asList<Node>(node.identifier as Node)) {
    const scheme = textOf(identifier?.propertyID);
    const value = textOf(identifier?.value);
    if (scheme && value) row.say('identifier', { scheme, value });
  }
}

async function sayPlaces(row: RowBuilder, node: Node): Promise<void> {
  const [first] = asList(node.location);
  const location = nameOf(first) ?? addressText((first as Node | undefined)?.address);
  if (node.startDate || typeOf(node) === 'event') row.say('event_location', location && startOfText(location, 500));
  const served = [node.areaServed, node.workLocation, (first as Node | undefined)?.containedInPlace].flatMap((each) => asList(each));
  const texts = served.length > 0 ? served.map(placeText) : [node.address, (first as Node | undefined)?.address].flatMap((each) => asList(each)).map(addressText);
  for (const text of new Set(texts)) await row.sayPlace(text);
}

function placeText(value: unknown): string | null {
  const node = value as Node | null;
  const key = asList<Node>(node?.identifier as Node).find((identifier) => identifier?.propertyID === PLACE_KEY)?.value;
  return textOf(key) ?? addressText(node?.address) ?? nameOf(value);
}

function addressText(value: unknown): string | null {
  const [address] = asList<Node>(value as Node);
  const town = textOf(address?.addressLocality);
  const region = nameOf(address?.addressRegion);
  return town ? [town, region].filter(Boolean).join(', ') : null;
}

function sayAffiliations(row: RowBuilder, node: Node, context: ReadContext): void {
  const members: [string, string | null][] = [
    ['affiliation', null], ['worksFor', null], ['memberOf', 'member'], ['parentOrganization', 'part of'], ['organizer', 'organizer'],
  ];
  for (const [member, usual] of members) {
    for (const each of asList(node[member])) {
      // A role stands between the two when it says more than that they belong together.
      const role = (each as Node | null)?.['@type'] === 'OrganizationRole' ? (each as Node) : null;
      const [organization] = asList(role ? role[member] : each);
      const name = nameOf(organization);
      const key = textOf((organization as Node | null)?.['@id']);
      const jobTitle = member === 'organizer' || member === 'parentOrganization' ? null : textOf(node.jobTitle);
      if (name) {
        row.say('affiliation', {
          entity_id: key ? identityOf(key, context).id : null, name, role: role ? textOf(role.roleName) : jobTitle ?? usual, since: dayOf(role?.startDate), until: dayOf(role?.endDate),
        });
      }
    }
  }
}

/** Returns the pages that a node names as its sources; its own website only when nothing says where the file comes from. */
function sourcesOf(node: Node, context: ReadContext): FoundSource[] {
  const named = [...asList(node.subjectOf), ...asList(node.citation), ...asList(node.isBasedOn), node.mainEntityOfPage];
  const urls = [...named, ...(context.source ? [] : [node.url])].map((value) => textOf((value as Node | null)?.url) ?? textOf(value) ?? textOf((value as Node | null)?.['@id']));
  const found = urls.map(httpUrl).filter((url) => url !== null);
  return found.slice(0, 20).map((url) => ({ url }));
}

function evidenceOf(value: Node | null): EvidenceClaim | null {
  const property = textOf(value?.name);
  const source = textOf((value?.appearance as Node | undefined)?.url);
  if (value?.['@type'] !== 'Claim' || !source || !PROPERTIES.some((known) => known === property)) return null;
  const text = textOf(value.text) ?? '';
  return { property: property as Property, value: text.startsWith('{') ? parseField(text) : text, source, ...(value.dateModified ? { last_seen_at: textOf(value.dateModified)! } : {}) };
}

function textOf(value: unknown): string | null {
  if (value !== null && typeof value === 'object' && !Array.isArray(value) && '@value' in value) return cleanText(value['@value']);
  return cleanText(Array.isArray(value) ? value[0] : value);
}

function nameOf(value: unknown): string | null {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? textOf((value as Node).name) : textOf(value);
}

async function* writes({ actors }: WriteContext): AsyncIterable<string> {
  yield `{"@context": ${JSON.stringify(CONTEXT)}, "@graph": [`;
  let last: string | null = null;
  for await (const { actor } of actors()) {
    if (last !== null) yield `${last},`;
    last = JSON.stringify(nodeOf(actor));
  }
  if (last !== null) yield last;
  yield ']}';
}

/** Returns an actor as a document of JSON-LD. */
export function linkedActor(actor: ActorDetail): object {
  return { '@context': CONTEXT, ...nodeOf(actor) };
}

const WRITTEN: Record<ActorType, string> = { person: 'Person', organization: 'Organization', initiative: 'Project', campaign: 'Project', event: 'Event' };

function nodeOf(actor: ActorDetail): Node {
  const urls = new Map(actor.sources.map((source) => [source.id, source]));
  const places = actor.places.map((place) => ({
    '@type': 'Place', name: [place.name, place.state].filter(Boolean).join(', '), identifier: { '@type': 'PropertyValue', propertyID: PLACE_KEY, value: place.place_key },
  }));
  const node: Node = {
    '@type': WRITTEN[actor.type],
    '@id': actor.url,
    ...(actor.type === 'campaign' ? { additionalType: 'campaign' } : {}),
    name: actor.name,
    alternateName: otherNames(actor),
    description: actor.description,
    url: actor.contact.website,
    email: actor.contact.email,
    telephone: actor.contact.phone,
    sameAs: actor.contact.social.map(({ url }) => url),
    identifier: actor.identifiers.map(({ scheme, value }) => ({ '@type': 'PropertyValue', propertyID: scheme, value })),
    keywords: actor.issue_areas,
    [actor.type === 'event' ? 'organizer' : actor.type === 'person' ? 'affiliation' : 'memberOf']: actor.affiliations.map(({ entity_id, name, role, since, until }) => ({
      '@type': 'OrganizationRole', roleName: role, startDate: since, endDate: until,
      [actor.type === 'event' ? 'organizer' : actor.type === 'person' ? 'affiliation' : 'memberOf']: { '@type': 'Organization', name, ...(entity_id ? { '@id': actor.url.replace(actor.id, entity_id) } : {}) },
    })),
    ...(actor.type === 'event'
      ? { startDate: actor.event?.start, endDate: actor.event?.end, location: { '@type': 'Place', name: actor.event?.location, containedInPlace: places }, eventStatus: `${CONTEXT}/Event${actor.status === 'inactive' ? 'Cancelled' : 'Scheduled'}` }
      : { [actor.type === 'person' ? 'workLocation' : 'areaServed']: places }),
    subjectOf: actor.claims.map((claim) => {
      const source = urls.get(claim.source_id);
      return {
        '@type': 'Claim', name: claim.property, text: typeof claim.value === 'string' ? claim.value : JSON.stringify(claim.value), dateModified: claim.last_seen_at,
        appearance: { '@type': 'CreativeWork', url: source?.url, name: source?.title, publisher: source?.publication, datePublished: source?.published_at },
      };
    }),
  };
  return Object.fromEntries(Object.entries(node).filter(([, value]) => value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0)));
}
