import type { ActorDraft, ActorType, ClaimDraft, ClaimValues, Property } from '../types.ts';
import { normalizeEmail, normalizeIdentifier, normalizePhone, normalizeWebsite, type Email, type Identifier, type Website } from './contact.ts';
import { organizationNames, type OrganizationName } from './organization.ts';
import { latinPersonName, type PersonName } from './person.ts';

/** What of an actor is looked at to say whether two are one. */
export interface MatchProfile {
  type: ActorType;
  names: string[];
  /** Place keys. */
  places: string[];
  /** The state parts of the place keys. */
  states: string[];
  websites: string[];
  emails: string[];
  phones: string[];
  identifiers: Identifier[];
  issue_areas: string[];
  /** The days an event starts on, as `2026-03-01`. */
  dates: string[];
}

/** A profile in the forms that are compared: made once, compared often. */
export interface Prepared {
  profile: MatchProfile;
  isPerson: boolean;
  organizations: OrganizationName[];
  /** The name that each of `organizations` was read from. */
  written: string[];
  people: PersonName[];
  websites: Website[];
  emails: Email[];
  phones: string[];
  identifiers: Identifier[];
}

/** The state in a place key: what stands after the comma, or the whole key of a state. */
export const stateOf = (placeKey: string): string => placeKey.slice(placeKey.lastIndexOf(',') + 1);

const unique = <Item>(items: Item[]): Item[] => [...new Set(items)];

type Said = Pick<ClaimDraft, 'property' | 'value' | 'rank' | 'status'>;

export function profileOfDraft({ type, claims }: { type: ActorDraft['type']; claims: Said[] }): MatchProfile {
  const counting = claims.filter((claim) => claim.rank !== 'deprecated' && (claim.status === undefined || claim.status === 'active'));
  const values = <Name extends Property>(property: Name) => valuesOf(counting, property);
  const places = unique(values('place'));
  return {
    type,
    names: unique(values('name')),
    places,
    states: unique(places.map(stateOf)),
    websites: unique([...values('website'), ...values('social').map(({ url }) => url)]),
    emails: unique(values('email')),
    phones: unique(values('phone')),
    identifiers: values('identifier'),
    issue_areas: unique(values('issue_area')),
    dates: unique(values('event_start').map((time) => time.slice(0, 10))),
  };
}

function valuesOf<Name extends Property>(claims: Said[], property: Name): ClaimValues[Name][] {
  return claims.filter((claim) => claim.property === property).map((claim) => claim.value as ClaimValues[Name]);
}

export function prepare(profile: MatchProfile): Prepared {
  const isPerson = profile.type === 'person';
  const kept = <From, To>(items: From[], form: (item: From) => To | null): To[] => items.map(form).filter((item) => item !== null);
  const organizations = isPerson ? [] : profile.names.map((name) => ({ name, read: organizationNames(name) }));
  return {
    profile,
    isPerson,
    organizations: organizations.flatMap(({ read }) => read),
    written: organizations.flatMap(({ name, read }) => read.map(() => name)),
    people: isPerson ? profile.names.map(latinPersonName) : [],
    websites: kept(profile.websites, normalizeWebsite),
    emails: kept(profile.emails, normalizeEmail),
    phones: unique(kept(profile.phones, normalizePhone)),
    identifiers: kept(profile.identifiers, normalizeIdentifier),
  };
}
