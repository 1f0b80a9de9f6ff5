import type { Reader, Tx } from 'civic';
import type { Read } from './types.ts';

const TABLE = 'reader_fetches';

export interface NewFetch extends Pick<Read, 'id' | 'url' | 'at' | 'outcome' | 'reason' | 'detail' | 'status' | 'bytes' | 'milliseconds' | 'via' | 'hops'> {
  host: string;
  purpose: string;
  content_hash: string | null;
}

export async function insertFetch(tx: Tx, { hops, ...row }: NewFetch): Promise<void> {
  await tx(TABLE).insert({ ...row, hops: JSON.stringify(hops) });
}

/** Returns the last attempt at an address since a time. */
export async function lastFetch(reader: Reader, url: string, since: string): Promise<NewFetch | undefined> {
  const row = await reader(TABLE).where({ url }).where('at', '>=', since).orderBy('key', 'desc').first('*');
  return row && { ...row, hops: JSON.parse(row.hops) as NewFetch['hops'] };
}

/** Deletes up to 500 records. Returns how many. */
export async function pruneFetches(tx: Tx, before: string): Promise<number> {
  return tx(TABLE).whereIn('key', tx(TABLE).where('at', '<', before).limit(500).select('key')).delete();
}
