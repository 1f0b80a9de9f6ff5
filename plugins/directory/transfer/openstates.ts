import type { ActorDetail, ClaimValues } from '../types.ts';
import { evidenceOf, otherNames, readEvidence } from './evidence.ts';
import type { Format, ReadContext, Row, WriteContext } from './format.ts';
import type { TextFile } from './file.ts';
import { linesOf, LONGEST_ROW } from './lines.ts';
import { actorIdOf, asList, cleanText, dayOf, handleOf, rowOrFault, rowsOrFault, socialOf, startRow, titled, type FoundSource, type RowBuilder } from './row.ts';
import { Failure, jsonValueFault, parseUrl, TOO_DEEP } from 'civic';
import * as yaml from 'yaml';
import { isDeepYaml } from '../nesting.ts';

/** A document of Open States has a few thousand characters. Parsing one takes the event loop about a millisecond for each 1,000. */
const LONGEST_DOCUMENT = 128 * 1024;

/** What is read of a person or committee; all of it may be missing or wrong. */
interface Document {
  id?: string;
  name?: string;
  email?: string;
  biography?: string;
  classification?: string;
  chamber?: string;
  jurisdiction?: string;
  party?: { name?: string; start_date?: string; end_date?: string }[];
  roles?: Role[];
  offices?: { voice?: string; address?: string }[];
  links?: { url?: string }[];
  ids?: Record<string, string>;
  other_names?: { name?: string }[];
  other_identifiers?: { scheme?: string; identifier?: string }[];
  sources?: { url?: string; note?: string }[];
  members?: { name?: string; role?: string; person_id?: string }[];
  extras?: { civic?: Extras };
}

interface Role {
  type?: string;
  district?: string | number;
  jurisdiction?: string;
  /** Ours: an affiliation that is no office of a state or town. */
  organization?: { id: string | null; name: string };
  start_date?: string;
  end_date?: string;
}

/** What the format has no field for. */
interface Extras {
  places?: string[];
  issue_areas?: string[];
  status?: ActorDetail['status'];
  claims?: unknown;
}

const PERSON = /^ocd-person\//;
const ORGANIZATION = /^ocd-organization\//;
const LONGEST_ID = 300;
const PARTY = 'party member';

export const openstates: Format = {
  name: 'openstates',
  summary: 'Open States people and committees: a YAML file, or a folder of them',
  type: 'application/yaml',
  extension: '.yml',
  holds: ['person', 'organization'],
  reads,
  writes,
};

async function* reads(file: TextFile, context: ReadContext): AsyncIterable<Row> {
  const files = file.files(['.yml', '.yaml']);
  if (files.length === 0) throw new Failure(`${file.path} has no .yml files in it`);
  let number = 0;
  let actors = 0;
  for (const each of files) {
    for await (const text of documentsOf(each)) {
      number++;
      for await (const row of rowsOf(number, text, context)) {
        if (!('fault' in row)) actors++;
        yield row;
      }
    }
  }
  if (actors === 0 && number <= 1) throw new Failure(`${file.path} has no Open States person or committee in it: an id begins with ocd-person/ or ocd-organization/`);
}

/** The documents of a YAML stream, as text. */
async function* documentsOf(file: TextFile): AsyncIterable<string> {
  let lines: string[] = [];
  let length = 0;
  for await (const { line } of linesOf(file.text(), { keepEmpty: true, longest: LONGEST_ROW })) {
    if (/^---(\s|$)/.test(line)) {
      if (lines.some((line) => line.trim())) yield lines.join('\n');
      lines = [];
      length = 0;
    } else lines.push(line);
    length += line.length;
    if (length > LONGEST_ROW) throw new Failure(`${file.path} has a document longer than ${LONGEST_ROW / 1024 / 1024} MB`);
  }
  if (lines.some((line) => line.trim())) yield lines.join('\n');
}

async function* rowsOf(number: number, text: string, context: ReadContext): AsyncIterable<Row> {
  if (text.length > LONGEST_DOCUMENT) {
    yield { number, raw: text.slice(0, LONGEST_ID), fault: `is longer than ${LONGEST_DOCUMENT / 1024} kB` };
    return;
  }
  if (isDeepYaml(yaml, text)) {
    yield { number, raw: text, fault: TOO_DEEP };
    return;
  }
  let content: unknown;
  try {
    // The parser compares each key with all others to find duplicates, which takes seconds for some thousand keys.
    content = yaml.parse(text, { uniqueKeys: false });
  } catch (error) {
    yield { number, raw: text, fault: `is not valid YAML: ${(error as Error).message.split('\n')[0]}` };
    return;
  }
  const fault = jsonValueFault(content);
  if (fault) {
    yield { number, raw: text, fault };
    return;
  }
  for (const document of asList(content as Document | Document[])) {
    const id = typeof document?.id === 'string' ? document.id.trim().slice(0, LONGEST_ID) : '';
    if (PERSON.test(id)) yield await rowOrFault(number, document, () => personRow(number, document, context));
    else if (ORGANIZATION.test(id)) yield* rowsOrFault(number, document, committeeRows(number, document, context));
    // Lists of jurisdictions lie beside the people; they are no actors.
    else if (!id.startsWith('ocd-jurisdiction/')) yield { number, raw: document, fault: `its id is neither ocd-person/… nor ocd-organization/…: "${id.slice(0, 60)}"` };
  }
}

async function personRow(number: number, person: Document, context: ReadContext): Promise<Row> {
  const extras = person.extras?.civic ?? {};
  const row = startDocument(number, person, 'person', context);
  const others = asList(person.other_names);
  row.say('name', person.name, others.length > 0 ? { rank: 'preferred' } : {});
  for (const other of others) row.say('name', other?.name, { rank: 'normal' });
  sayCommon(row, person);
  for (const party of asList(person.party)) {
    if (party?.name) row.say('affiliation', { entity_id: null, name: `${party.name} Party`, role: PARTY, since: dayOf(party.start_date), until: dayOf(party.end_date) });
  }
  const roles = asList(person.roles);
  for (const role of roles) row.say('affiliation', affiliationOf(role, context));
  const ended = roles.filter((role) => isPast(role.end_date, context));
  if (extras.status === 'inactive' || (!extras.status && roles.length > 0 && ended.length === roles.length)) row.say('status', 'inactive');
  await sayPlaces(row, extras, ended.length === roles.length ? roles : roles.filter((role) => !ended.includes(role)), context);
  for (const slug of asList(extras.issue_areas)) if (context.hasIssueArea(slug)) row.say('issue_area', slug);
  return row.row();
}

async function* committeeRows(number: number, committee: Document, context: ReadContext): AsyncIterable<Row> {
  const id = cleanText(committee.id)!;
  const row = startDocument(number, committee, 'organization', context);
  const name = cleanText(committee.name);
  row.say('name', name, asList(committee.other_names).length > 0 ? { rank: 'preferred' } : {});
  for (const other of asList(committee.other_names)) row.say('name', other?.name, { rank: 'normal' });
  sayCommon(row, committee);
  const { state } = divisionOf(committee.jurisdiction);
  if (state && committee.chamber) row.say('affiliation', { entity_id: null, name: chamberName(state, committee.chamber, context), role: 'committee', since: null, until: null });
  for (const role of asList(committee.roles)) row.say('affiliation', affiliationOf(role, context));
  await sayPlaces(row, committee.extras?.civic ?? {}, [{ jurisdiction: committee.jurisdiction }], context);
  for (const slug of asList(committee.extras?.civic?.issue_areas)) if (context.hasIssueArea(slug)) row.say('issue_area', slug);
  if (committee.extras?.civic?.status === 'inactive') row.say('status', 'inactive');
  const made = row.row();
  yield made;
  if ('fault' in made || !name) return;
  for (const member of asList(committee.members)) {
    if (!member?.person_id || !member.name) continue;
    const person = startRow({ number, raw: member, type: 'person', id: actorIdOf(member.person_id, member.person_id), origin: member.person_id, sources: sourcesOf(committee).slice(0, 1) }, context);
    person.say('name', member.name);
    person.say('affiliation', { entity_id: actorIdOf(id, id), name, role: cleanText(member.role), since: null, until: null });
    yield person.row();
  }
}

function startDocument(number: number, document: Document, type: 'person' | 'organization', context: ReadContext): RowBuilder {
  const id = cleanText(document.id)!;
  return startRow({ number, raw: document, type, id: actorIdOf(id, id), origin: id, sources: sourcesOf(document), evidence: readEvidence(document.extras?.civic?.claims) }, context);
}

function sayCommon(row: RowBuilder, { biography, email, offices, ids, links, other_identifiers: identifiers }: Document): void {
  row.say('description', biography);
  row.say('email', email);
  for (const office of asList(offices)) row.say('phone', office.voice);
  for (const [network, handle] of Object.entries(ids ?? {})) row.say('social', handleOf(network, handle));
  const [first] = asList(links);
  if (first) row.sayWebsite(first.url);
  for (const { scheme, identifier } of asList(identifiers)) if (scheme && identifier) row.say('identifier', { scheme, value: String(identifier) });
}

/** Encyclopedias and voter guides, which repeat what the pages of governments say. */
const SECONDARY = /(^|\.)(ballotpedia|wikipedia|wikidata|votesmart|vote411|followthemoney|openstates)\.org$/;

/** Returns the pages of governments first: all fields but the name stand on the first source. */
function sourcesOf({ sources, links }: Document): FoundSource[] {
  const named = asList<{ url?: string; note?: string }>(asList(sources).length > 0 ? sources : links);
  const found = named.flatMap((source): FoundSource[] => {
    if (!source?.url) return [];
    const isOfficial = !socialOf(source.url) && !SECONDARY.test(parseUrl(source.url)?.hostname ?? '');
    return [{ url: source.url, title: cleanText(source.note), ...(isOfficial && { kind: 'government_record' as const }) }];
  });
  return [...found.filter(({ kind }) => kind !== undefined), ...found.filter(({ kind }) => kind === undefined)];
}

async function sayPlaces(row: RowBuilder, { places }: Extras, roles: Role[], context: ReadContext): Promise<void> {
  const texts = places ?? roles.map((role) => placeText(role, context)).filter((text) => text !== null);
  for (const text of new Set(texts)) await row.sayPlace(text);
}

function placeText({ jurisdiction }: Role, context: ReadContext): string | null {
  const { state, town } = divisionOf(jurisdiction);
  const name = state && context.stateName(state);
  if (!name) return null;
  return town ? `${titled(town)}, ${name}` : name;
}

/** `ocd-jurisdiction/country:us/state:mo/place:saint_louis/government` in its parts. */
function divisionOf(jurisdiction: string | undefined): { state: string | null; town: string | null } {
  const text = cleanText(jurisdiction) ?? '';
  return { state: /\/(?:state|district|territory):(\w\w)\b/.exec(text)?.[1] ?? null, town: /\/place:([^/]+)/.exec(text)?.[1] ?? null };
}

const TITLES = new Map([['lower', 'Representative'], ['upper', 'Senator'], ['legislature', 'Legislator']]);
const LOWER = new Map(Object.entries({
  ca: 'State Assembly', nv: 'Assembly', ny: 'State Assembly', wi: 'State Assembly', nj: 'General Assembly',
  md: 'House of Delegates', va: 'House of Delegates', wv: 'House of Delegates',
}));

function chamberName(state: string, chamber: string, context: ReadContext): string {
  const name = context.stateName(state) ?? state.toUpperCase();
  if (chamber === 'lower') return `${name} ${LOWER.get(state) ?? 'House of Representatives'}`;
  return `${name} ${chamber === 'upper' ? 'Senate' : 'Legislature'}`;
}

function affiliationOf({ type, district, jurisdiction, organization, start_date, end_date }: Role, context: ReadContext): ClaimValues['affiliation'] | null {
  const span = { since: dayOf(start_date), until: dayOf(end_date) };
  if (organization?.name) return { entity_id: organization.id, name: organization.name, role: cleanText(type), ...span };
  const { state, town } = divisionOf(jurisdiction);
  const kind = cleanText(type);
  if (!kind || !state) return null;
  const title = TITLES.get(kind) ?? titled(kind.replace(/^lt_/, 'lieutenant_'));
  const role = district === undefined ? title : `${title}, district ${district}`;
  if (town) return { entity_id: null, name: `City of ${titled(town)}`, role, ...span };
  return { entity_id: null, name: TITLES.has(kind) ? chamberName(state, kind, context) : `State of ${context.stateName(state) ?? state.toUpperCase()}`, role, ...span };
}

function isPast(date: string | undefined, { now }: ReadContext): boolean {
  const day = dayOf(date);
  return day !== null && day < now.slice(0, day.length);
}

async function* writes({ actors }: WriteContext): AsyncIterable<string> {
  for await (const { actor } of actors()) yield `---\n${yaml.stringify(documentOf(actor)).trimEnd()}`;
}

function documentOf(actor: ActorDetail): Document {
  const isPerson = actor.type === 'person';
  const civic: Extras = { places: actor.places.map((place) => place.place_key), issue_areas: actor.issue_areas, status: actor.status, claims: evidenceOf(actor) };
  const party = isPerson ? actor.affiliations.filter((each) => each.role === PARTY) : [];
  const document: Record<string, unknown> = {
    id: `${isPerson ? 'ocd-person' : 'ocd-organization'}/${actor.id}`,
    name: actor.name,
    ...(isPerson ? {} : { classification: 'organization' }),
    biography: actor.description,
    email: actor.contact.email,
    party: party.map(({ name, since, until }) => span({ name: name.replace(/ Party$/, '') }, since, until)),
    roles: actor.affiliations.filter((each) => !party.includes(each)).map((affiliation) => roleOf(affiliation, actor)),
    offices: actor.contact.phone ? [{ classification: 'primary', voice: actor.contact.phone }] : [],
    links: actor.contact.website ? [{ url: actor.contact.website }] : [],
    ids: Object.fromEntries(actor.contact.social.map(({ network, url }) => [network, url])),
    other_names: otherNames(actor).map((name) => ({ name })),
    other_identifiers: actor.identifiers.map(({ scheme, value }) => ({ scheme, identifier: value })),
    sources: actor.sources.map(({ url, title }) => ({ url, ...(title ? { note: title } : {}) })),
    extras: { civic },
  };
  return Object.fromEntries(Object.entries(document).filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))) as Document;
}

/** An office in a legislature as Open States writes it; anything else by the name of the organization. */
function roleOf({ entity_id, name, role, since, until }: ClaimValues['affiliation'], actor: ActorDetail): Role {
  const [, title, district] = /^(Representative|Senator|Legislator)(?:, district (.+))?$/.exec(role ?? '') ?? [];
  const state = actor.places.find((place) => place.state && !place.place_key.includes(',') && name.startsWith(`${place.name} `))?.state?.toLowerCase();
  const type = [...TITLES].find(([, name]) => name === title)?.[0];
  if (!type || !state || entity_id) return span({ type: role ?? undefined, organization: { id: entity_id, name } }, since, until);
  return span({ type, ...(district ? { district } : {}), jurisdiction: `ocd-jurisdiction/country:us/state:${state}/government` }, since, until);
}

function span<Part extends object>(part: Part, since: string | null, until: string | null): Part & { start_date?: string; end_date?: string } {
  return { ...part, ...(since ? { start_date: since } : {}), ...(until ? { end_date: until } : {}) };
}
