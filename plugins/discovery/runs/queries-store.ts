import type { Reader, Tx } from 'civic';
import { endedBefore } from './store.ts';

const TABLE = 'discovery_queries';

/** Why a search engine returned nothing for a query. */
export interface SearchFault {
  engine: string;
  detail: string;
}

export interface QueryRow {
  key: number;
  run_key: number;
  query: string;
  is_asked: 0 | 1;
  /** JSON of `SearchFault[]`. */
  faults: string;
}

export async function addQueries(tx: Tx, runKey: number, queries: string[]): Promise<void> {
  if (queries.length > 0) await tx(TABLE).insert(queries.map((query) => ({ run_key: runKey, query, is_asked: false, faults: '[]' }))).onConflict(['run_key', 'query']).ignore();
}

export async function queriesOf(reader: Reader, runKey: number): Promise<QueryRow[]> {
  return reader(TABLE).where({ run_key: runKey }).orderBy('key').select('*');
}

export async function setAsked(tx: Tx, key: number, faults: SearchFault[]): Promise<void> {
  await tx(TABLE).where({ key }).update({ is_asked: true, faults: JSON.stringify(faults) });
}

/** Deletes up to 500 queries of runs that ended before a time. Returns how many. */
export async function pruneQueries(tx: Tx, before: string): Promise<number> {
  return tx(TABLE).whereIn('key', tx(TABLE).whereIn('run_key', endedBefore(tx, before)).limit(500).select('key')).delete();
}
