import { bulkInsert, bulkInsertJson, newId, type Reader, type Tx } from 'civic';
import { chunksOf } from '../chunks.ts';
import { GAZETTEER_VERSION, KEYS, type PlaceRow } from './gazetteer.ts';
import { legalName, slugOf, squash } from './names.ts';
import type { RowBatch } from './prepared.ts';
import { stateByAbbreviation } from './states.ts';
import { zoneAt } from './zone.ts';

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

/** Replaces the gazetteer and copies the added places into it. */
export async function loadGazetteer(tx: Tx, batches: RowBatch[], progress: (done: number, total: number) => Promise<void>): Promise<void> {
  for (const table of ['directory_gazetteer', 'directory_places', 'directory_place_aliases', 'directory_zips']) await tx(table).delete();
  await bulkInsert(tx, 'directory_gazetteer', [{ version: String(GAZETTEER_VERSION), revision: newId() }]);
  const total = batches.reduce((sum, { count }) => sum + count, 0);
  let done = 0;
  for (const { table, columns, count, json } of batches) {
    await progress(done, total);
    await bulkInsertJson(tx, table, columns, json);
    done += count;
  }
  await copyOwnPlaces(tx);
  await progress(total, total);
}

/** Replaces the copies of the added places. A newer gazetteer may have a place of the same key or OCD id: the added one wins. */
export async function copyOwnPlaces(tx: Tx): Promise<void> {
  const own: OwnRow[] = await tx('directory_own_places').orderBy('key');
  await tx('directory_places').where('key', '>', KEYS.own).delete();
  for (const some of chunksOf(own)) {
    await tx('directory_places').whereIn('place_key', some.map(({ place_key: key }) => key)).delete();
    await tx('directory_places').whereIn('ocd_id', some.flatMap(({ ocd_id: id }) => id ?? [])).delete();
  }
  await bulkInsert(tx, 'directory_places', own.map(placeOfOwn));
}

/** How many added places have no copy in the gazetteer. */
export async function countMissingOwnPlaces(reader: Reader): Promise<number> {
  const copies = reader('directory_places').select('place_key').where('key', '>', KEYS.own);
  const [row] = await reader('directory_own_places').whereNotIn('place_key', copies).count({ count: '*' });
  return Number(row?.count);
}

function placeOfOwn({ key, origin: _, ...own }: OwnRow): PlaceRow {
  const plain = own.kind === 'township' ? legalName(own.name)?.plain : undefined;
  return { ...own, key: KEYS.own + key, squashed: squash(plain ?? own.name), county: countyOfOwn(own), time_zone: zoneAt(own.latitude, own.longitude) };
}

/** The county that the OCD id of an added place names. */
function countyOfOwn({ ocd_id: id, state }: OwnPlace): string | null {
  const county = id && /\/(county|parish):([^/]+)\//.exec(id);
  const region = county && state ? stateByAbbreviation(state)?.slug : undefined;
  return county && region ? `${slugOf(`${county[2]!.replaceAll('_', ' ')} ${county[1]}`)},${region}` : null;
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

/** The place with an OCD id; of a city that is a county too, the city. */
export async function placeByOcdId(reader: Reader, id: string): Promise<PlaceRow | null> {
  return await reader<PlaceRow>('directory_places').where({ ocd_id: id }).orderByRaw("case when kind = 'county' then 1 else 0 end, key").first() ?? null;
}

export async function placesByOcdIds(reader: Reader, ids: string[]): Promise<PlaceRow[]> {
  return reader<PlaceRow>('directory_places').whereIn('ocd_id', ids);
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

/** The added places of an origin with one of these OCD ids. */
export async function ownPlacesByOcdIds(reader: Reader, ids: string[], origin: string): Promise<OwnPlace[]> {
  const rows: OwnRow[] = await reader('directory_own_places').whereIn('ocd_id', ids).where({ origin });
  return rows.map(({ key: _key, origin: _origin, ...place }) => place);
}

export async function deleteOwnPlace(tx: Tx, placeKey: string): Promise<void> {
  await tx('directory_places').where({ place_key: placeKey }).where('key', '>', KEYS.own).delete();
  await tx('directory_own_places').where({ place_key: placeKey }).delete();
}

export async function deleteOwnPlaces(tx: Tx, origin: string): Promise<number> {
  const keys: number[] = await tx('directory_own_places').where({ origin }).pluck('key');
  await tx('directory_places').whereIn('key', keys.map((key) => KEYS.own + key)).delete();
  return tx('directory_own_places').where({ origin }).delete();
}

export async function markChanged(tx: Tx): Promise<void> {
  await tx('directory_gazetteer').update({ revision: newId() });
}
