import type { Signal } from 'civic/firehose';
import { createHash } from 'node:crypto';
import type { TargetScope, WatchQuery, WatchTarget } from './types.ts';

/** A place in the index by which a signal finds its watches. */
export interface WatchKey {
  subject: string;
  issue: string;
  type: string;
}

export interface IndexedTarget {
  keys: WatchKey[];
  /** What must be compared with each signal that the keys find; null when the keys decide alone. */
  compared: WatchQuery | null;
}

/** What a signal has at each level of the index. */
export interface SignalKeys {
  subjects: string[];
  issues: string[];
  types: string[];
}

const ANY = '';
/** All types of signals except those about the upkeep of the directory, such as counted sources. No type has this name. */
const CIVIC = '~civic';
/** A query with more combinations is found by fewer of its members and then compared. */
const MOST_KEYS = 64;

const NOTHING: WatchQuery = { places: [], issues: [], signal_types: [], actor_types: [], source_classes: [] };

export const placeSubject = (key: string): string => `place ${key}`;
export const entitySubject = (id: string): string => `entity ${id}`;

/** Returns where the index has a target. `scope` is that of a coverage target. In `query` domains are replaced by their issue areas. */
export function indexedTarget(target: WatchTarget, scope: TargetScope = { places: [], issues: [] }): IndexedTarget {
  if (target.type === 'query') return indexedQuery(target.query, [CIVIC]);
  if (target.type === 'entity') return { keys: [{ subject: entitySubject(target.id), issue: ANY, type: ANY }], compared: null };
  if (target.type === 'place') return { keys: [{ subject: placeSubject(target.id), issue: ANY, type: CIVIC }], compared: null };
  if (target.type === 'issue_area') return { keys: [{ subject: ANY, issue: target.id, type: CIVIC }], compared: null };
  return indexedQuery({ ...NOTHING, places: scope.places, issues: scope.issues }, [ANY]);
}

function indexedQuery(query: WatchQuery, anyTypes: string[]): IndexedTarget {
  const subjects = query.places.length > 0 ? query.places.map(placeSubject) : [ANY];
  let issues = query.issues.length > 0 ? query.issues : [ANY];
  let types = query.signal_types.length > 0 ? query.signal_types : anyTypes;
  let isExact = query.actor_types.length === 0 && query.source_classes.length === 0;
  if (subjects.length * issues.length * types.length > MOST_KEYS && query.signal_types.length > 0) [types, isExact] = [[ANY], false];
  if (subjects.length * issues.length * types.length > MOST_KEYS) [issues, isExact] = [[ANY], false];
  return {
    keys: subjects.flatMap((subject) => issues.flatMap((issue) => types.map((type) => ({ subject, issue, type })))),
    compared: isExact ? null : query,
  };
}

/** Returns what the index has under the values of a signal. A relayed signal names actors of another instance. */
export function signalKeys({ places, issues, type, actors, origin }: Signal, isCivic: boolean): SignalKeys {
  const entities = origin ? [] : actors.flatMap(({ id }) => (id === null ? [] : [entitySubject(id)]));
  return { subjects: [...new Set([ANY, ...places.map(placeSubject), ...entities])], issues: [...new Set([ANY, ...issues])], types: [ANY, type, ...(isCivic ? [CIVIC] : [])] };
}

/** Returns whether a signal meets all conditions of a query. */
export function meetsQuery(signal: Signal, query: WatchQuery): boolean {
  const meets = (wanted: string[], values: string[]) => wanted.length === 0 || values.some((value) => wanted.includes(value));
  return meets(query.places, signal.places) && meets(query.issues, signal.issues) && meets(query.signal_types, [signal.type])
    && meets(query.actor_types, signal.actors.map(({ type }) => type)) && meets(query.source_classes, [signal.source_class]);
}

/** Returns a hash that equal targets share, however their lists are ordered. */
export function targetHash(target: WatchTarget): string {
  const canonical = target.type === 'query' ? ['query', ...Object.keys(NOTHING).map((name) => target.query[name as keyof WatchQuery].toSorted())] : [target.type, target.id];
  return createHash('sha256').update(JSON.stringify(canonical)).digest('base64url');
}
