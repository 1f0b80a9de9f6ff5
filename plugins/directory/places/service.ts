import type { Reader, Tx } from 'civic';
import { chunksOf } from '../chunks.ts';
import { countryName } from './abroad.ts';
import { KEYS, type PlaceRow } from './gazetteer.ts';
import { keyCandidates, slugOfPlace } from './keys.ts';
import { slugOf } from './names.ts';
import { displayName, resolvePlace, type Candidate, type ResolveOptions } from './resolve.ts';
import type { Place } from './schemas.ts';
import { stateByAbbreviation } from './states.ts';
import { deleteOwnPlaces, loadedGazetteer, markChanged, placesByKeys, placesByNumbers, putOwnPlace, type OwnPlace } from './store.ts';

export type { Candidate, OwnPlace, Place, PlaceRow, ResolveOptions };

/** What the rest of the kit asks of the gazetteer. */
export interface Places {
  /** By key, slug, OCD id or a synonym of one. */
  byKey(reader: Reader, text: string): Promise<PlaceRow | null>;
  /** By canonical keys; those that are no place are left out. */
  byKeys(reader: Reader, placeKeys: string[]): Promise<Map<string, PlaceRow>>;
  byNumbers(reader: Reader, keys: number[]): Promise<Map<number, PlaceRow>>;
  /** What a free text may mean, likeliest first. */
  resolve(reader: Reader, text: string, options?: ResolveOptions): Promise<Candidate[]>;
  /** As it is answered. */
  recordOf(place: PlaceRow): Place;
  /** Changes with every change of the gazetteer; for ETags. */
  revision(reader: Reader): Promise<string>;
  /** Adds places, or changes those this origin added earlier. Refuses the key of another's. */
  add(tx: Tx, places: OwnPlaceDraft[], origin: string): Promise<void>;
  /** Takes away what this origin added, and answers how many. */
  removeOrigin(tx: Tx, origin: string): Promise<number>;
}

/** Without a key it gets the one that the rules give it. */
export type OwnPlaceDraft = Pick<OwnPlace, 'name'> & Partial<OwnPlace>;

const MOST_KEPT = 5000;

export function createPlaces(url: (path: string) => string): Places {
  const byPlaceKey = createCache<string>();
  const byNumber = createCache<number>();

  async function cached<Key extends string | number>(cache: Cache<Key>, keys: Key[], field: 'place_key' | 'key', load: (missing: Key[]) => Promise<PlaceRow[]>): Promise<Map<Key, PlaceRow>> {
    const found = new Map<Key, PlaceRow>();
    for (const key of keys) {
      const row = cache.get(key);
      if (row) found.set(key, row);
    }
    const missing = [...new Set(keys)].filter((key) => !found.has(key));
    for (const some of chunksOf(missing)) {
      for (const row of await load(some)) {
        found.set(row[field] as Key, row);
        // What somebody added may go again, in this transaction or on another node.
        if (row.key < KEYS.own) cache.put(row[field] as Key, row);
      }
    }
    return found;
  }

  /** Kept under its canonical key, unless somebody added it: that may go again. */
  function known(place: PlaceRow | null): PlaceRow | null {
    if (place && place.key < KEYS.own) byPlaceKey.put(place.place_key, place);
    return place;
  }

  return {
    byKey: async (reader, text) => byPlaceKey.get(text) ?? known(await keyCandidates(reader, text)),
    byKeys: (reader, placeKeys) => cached(byPlaceKey, placeKeys, 'place_key', (missing) => placesByKeys(reader, missing)),
    byNumbers: (reader, keys) => cached(byNumber, keys, 'key', (missing) => placesByNumbers(reader, missing)),
    resolve: resolvePlace,
    recordOf: (place) => recordOf(place, url),
    revision: async (reader) => (await loadedGazetteer(reader))?.revision ?? '0',
    async add(tx, places, origin) {
      for (const place of places) await putOwnPlace(tx, ownPlace(place), origin);
      await markChanged(tx);
    },
    async removeOrigin(tx, origin) {
      const count = await deleteOwnPlaces(tx, origin);
      await markChanged(tx);
      return count;
    },
  };
}

interface Cache<Key> {
  get(key: Key): PlaceRow | undefined;
  put(key: Key, row: PlaceRow): void;
}

/** The oldest goes first. */
function createCache<Key>(): Cache<Key> {
  const rows = new Map<Key, PlaceRow>();
  return {
    get: (key) => rows.get(key),
    put(key, row) {
      if (rows.size >= MOST_KEPT) rows.delete(rows.keys().next().value!);
      rows.set(key, row);
    },
  };
}

function ownPlace(draft: OwnPlaceDraft): OwnPlace {
  const { name, state = null, admin1 = null, country = 'US' } = draft;
  const region = (state && stateByAbbreviation(state)?.slug) ?? slugOf(admin1 ?? countryName(country));
  return { place_key: `${slugOf(name)},${region}`, kind: 'city', latitude: null, longitude: null, population: null, ocd_id: null, ...draft, state, admin1, country };
}

function recordOf(place: PlaceRow, url: (path: string) => string): Place {
  const { place_key, name, county, country, kind, latitude, longitude, population, time_zone, ocd_id } = place;
  const state = place.state === null ? null : stateByAbbreviation(place.state);
  return {
    place_key,
    slug: slugOfPlace(place),
    name,
    state: state && { name: state.name, abbreviation: state.abbreviation, slug: state.slug },
    county,
    country,
    kind,
    latitude,
    longitude,
    population,
    time_zone,
    ocd_id,
    display_name: displayName(place),
    url: url(`/api/places/${place_key}`),
  };
}
