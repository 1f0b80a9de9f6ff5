import type { ActorDraft, ClaimDraft, ClaimValue, ClaimValues, Property } from '../types.ts';
import type { Person } from './traits.ts';

/** The claims of an actor, and the addresses of their sources. */
export interface Statements {
  claims: { property: Property; value: ClaimValue }[];
  urls: string[];
}

/** What identifies a person who asks not to be listed. */
export interface UnlistRequest {
  name: string | null;
  /** A place key; needed with a name. */
  place: string | null;
  email: string | null;
  phone: string | null;
  url: string | null;
}

/** Returns what a draft states. Retracted claims do not count. */
export function statementsOf({ claims, sources }: Pick<ActorDraft, 'claims' | 'sources'>): Statements {
  return { claims: claims.filter(counts), urls: sources.map(({ url }) => url) };
}

const counts = ({ status = 'active' }: ClaimDraft): boolean => status === 'active' || status === 'disputed';

function valuesOf<Name extends Property>(claims: Statements['claims'], property: Name): ClaimValues[Name][] {
  return claims.filter((claim) => claim.property === property).map(({ value }) => value as ClaimValues[Name]);
}

/** Returns what the claims and sources of an actor state about a person. */
export function personOf({ claims, urls }: Statements): Person {
  return {
    names: valuesOf(claims, 'name'), places: valuesOf(claims, 'place'), emails: valuesOf(claims, 'email'), phones: valuesOf(claims, 'phone'),
    urls: [...valuesOf(claims, 'website'), ...valuesOf(claims, 'social').map(({ url }) => url), ...urls],
  };
}

export function personOfRequest({ name, place, email, phone, url }: UnlistRequest): Person {
  const list = (value: string | null): string[] => (value === null ? [] : [value]);
  return { names: list(name), places: list(place), emails: list(email), phones: list(phone), urls: list(url) };
}
