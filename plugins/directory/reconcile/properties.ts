import { isDemo } from '../feeds/entry.ts';
import { ACTOR_TYPES, type ActorDetail, type ActorType } from '../types.ts';

export interface Named {
  id: string;
  name: string;
}

export const TYPES: readonly (Named & { description: string })[] = [
  { id: 'organization', name: 'Organization', description: 'Public bodies, nonprofits, unions, newspapers' },
  { id: 'person', name: 'Person', description: 'Officials, organizers and others with a public role' },
  { id: 'initiative', name: 'Initiative', description: 'Programs and projects' },
  { id: 'campaign', name: 'Campaign', description: 'Petitions, ballot measures and other causes' },
  { id: 'event', name: 'Event', description: 'Meetings and hearings' },
];

export function isActorType(id: string): id is ActorType {
  return (ACTOR_TYPES as readonly string[]).includes(id);
}

/** Where it is and what it does, in a line. */
export function describe(actor: ActorDetail): string {
  const { type, places, affiliations, description } = actor;
  const role = affiliations[0] && [affiliations[0].role, affiliations[0].name].filter(Boolean).join(', ');
  const where = places.slice(0, 2).map(({ name, state, country }) => `${name}, ${state ?? country}`).join('; ');
  return [isDemo(actor) ? 'Demo, made up' : '', TYPES.find(({ id }) => id === type)!.name, where, role ?? description?.slice(0, 120)].filter(Boolean).join(' · ');
}

/** What OpenRefine puts into a cell. */
export type Cell = { str: string } | { date: string } | { int: number };

export interface Property extends Named {
  description: string;
  /** Given in a query, it says something for or against a candidate. */
  isEvidence: boolean;
  only?: ActorType;
  cells(actor: ActorDetail): Cell[];
}

const strings = (values: (string | null | undefined)[]): Cell[] => values.flatMap((str) => (str ? [{ str }] : []));
const dates = (values: (string | null | undefined)[]): Cell[] => values.flatMap((date) => (date ? [{ date }] : []));

const identifier = (scheme: string) => (actor: ActorDetail) => strings(actor.identifiers.filter((one) => one.scheme === scheme).map(({ value }) => value));

/** Columns that a spreadsheet can send along or fetch. */
export const PROPERTY_LIST: readonly Property[] = [
  { id: 'place', name: 'Place', description: 'City or town: "Kansas City, MO", a ZIP code or a place key', isEvidence: true, cells: ({ places }) => strings(places.map(({ place_key }) => place_key)) },
  { id: 'website', name: 'Website', description: 'Address of its site', isEvidence: true, cells: ({ contact }) => strings([contact.website]) },
  { id: 'ein', name: 'EIN', description: 'Employer identification number', isEvidence: true, cells: identifier('ein') },
  { id: 'wikidata', name: 'Wikidata', description: 'Wikidata id, such as Q42', isEvidence: true, cells: identifier('wikidata') },
  { id: 'identifier', name: 'Identifier', description: 'Any identifier as scheme:value', isEvidence: true, cells: ({ identifiers }) => strings(identifiers.map(({ scheme, value }) => `${scheme}:${value}`)) },
  { id: 'email', name: 'E-mail', description: 'E-mail address', isEvidence: true, cells: ({ contact }) => strings([contact.email]) },
  { id: 'phone', name: 'Telephone', description: 'Telephone number', isEvidence: true, cells: ({ contact }) => strings([contact.phone]) },
  { id: 'affiliation', name: 'Affiliation', description: 'Name of an organization somebody belongs to', isEvidence: true, cells: ({ affiliations }) => strings(affiliations.map(({ name }) => name)) },
  { id: 'issue_area', name: 'Issue area', description: 'Slug of an issue area', isEvidence: true, cells: ({ issue_areas }) => strings(issue_areas) },
  { id: 'description', name: 'Description', description: 'What it is, in a sentence', isEvidence: false, cells: ({ description }) => strings([description]) },
  { id: 'type', name: 'Type', description: 'Type of actor', isEvidence: false, cells: ({ type }) => strings([type]) },
  { id: 'status', name: 'Status', description: 'Active or inactive', isEvidence: false, cells: ({ status }) => strings([status]) },
  { id: 'social', name: 'Social media', description: 'Addresses of its profiles', isEvidence: false, cells: ({ contact }) => strings(contact.social.map(({ url }) => url)) },
  { id: 'role', name: 'Role', description: 'What somebody does in an organization', isEvidence: false, only: 'person', cells: ({ affiliations }) => strings(affiliations.map(({ role }) => role)) },
  { id: 'event_start', name: 'Begins', description: 'When an event begins', isEvidence: false, only: 'event', cells: ({ event }) => dates([event?.start]) },
  { id: 'event_end', name: 'Ends', description: 'When an event ends', isEvidence: false, only: 'event', cells: ({ event }) => dates([event?.end]) },
  { id: 'event_location', name: 'Location', description: 'Where an event is', isEvidence: false, only: 'event', cells: ({ event }) => strings([event?.location]) },
  { id: 'source', name: 'Sources', description: 'Addresses of the sources it stands on', isEvidence: false, cells: ({ sources }) => strings(sources.map(({ url }) => url)) },
  { id: 'source_count', name: 'Number of sources', description: 'How many sources it stands on', isEvidence: false, cells: ({ source_count }) => [{ int: source_count }] },
  { id: 'freshness', name: 'Freshness', description: 'fresh, aging, stale or unknown', isEvidence: false, cells: ({ freshness }) => strings([freshness.status]) },
  { id: 'last_seen_at', name: 'Last seen', description: 'When a source last said something of it', isEvidence: false, cells: ({ freshness }) => dates([freshness.last_seen_at]) },
];

export const PROPERTIES_BY_ID: ReadonlyMap<string, Property> = new Map(PROPERTY_LIST.map((property) => [property.id, property]));

export function propertiesOfType(type: string | undefined): Property[] {
  return PROPERTY_LIST.filter(({ only }) => !only || !type || only === type);
}
