import type { Database } from 'civic';
import { mergeIndex } from './merge-store.ts';

/** Merging goes on in steps this small, so that other writes wait no longer than for one of them. */
const PAGES = 64;

/** Brings together what single writes have left in the index in pieces. Between the steps others may write. */
export async function mergeSearch(db: Pick<Database, 'write'>, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted && await db.write((tx) => mergeIndex(tx, PAGES))) continue;
}
