import type { FetchHop, Reader, Tx } from 'civic';
import type { ReadOutcome, ReadReason } from './types.ts';

const TABLE = 'reader_fetches';

export interface FetchRow {
  key: number;
  id: string;
  url: string;
  host: string;
  purpose: string;
  at: string;
  outcome: ReadOutcome;
  reason: ReadReason | null;
  detail: string | null;
  status: number | null;
  bytes: number;
  milliseconds: number;
  via: 'http' | 'browser';
  hops: string;
  content_hash: string | null;
}

export type NewFetch = Omit<FetchRow, 'key' | 'hops'> & { hops: FetchHop[] };

export async function insertFetch(tx: Tx, { hops, ...row }: NewFetch): Promise<void> {
  await tx(TABLE).insert({ ...row, hops: JSON.stringify(hops) });
}

export async function latestFetches(reader: Reader, limit: number): Promise<FetchRow[]> {
  return reader(TABLE).orderBy('key', 'desc').limit(limit).select('*');
}

/** Deletes up to 500 records. Returns how many. */
export async function pruneFetches(tx: Tx, before: string): Promise<number> {
  return tx(TABLE).whereIn('key', tx(TABLE).where('at', '<', before).limit(500).select('key')).delete();
}
