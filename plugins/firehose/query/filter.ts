import { NEVER, type QueryFields } from '../log/fields.ts';
import type { Entry, Version } from '../log/log.ts';
import type { Query } from '../types.ts';
import type { Audience } from './visibility.ts';

/** A query in the form it is compared in; an empty set asks nothing. */
export interface Filter {
  places: ReadonlySet<string>;
  issues: ReadonlySet<string>;
  actorTypes: ReadonlySet<string>;
  types: ReadonlySet<string>;
  classes: ReadonlySet<string>;
  /** Signals that have one of these types and one of these classes are left out. */
  except: { types: ReadonlySet<string>; classes: ReadonlySet<string> } | null;
  audiences: readonly Audience[];
  /** Milliseconds: from, inclusive, and to, exclusive. */
  since: number;
  until: number;
  /** Which time the bounds are about. */
  time: 'detected' | 'occurred';
}

export interface FilterTerms {
  places: string[];
  /** With domains replaced by their issue areas. */
  issues: string[];
  audiences: Audience[];
}

export function filterOf(query: Query, { places, issues, audiences }: FilterTerms): Filter {
  return {
    places: new Set(places),
    issues: new Set(issues),
    actorTypes: new Set(query.actor_types),
    types: new Set(query.signal_types),
    classes: new Set(query.source_classes),
    except: null,
    audiences,
    ...(query.sort === 'occurred_at_desc' ? occurredBounds(query) : detectedBounds(query)),
  };
}

type Bounds = Pick<Filter, 'since' | 'until' | 'time'>;

export function detectedBounds({ since, until }: Pick<Query, 'since' | 'until'>): Bounds {
  return { since: since === null ? -Infinity : Date.parse(since), until: until === null ? Infinity : Date.parse(until), time: 'detected' };
}

/** A signal without a time of occurrence is outside every bound, an upper one alone too. */
function occurredBounds(query: Pick<Query, 'since' | 'until'>): Bounds {
  const bounds = detectedBounds(query);
  return { ...bounds, time: 'occurred', since: bounds.until < Infinity ? Math.max(bounds.since, NEVER + 1) : bounds.since };
}

const asksNothingOrHas = (wanted: ReadonlySet<string>, value: string): boolean => wanted.size === 0 || wanted.has(value);
const asksNothingOrHasAny = (wanted: ReadonlySet<string>, values: string[]): boolean => wanted.size === 0 || values.some((value) => wanted.has(value));

/** Whether a version of a signal is for whoever asks this. The one decision that every path to a signal takes. */
export function matches(fields: QueryFields, filter: Filter): boolean {
  return filter.audiences.includes(fields.audience)
    && isWithin(fields[filter.time], filter)
    && asksNothingOrHas(filter.types, fields.type)
    && !isLeftOut(fields, filter)
    && asksNothingOrHas(filter.classes, fields.source_class)
    && asksNothingOrHasAny(filter.places, fields.places)
    && asksNothingOrHasAny(filter.issues, fields.issues)
    && asksNothingOrHasAny(filter.actorTypes, fields.actor_types);
}

export function isLeftOut({ type, source_class: sourceClass }: Pick<QueryFields, 'type' | 'source_class'>, { except }: Pick<Filter, 'except'>): boolean {
  return except !== null && except.types.has(type) && except.classes.has(sourceClass);
}

export function isWithin(time: number, { since, until }: Pick<Filter, 'since' | 'until'>): boolean {
  return time >= since && time < until;
}

/** What a line of the log is to whoever asks. */
export interface Delivery {
  seq: number;
  version: Version;
  /** They saw this version and may not see what became of it. */
  isRetracted: boolean;
}

export function deliveryOf({ seq, now, before }: Entry, filter: Filter): Delivery | null {
  if (now && matches(now.fields, filter)) return { seq, version: now, isRetracted: false };
  if (before && matches(before.fields, filter)) return { seq, version: before, isRetracted: true };
  return null;
}
