import type { ClaimValues, Property, Source, StatedClaim, StatedValue } from 'civic/directory';
import { addressOfPassage, hostOf, quoteAround, type Quote } from './quotes.ts';
import { shownValue, type Referred, type ShownValue } from './values.ts';

/** A statement beside its best source. Its other sources and outdated values are in a `<details>` element, here called fold. */
export interface ShownStatement {
  /** The id of its best claim, which is the anchor of the statement on the page. */
  id: string;
  value: ShownValue;
  best: ShownClaim;
  others: ShownClaim[];
  /** How many further sources are not listed. */
  unlisted: number;
  outdated: { id: string; text: string }[];
  fold: string;
}

export interface ShownClaim {
  id: string;
  source: ShownSource;
  freshness: { status: string; words: string };
  /** What weakens the statement, in words. */
  doubts: string[];
  quote: Quote | null;
  /** The statement that already quotes the same passage, outside a fold. */
  sameAs: { id: string; label: string } | null;
  /** The address of the passage in the source. */
  read: string | null;
  /** First and last seen, how it was read, how sure it is. */
  details: string[];
}

export interface ShownSource {
  href: string;
  title: string;
  /** Publication or host, and the date of publication. */
  about: string;
}

/** The statements about one property. */
export interface ShownProperty {
  label: string;
  statements: ShownStatement[];
  /** Statements in a fold: a list of hundreds would hide the other properties. */
  folded: ShownStatement[];
  unlisted: number;
  /** Whether sources state different values of a property that can have only one. */
  isDisputed: boolean;
}

const ORDER: Property[] = [
  'affiliation', 'event_start', 'event_end', 'event_location', 'phone', 'email', 'website', 'social', 'place', 'issue_area', 'description', 'name', 'type', 'status', 'identifier',
];
/** Properties of which an actor has one value. `description` is none of them: different descriptions do not contradict each other. */
const SINGLE: ReadonlySet<Property> = new Set(['event_start', 'event_end', 'event_location', 'phone', 'email', 'website', 'type', 'status']);
const MOST_OPEN = 5;
const MOST_LISTED = 50;
const MOST_SOURCES = 10;

/** Returns statements by property, for the partial `statements`. */
export function shownStatements(values: StatedValue[], referred: Referred): ShownProperty[] {
  const groups = ORDER.flatMap((property) => groupsOf(property, values.filter((value) => value.property === property)))
    .map(({ label, ...group }) => ({ ...group, label: referred.t(`statement.properties.${label}`) }));
  const passages = new Map<string, { id: string; label: string }>();
  for (const { group, label } of groups) {
    for (const { claims: [best] } of group.slice(0, MOST_OPEN)) {
      const passage = passageOf(best!);
      if (passage !== null && !passages.has(passage)) passages.set(passage, { id: best!.id, label });
    }
  }
  return groups.map(({ group, outdated, label }) => shownProperty(group, outdated, label, { ...referred, passages }));
}

/** Returns a key of the quoted passage, so that the page quotes it only once. */
function passageOf({ source_id: source, excerpt }: StatedClaim): string | null {
  return excerpt === null ? null : `${source} ${excerpt}`;
}

interface PropertyGroup {
  label: string;
  group: StatedValue[];
  outdated: StatedValue[];
}

/** Returns the groups of a property. Names after the first are a group of their own. When all values are outdated, they are the statements. */
function groupsOf(property: Property, stated: StatedValue[]): PropertyGroup[] {
  const current = stated.filter(({ isCurrent }) => isCurrent);
  const outdated = stated.filter(({ isCurrent }) => !isCurrent);
  if (stated.length === 0) return [];
  if (current.length === 0) return [{ label: property, group: outdated, outdated: [] }];
  if (property !== 'name' || current.length === 1) return [{ label: property, group: current, outdated }];
  return [{ label: 'name', group: current.slice(0, 1), outdated }, { label: 'other_names', group: current.slice(1), outdated: [] }];
}

interface Quoting extends Referred {
  /** The statement that shows each passage. */
  passages: ReadonlyMap<string, { id: string; label: string }>;
}

function shownProperty(group: StatedValue[], outdated: StatedValue[], label: string, context: Quoting): ShownProperty {
  const [first] = group;
  const isDisputed = SINGLE.has(first!.property) && first!.isCurrent && (group.length > 1 || group.some(({ claims }) => claims.some(({ status }) => status === 'disputed')));
  const shown = group.slice(0, MOST_LISTED).map((value, at) => shownStatement(value, at === 0 ? outdated : [], context));
  return {
    label,
    statements: shown.slice(0, MOST_OPEN),
    folded: shown.slice(MOST_OPEN),
    unlisted: Math.max(0, group.length - MOST_LISTED),
    isDisputed,
  };
}

function shownStatement(stated: StatedValue, outdated: StatedValue[], context: Quoting): ShownStatement {
  const { t } = context;
  const value = shownValue(stated, context);
  const [best, ...others] = stated.claims;
  const listed = others.slice(0, MOST_SOURCES);
  return {
    id: best!.id,
    value,
    best: shownClaim(best!, value, stated.isCurrent, context),
    others: listed.map((claim) => shownClaim(claim, value, true, context)),
    unlisted: others.length - listed.length,
    outdated: outdated.slice(0, MOST_SOURCES).map((old) => ({
      id: old.claims[0]!.id,
      text: t('statement.outdated', { value: shownValue(old, context).text, date: t.formatDate(old.claims[0]!.last_seen_at), source: sourceTitle(old.claims[0]!.source) }),
    })),
    fold: [...others.length > 0 ? [t('statement.more_sources', { count: others.length })] : [], ...outdated.length > 0 ? [t('statement.outdated_values', { count: outdated.length })] : []].join(' · ') || t('statement.details'),
  };
}

function shownClaim(claim: StatedClaim, value: ShownValue, isCurrent: boolean, { t, passages }: Quoting): ShownClaim {
  const date = t.formatDate(claim.last_seen_at);
  const quoting = passages.get(passageOf(claim) ?? '') ?? null;
  const sameAs = quoting?.id === claim.id ? null : quoting;
  return {
    id: claim.id,
    source: shownSource(claim.source, t),
    freshness: { status: claim.freshness, words: t(`statement.seen.${claim.freshness}`, { date }) },
    doubts: doubtsOf(claim, isCurrent).map((doubt) => t(`statement.doubts.${doubt}`)),
    quote: claim.excerpt === null || sameAs ? null : quoteAround(claim.excerpt, value.forms),
    sameAs,
    read: addressOfPassage(claim.source.url, claim.excerpt),
    details: [
      t('statement.first_seen', { first: t.formatDate(claim.first_seen_at), last: date }),
      t(`statement.methods.${claim.method}`),
      t('statement.confidence', { percent: Math.round(claim.confidence * 100) }),
    ],
  };
}

/** Returns the keys of the words that mark doubt. A claim with a confidence of 0.8 or more has none for it. */
function doubtsOf({ confidence, method, status, rank }: StatedClaim, isCurrent: boolean): string[] {
  return [
    ...isCurrent ? [] : ['outdated'],
    ...status === 'disputed' ? ['disputed'] : [],
    ...confidence >= 0.8 || rank === 'deprecated' ? [] : [confidence >= 0.6 ? 'likely' : 'uncertain'],
    ...method === 'model' ? ['model'] : [],
  ];
}

export function shownSource(source: Pick<Source, 'id' | 'title' | 'publication' | 'url' | 'published_at'>, t: Referred['t']): ShownSource {
  const title = sourceTitle(source);
  const about = [source.publication ?? hostOf(source.url), source.published_at && t.formatDate(source.published_at)];
  return { href: `/sources/${source.id}`, title, about: about.filter((part) => part && part !== title).join(', ') };
}

export function sourceTitle({ title, publication, url }: Pick<Source, 'title' | 'publication' | 'url'>): string {
  return title ?? publication ?? hostOf(url);
}

/** Returns the keys of the places that values name. */
export function placeKeysIn(values: StatedValue[]): string[] {
  return [...new Set(values.filter(({ property }) => property === 'place').map(({ value }) => value as ClaimValues['place']))];
}
