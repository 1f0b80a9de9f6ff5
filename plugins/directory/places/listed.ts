import type { Reader } from 'civic';
import type { CoveredRow } from './covered-store.ts';
import type { PlaceRow } from './gazetteer.ts';
import { placeCounts } from './listed-store.ts';

/** A place that has public actors. */
export interface ListedPlace {
  place: PlaceRow;
  actors: number;
}

/** The places that have public actors, in memory. Reads that come before they are loaded wait. */
export interface ListedPlaces {
  /** Forgets the counters of places, by number; the next read loads them again. */
  touch(places: Iterable<number>): void;
  /** Returns the places with most actors first. */
  largest(reader: Reader, limit: number): Promise<ListedPlace[]>;
  /** Returns the places whose squashed name starts with a text, those with most actors first. */
  startingWith(reader: Reader, squashed: string, limit: number): Promise<ListedPlace[]>;
  /** Returns the places nearest to another, without states. None for a place without coordinates. */
  nearest(reader: Reader, here: PlaceRow, limit: number): Promise<ListedPlace[]>;
  /** Returns how many actors places have, by number; 0 for places without. */
  count(reader: Reader, place: number): Promise<number>;
  size(reader: Reader): Promise<number>;
}

export function createListedPlaces(): ListedPlaces {
  const listed = new Map<number, ListedPlace>();
  let loading: Promise<void> | null = null;
  let touched = new Set<number>();
  // Derived from `listed`, until that changes.
  let byName: ListedPlace[] | null = null;

  function put(places: Iterable<number>, rows: CoveredRow[]): void {
    for (const place of places) listed.delete(place);
    for (const { actors, ...place } of rows) listed.set(place.key, { place, actors });
    byName = null;
  }

  async function load(reader: Reader): Promise<void> {
    put([], await placeCounts(reader, 'all'));
  }

  async function upToDate(reader: Reader): Promise<void> {
    loading ??= load(reader).catch((error: unknown) => {
      loading = null;
      throw error;
    });
    await loading;
    if (touched.size === 0) return;
    const places = touched;
    touched = new Set();
    try {
      put(places, await placeCounts(reader, [...places]));
    } catch (error) {
      for (const place of places) touched.add(place);
      throw error;
    }
  }

  return {
    touch(places) { for (const place of places) touched.add(place); },
    async largest(reader, limit) {
      await upToDate(reader);
      return firstOf(listed.values(), limit, byActors);
    },
    async startingWith(reader, squashed, limit) {
      await upToDate(reader);
      byName ??= [...listed.values()].sort((a, b) => (a.place.squashed < b.place.squashed ? -1 : 1));
      const found: ListedPlace[] = [];
      for (let at = firstFrom(byName, squashed); at < byName.length && byName[at]!.place.squashed.startsWith(squashed); at++) found.push(byName[at]!);
      return found.sort(byActors).slice(0, limit);
    },
    async nearest(reader, here, limit) {
      await upToDate(reader);
      return nearestOf(listed.values(), here, limit);
    },
    async count(reader, place) {
      await upToDate(reader);
      return listed.get(place)?.actors ?? 0;
    },
    async size(reader) {
      await upToDate(reader);
      return listed.size;
    },
  };
}

/** Goes through all places: of thirty thousand that takes one to two milliseconds. */
function nearestOf(places: Iterable<ListedPlace>, here: PlaceRow, limit: number): ListedPlace[] {
  const { latitude, longitude } = here;
  if (latitude === null || longitude === null) return [];
  const stretch = Math.max(0.1, Math.cos((latitude * Math.PI) / 180));
  const near: { one: ListedPlace; distance: number }[] = [];
  for (const one of places) {
    const { place } = one;
    if (place.latitude === null || place.longitude === null || place.key === here.key || place.kind === 'state' || place.kind === 'territory') continue;
    near.push({ one, distance: (place.latitude - latitude) ** 2 + ((place.longitude - longitude) * stretch) ** 2 });
  }
  return firstOf(near, limit, (a, b) => a.distance - b.distance || a.one.place.key - b.one.place.key).map(({ one }) => one);
}

/** Returns the first items of an order, without sorting the others. */
function firstOf<T>(items: Iterable<T>, limit: number, compare: (a: T, b: T) => number): T[] {
  const first: T[] = [];
  for (const item of items) {
    if (first.length === limit && compare(item, first[limit - 1]!) >= 0) continue;
    const at = first.findIndex((other) => compare(item, other) < 0);
    first.splice(at < 0 ? first.length : at, 0, item);
    if (first.length > limit) first.pop();
  }
  return first;
}

function byActors(a: ListedPlace, b: ListedPlace): number {
  return b.actors - a.actors || (a.place.place_key < b.place.place_key ? -1 : 1);
}

/** The index of the first place whose squashed name is not before a text. */
function firstFrom(places: ListedPlace[], squashed: string): number {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle]!.place.squashed < squashed) low = middle + 1;
    else high = middle;
  }
  return low;
}
