import type { QueryFields } from '../log/fields.ts';
import type { Entry } from '../log/log.ts';
import { isLeftOut, isWithin, matches, type Delivery, type Filter } from './filter.ts';
import type { Audience } from './visibility.ts';

/** Finds which of many filters a line of the log is for, without asking each. */
export interface Matcher<Target> {
  add(filter: Filter, target: Target): Place<Target>;
  remove(place: Place<Target>): void;
  /** Calls back once for each target whose filter the line is for. */
  match(entry: Entry, hit: Hit<Target>): void;
  size(): number;
}

type Hit<Target> = (target: Target, delivery: Delivery) => void;

/** A filter's place in the index. */
export interface Place<Target> {
  target: Target;
  filter: Filter;
  keys: [place: string, issue: string, type: string][];
  /** Whether being found by a key says all about places, issues and types. */
  isExact: boolean;
  /** Whether it says all there is to ask of a public signal: most filters, so nothing else of them is looked at. */
  isPlain: boolean;
  /** The last line that found it, so that none finds it twice. */
  stamp: number;
}

type Leaf<Target> = Place<Target>[];
type Index<Target> = Map<string, Map<string, Map<string, Leaf<Target>>>>;

/** No name of anything: those have at least one letter, and a star may be one. */
const ANY = '';
const ANYTHING = [ANY];
const PUBLIC: Audience = 'public';
/** A filter of more combinations than this is found by fewer of its members and then compared. */
const MOST_KEYS = 64;

/**
 * Filters lie in a tree by place, issue and type, each under every combination of its values, `ANY` where it asks nothing.
 * A line looks under its own values and under `ANY`, which are a handful, however many filters there are.
 */
export function createMatcher<Target>(): Matcher<Target> {
  const index: Index<Target> = new Map();
  let count = 0;
  let stamp = 0;

  function find(delivery: Delivery, hit: Hit<Target>): void {
    const { fields } = delivery.version;
    for (const byIssue of found(index, fields.places)) {
      for (const byType of found(byIssue, fields.issues)) {
        collect(byType.get(fields.type), delivery, hit);
        collect(byType.get(ANY), delivery, hit);
      }
    }
  }

  function collect(leaf: Leaf<Target> | undefined, delivery: Delivery, hit: Hit<Target>): void {
    if (!leaf) return;
    const { fields } = delivery.version;
    const isPublic = fields.audience === PUBLIC;
    for (const place of leaf) {
      if (place.stamp === stamp) continue;
      if (!(isPublic && place.isPlain) && !(place.isExact ? matchesRest(fields, place.filter) : matches(fields, place.filter))) continue;
      place.stamp = stamp;
      hit(place.target, delivery);
    }
  }

  return {
    add(filter, target) {
      const { keys, isExact } = keysOf(filter);
      const place: Place<Target> = { target, filter, keys, isExact, isPlain: isExact && asksNoMore(filter), stamp: 0 };
      for (const key of place.keys) leafAt(index, key).push(place);
      count++;
      return place;
    },
    remove(place) {
      for (const key of place.keys) removeFrom(index, key, place);
      count--;
    },
    match({ seq, now, before }, hit) {
      stamp++;
      if (now) find({ seq, version: now, isRetracted: false }, hit);
      // Those that are not stamped by now saw the version before and may not see this one.
      if (before) find({ seq, version: before, isRetracted: true }, hit);
    },
    size: () => count,
  };
}

function found<Next>(branch: Map<string, Next>, values: string[]): Next[] {
  const next: Next[] = [];
  const any = branch.get(ANY);
  if (any) next.push(any);
  for (const value of values) {
    const one = branch.get(value);
    if (one) next.push(one);
  }
  return next;
}

/** Whether a public signal that has its places, issues and types is for it. */
function asksNoMore({ audiences, classes, actorTypes, except, since, until }: Filter): boolean {
  return audiences.includes(PUBLIC) && classes.size === 0 && actorTypes.size === 0 && except === null && since === -Infinity && until === Infinity;
}

/** What the index does not know of. */
function matchesRest(fields: QueryFields, filter: Filter): boolean {
  return filter.audiences.includes(fields.audience)
    && isWithin(fields[filter.time], filter)
    && !isLeftOut(fields, filter)
    && (filter.classes.size === 0 || filter.classes.has(fields.source_class))
    && (filter.actorTypes.size === 0 || fields.actor_types.some((type) => filter.actorTypes.has(type)));
}

function keysOf({ places, issues, types }: Filter): Pick<Place<unknown>, 'keys' | 'isExact'> {
  const wanted = [places, issues, types].map((set) => (set.size === 0 ? ANYTHING : [...set]));
  let isExact = true;
  // Types are few and issues not many, so places tell most.
  for (const dimension of [2, 1]) {
    if (wanted.reduce((product, values) => product * values.length, 1) <= MOST_KEYS) break;
    wanted[dimension] = ANYTHING;
    isExact = false;
  }
  const [byPlace, byIssue, byType] = wanted as [string[], string[], string[]];
  return { isExact, keys: byPlace.flatMap((place) => byIssue.flatMap((issue) => byType.map((type): [string, string, string] => [place, issue, type]))) };
}

function leafAt<Target>(index: Index<Target>, [place, issue, type]: [string, string, string]): Leaf<Target> {
  const byIssue = index.get(place) ?? setIn(index, place, new Map<string, Map<string, Leaf<Target>>>());
  const byType = byIssue.get(issue) ?? setIn(byIssue, issue, new Map<string, Leaf<Target>>());
  return byType.get(type) ?? setIn(byType, type, []);
}

function setIn<Value>(map: Map<string, Value>, key: string, value: Value): Value {
  map.set(key, value);
  return value;
}

function removeFrom<Target>(index: Index<Target>, [place, issue, type]: [string, string, string], gone: Place<Target>): void {
  const byIssue = index.get(place)!;
  const byType = byIssue.get(issue)!;
  const leaf = byType.get(type)!;
  leaf.splice(leaf.indexOf(gone), 1);
  if (leaf.length === 0) byType.delete(type);
  if (byType.size === 0) byIssue.delete(issue);
  if (byIssue.size === 0) index.delete(place);
}
