import { bulkInsert, newId, type Reader, type Tx } from 'civic';
import { GAZETTEER_VERSION, KEYS, type Gazetteer, type PlaceRow } from './gazetteer.ts';
import { squash } from './names.ts';

/** A place somebody adds. */
export interface OwnPlace {
  place_key: string;
  name: string;
  state: string | null;
  admin1: string | null;
  country: string;
  kind: string;
  latitude: number | null;
  longitude: number | null;
  population: number | null;
  ocd_id: string | null;
}

type OwnRow = OwnPlace & { key: number; origin: string };

/** Which data is loaded, and a mark that changes with every change; null while none is. */
export async function loadedGazetteer(reader: Reader): Promise<{ version: string; revision: string } | null> {
  return await reader('directory_gazetteer').first('version', 'revision') ?? null;
}

/** Replaces what is loaded, unless somebody else just did. */
export async function loadGazetteer(tx: Tx, gazetteer: Gazetteer): Promise<void> {
  if ((await loadedGazetteer(tx))?.version === GAZETTEER_VERSION) return;
  for (const table of ['directory_gazetteer', 'directory_places', 'directory_place_aliases', 'directory_zips']) await tx(table).delete();
  // Of two nodes that start at once, the second waits here and finds the work done.
  await bulkInsert(tx, 'directory_gazetteer', [{ version: GAZETTEER_VERSION, revision: newId() }]);
  await bulkInsert(tx, 'directory_places', gazetteer.places);
  await bulkInsert(tx, 'directory_place_aliases', gazetteer.aliases);
  await bulkInsert(tx, 'directory_zips', gazetteer.zips);
  const own: OwnRow[] = await tx('directory_own_places').orderBy('key');
  // A newer gazetteer may have come to know a place that somebody had added: theirs is kept.
  if (own.length > 0) await tx('directory_places').whereIn('place_key', own.map((row) => row.place_key)).delete();
  await bulkInsert(tx, 'directory_places', own.map(placeOfOwn));
}

function placeOfOwn({ key, origin: _, ...own }: OwnRow): PlaceRow {
  return { ...own, key: KEYS.own + key, squashed: squash(own.name) };
}

export async function countPlaces(reader: Reader): Promise<number> {
  const [row] = await reader('directory_places').count({ count: '*' });
  return Number(row?.count);
}

export async function placesByKeys(reader: Reader, placeKeys: string[]): Promise<PlaceRow[]> {
  return reader<PlaceRow>('directory_places').whereIn('place_key', placeKeys);
}

export async function placesByNumbers(reader: Reader, keys: number[]): Promise<PlaceRow[]> {
  return reader<PlaceRow>('directory_places').whereIn('key', keys);
}

export interface Region {
  state?: string | null;
  country?: string;
  admin1?: string;
}

/** Places of one of these squashed names, largest first. */
export async function placesByName(reader: Reader, squashed: string[], region: Region = {}): Promise<PlaceRow[]> {
  return reader<PlaceRow>('directory_places').whereIn('squashed', squashed).where(regionOf(region)).orderByRaw('coalesce(population, 0) desc, key').limit(200);
}

/** Places whose squashed name begins with this, largest first. */
export async function placesByPrefix(reader: Reader, prefix: string, region: Region, limit: number): Promise<PlaceRow[]> {
  return reader<PlaceRow>('directory_places').where('squashed', '>=', prefix).where('squashed', '<', `${prefix}\u{10ffff}`).where(regionOf(region))
    .orderByRaw('coalesce(population, 0) desc, key').limit(limit);
}

function regionOf(region: Region): Record<string, string | null> {
  return Object.fromEntries(Object.entries(region).filter(([, value]) => value !== undefined));
}

/** The city that a name of the post office is a part of. */
export async function placeByAlias(reader: Reader, squashed: string, state: string): Promise<PlaceRow | null> {
  const alias = reader('directory_place_aliases').select('place').where({ squashed, state });
  return await reader<PlaceRow>('directory_places').whereIn('key', alias).first() ?? null;
}

export async function placeByZip(reader: Reader, zip: number): Promise<PlaceRow | null> {
  return await reader<PlaceRow>('directory_places').whereIn('key', reader('directory_zips').select('place').where({ zip })).first() ?? null;
}

/** What was added to the data of the kit, with whom it came from. */
export async function addedPlaces(reader: Reader): Promise<(OwnPlace & { origin: string })[]> {
  const rows: OwnRow[] = await reader('directory_own_places').orderBy('place_key');
  return rows.map(({ key: _, ...place }) => place);
}

/** Adds a place, or changes it when this origin added it earlier. */
export async function putOwnPlace(tx: Tx, place: OwnPlace, origin: string): Promise<void> {
  const [known] = await placesByKeys(tx, [place.place_key]);
  const own: OwnRow | undefined = await tx('directory_own_places').where({ place_key: place.place_key }).first();
  if (known && own?.origin !== origin) throw new Error(`The gazetteer has a place ${place.place_key} already`);
  if (own) await tx('directory_own_places').where({ key: own.key }).update(place);
  else await tx('directory_own_places').insert({ ...place, origin });
  const row: OwnRow = await tx('directory_own_places').where({ place_key: place.place_key }).first();
  await tx('directory_places').where({ key: KEYS.own + row.key }).delete();
  await tx('directory_places').insert(placeOfOwn(row));
}

export async function deleteOwnPlaces(tx: Tx, origin: string): Promise<number> {
  const keys: number[] = await tx('directory_own_places').where({ origin }).pluck('key');
  await tx('directory_places').whereIn('key', keys.map((key) => KEYS.own + key)).delete();
  return tx('directory_own_places').where({ origin }).delete();
}

export async function markChanged(tx: Tx): Promise<void> {
  await tx('directory_gazetteer').update({ revision: newId() });
}

/** All places of the US but the states, for measuring. */
export async function americanPlaces(reader: Reader): Promise<PlaceRow[]> {
  return reader<PlaceRow>('directory_places').where({ country: 'US' }).whereNotIn('kind', ['state', 'territory', 'district']);
}
