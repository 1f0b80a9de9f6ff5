import { compare, NAME_LEVELS, strongIdentifiers, type Comparison, type Field, type Level } from '../matching/compare.ts';
import { organizationLikeness, organizationNames, type OrganizationName } from '../matching/organization.ts';
import { personLikeness } from '../matching/person.ts';
import { prepare, stateOf, type MatchProfile, type Prepared } from '../matching/profile.ts';
import type { ActorDetail, ActorType, ClaimValues } from '../types.ts';
import { describe, TYPES, type Named } from './properties.ts';
import type { Query } from './query.ts';

/** A query in the forms that are compared, each made once. */
export interface Wanted {
  query: Query;
  preparedAs(type: ActorType): Prepared;
  affiliations: OrganizationName[];
}

/** `places` are the keys of those that the query names. */
export function prepareQuery(query: Query, places: string[]): Wanted {
  const prepared = new Map<ActorType, Prepared>();
  return {
    query,
    preparedAs(type) {
      const made = prepared.get(type) ?? prepare(profileOfQuery(query, places, type));
      prepared.set(type, made);
      return made;
    },
    affiliations: valuesOf(query, 'affiliation').flatMap(organizationNames),
  };
}

export interface Result extends Named {
  description: string;
  type: Named[];
  score: number;
  match: boolean;
  features: { id: string; value: number | boolean }[];
}

export interface Rated {
  actor: ActorDetail;
  name: number;
  /** Many bear this name. */
  isCommon: boolean;
  comparisons: Map<Field | 'affiliation', Level>;
  hasSameId: boolean;
  contradicts: boolean;
  score: number;
}

// What agreement adds and disagreement takes, in points of a hundred.
const POINTS: Record<Exclude<Field, 'name'> | 'affiliation', [agree: number, disagree: number]> = {
  identifier: [40, -50], website: [20, -5], email: [20, -3], phone: [15, -3], place: [10, -30], affiliation: [15, -10], issue_areas: [3, -3],
};
const PART: Record<Level, number> = { exact: 1, close: 0.6, partial: 0.1, disagree: 0, missing: 0 };
/** A name by itself is worth less where many people share it. */
const [NAME_ALONE, PERSON_ALONE] = [90, 75];
/** Where a query has no name, what else it has decides. */
const UNNAMED = 40;
/** Below this a candidate only costs the reader's time. */
const LEAST = 30;

export function rate(actor: ActorDetail, { query, preparedAs, affiliations }: Wanted): Rated {
  const isPerson = actor.type === 'person';
  const [left, right] = [preparedAs(actor.type), prepare(profileOfActor(actor, namesOf(actor)))];
  const name = Math.max(0, ...(isPerson ? left.people.flatMap((one) => right.people.map((other) => personLikeness(one, other))) : likenesses(left.organizations, right.organizations)));
  const compared = compare(left, right);
  const comparisons = new Map<Field | 'affiliation', Level>(compared.filter(({ field }) => field !== 'name').map(({ field, level }) => [field, level]));
  comparisons.set('affiliation', affiliationLevel(actor, affiliations));
  const { agree, conflict } = strongIdentifiers(left, right);
  const evidence = [...comparisons].reduce((sum, [field, level]) => sum + pointsOf(field, level), 0);
  const base = query.query === '' ? UNNAMED : (isPerson ? PERSON_ALONE : NAME_ALONE) * name;
  return {
    actor,
    name,
    isCommon: (compared.find(({ field }) => field === 'name') as Comparison).frequent ?? false,
    comparisons,
    hasSameId: agree.length > 0,
    contradicts: conflict.length > 0,
    score: Math.round(Math.max(0, Math.min(100, base + evidence))),
  };
}

function pointsOf(field: Field | 'affiliation', level: Level): number {
  if (field === 'name') return 0;
  const [agree, disagree] = POINTS[field];
  return level === 'disagree' ? disagree : agree * PART[level];
}

/** Best first; at most one of them is a match. */
export function resultsOf(rated: Rated[], limit: number): Result[] {
  const best = rated.filter(({ score }) => score >= LEAST).sort((one, other) => other.score - one.score || (one.actor.id < other.actor.id ? -1 : 1));
  const [first, second] = best;
  const isMatch = first !== undefined && isCertain(first) && (!second || first.score - second.score >= 10 || (first.hasSameId && !second.hasSameId));
  return best.slice(0, limit).map((one, index) => resultOf(one, index === 0 && isMatch));
}

/**
 * Sure enough that a spreadsheet may take it over unseen. An identifier decides; otherwise the name must be the same and
 * nothing may speak against it. For people a name is never enough, nor is a name and a town.
 */
function isCertain({ actor, name, isCommon, comparisons, hasSameId, contradicts }: Rated): boolean {
  if (contradicts) return false;
  if (hasSameId) return true;
  const level = (field: Field | 'affiliation') => comparisons.get(field) ?? 'missing';
  if (name < NAME_LEVELS.exact || level('place') === 'disagree' || level('place') === 'partial') return false;
  const isBacked = (['email', 'phone', 'website'] as const).some((field) => level(field) === 'exact');
  if (actor.type === 'person') return isBacked || level('affiliation') === 'exact';
  return isBacked || level('place') === 'exact' || !isCommon;
}

function resultOf({ actor, name, comparisons, score }: Rated, match: boolean): Result {
  const shown = [...comparisons].filter(([, level]) => level !== 'missing').map(([id, level]) => ({ id, value: Math.round(100 * PART[level]) }));
  return {
    id: actor.id,
    name: actor.name,
    description: describe(actor),
    type: TYPES.filter(({ id }) => id === actor.type).map(({ id, name: label }) => ({ id, name: label })),
    score,
    match,
    features: [{ id: 'name', value: Math.round(100 * name) }, ...shown],
  };
}

function valuesOf({ properties }: Query, pid: string): string[] {
  return properties.filter((property) => property.pid === pid).flatMap(({ values }) => values);
}

function profileOfQuery(query: Query, places: string[], type: ActorType): MatchProfile {
  const of = (pid: string) => valuesOf(query, pid);
  const identifiers = [
    ...['ein', 'wikidata'].flatMap((scheme) => of(scheme).map((value) => ({ scheme, value }))),
    ...of('identifier').flatMap((text) => {
      const colon = text.indexOf(':');
      return colon > 0 ? [{ scheme: text.slice(0, colon), value: text.slice(colon + 1) }] : [];
    }),
  ];
  return {
    type, names: query.query === '' ? [] : [query.query], places, states: [...new Set(places.map(stateOf))], websites: of('website'), emails: of('email'), phones: of('phone'), identifiers,
    issue_areas: of('issue_area').map((slug) => slug.toLowerCase().replaceAll(/[\s-]+/g, '_')), dates: [],
  };
}

function profileOfActor({ type, places, contact, identifiers, issue_areas, event }: ActorDetail, names: string[]): MatchProfile {
  const keys = places.map(({ place_key }) => place_key);
  const given = (value: string | null | undefined): string[] => (value ? [value] : []);
  return {
    type, names, places: keys, states: [...new Set(keys.map(stateOf))], websites: [...given(contact.website), ...contact.social.map(({ url }) => url)], emails: given(contact.email),
    phones: given(contact.phone), identifiers, issue_areas, dates: given(event?.start?.slice(0, 10)),
  };
}

/** Also the names it was called by in places. */
function namesOf({ name, claims }: ActorDetail): string[] {
  return [...new Set([name, ...claims.filter(({ property, rank, status }) => property === 'name' && rank !== 'deprecated' && status === 'active').map(({ value }) => value as ClaimValues['name'])])];
}

function affiliationLevel({ affiliations }: ActorDetail, wanted: OrganizationName[]): Level {
  if (wanted.length === 0 || affiliations.length === 0) return 'missing';
  const likeness = Math.max(0, ...likenesses(wanted, affiliations.flatMap(({ name }) => organizationNames(name))));
  if (likeness >= NAME_LEVELS.exact) return 'exact';
  return likeness >= NAME_LEVELS.close ? 'close' : likeness >= NAME_LEVELS.partial ? 'partial' : 'disagree';
}

function likenesses(left: OrganizationName[], right: OrganizationName[]): number[] {
  return left.flatMap((one) => right.map((other) => organizationLikeness(one, other)));
}
