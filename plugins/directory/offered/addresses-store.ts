import type { Reader } from 'civic';
import type { Address } from './addresses.ts';

export async function lastActorKey(reader: Reader): Promise<number> {
  const row = await reader('directory_actors').max({ key: 'key' }).first();
  return Number(row?.key ?? -1);
}

const publicActors = (reader: Reader, from: number, before: number) => reader('directory_actors').where('key', '>=', from).where('key', '<', before).where({ visibility: 'public' });

export async function hasPublicActors(reader: Reader, from: number, before: number): Promise<boolean> {
  return await publicActors(reader, from, before).first('key') !== undefined;
}

export async function changedActors(reader: Reader, from: number, before: number): Promise<Address[]> {
  return publicActors(reader, from, before).orderBy('key').select('id', 'updated_at');
}

const covered = (reader: Reader) => reader('directory_counts').where({ issue_area: '', type: '' }).where('actors', '>', 0);

export async function countAllCovered(reader: Reader): Promise<number> {
  const [row] = await covered(reader).count({ count: '*' });
  return Number(row?.count);
}

/** The latest change of a place is the first in an index of its listings. */
export async function changedPlaces(reader: Reader, offset: number, limit: number): Promise<Address[]> {
  const latest = reader('directory_listings').max('updated_at').whereRaw('directory_listings.place = page.place').whereNull('workspace_id').as('updated_at');
  return reader(covered(reader).orderBy('place').offset(offset).limit(limit).select('place').as('page'))
    .join('directory_places', 'directory_places.key', 'page.place').orderBy('page.place').select({ id: 'place_key' }, latest);
}
