import type { Reader, Tx } from 'civic';

const TABLE = 'ingest_signals';
const AT_ONCE = 200;

/** Records that a source published signals. A later version of one keeps its position. */
export async function insertSignals(tx: Tx, sourceKey: number, ids: string[], at: string): Promise<void> {
  const rows = [...new Set(ids)].map((signal_id) => ({ source_key: sourceKey, signal_id, at }));
  for (let start = 0; start < rows.length; start += AT_ONCE) await tx(TABLE).insert(rows.slice(start, start + AT_ONCE)).onConflict(['source_key', 'signal_id']).ignore();
}

/** Returns the ids of the latest signals of a source. */
export async function latestSignals(reader: Reader, sourceKey: number, limit: number): Promise<string[]> {
  return reader(TABLE).where({ source_key: sourceKey }).orderBy('key', 'desc').limit(limit).pluck('signal_id');
}

/** Deletes up to 500 records of signals. Returns how many. */
export async function pruneSignals(tx: Tx, before: string): Promise<number> {
  return tx(TABLE).whereIn('key', tx(TABLE).where('at', '<', before).limit(500).select('key')).delete();
}
