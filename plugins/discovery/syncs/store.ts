import type { Reader, Tx } from 'civic';
import type { RunRow } from '../runs/store.ts';

export interface PartRow {
  run_key: number;
  part: number;
  /** The hash of the body that was stored completely; while a body is being stored, the token of its requests. */
  hash: string;
  /** JSON of a `Receipt`; of null before the first body is complete. */
  receipt: string;
  synced_at: string;
}

/** Inserts a run, unless another request inserted the run of the same origin meanwhile. Returns whether it was inserted. */
export async function insertRunOnce(tx: Tx, row: Omit<RunRow, 'key'>): Promise<boolean> {
  const inserted = await tx('discovery_runs').insert(row).onConflict('origin_id').ignore().returning('key');
  return inserted.length > 0;
}

export async function runOfOrigin(reader: Reader, originId: string): Promise<RunRow | undefined> {
  return reader('discovery_runs').where({ origin_id: originId }).first('*');
}

export async function partOf(reader: Reader, runKey: number, part: number): Promise<PartRow | undefined> {
  return reader('discovery_sync_parts').where({ run_key: runKey, part }).first('*');
}

export async function savePart(tx: Tx, row: PartRow): Promise<void> {
  await tx('discovery_sync_parts').insert(row).onConflict(['run_key', 'part']).merge();
}

/** Records that the part is being stored. The receipt of an earlier body stays. */
export async function openPart(tx: Tx, row: Omit<PartRow, 'receipt'>): Promise<void> {
  await tx('discovery_sync_parts').insert({ ...row, receipt: 'null' }).onConflict(['run_key', 'part']).merge(['hash']);
}

/** Adds to the entries that syncs of a workspace stored in a month, and returns them. */
export async function addSynced(tx: Tx, workspaceId: string, month: string, amount: number): Promise<number> {
  const [row] = await tx('discovery_months').insert({ workspace_id: workspaceId, month, runs: 0, synced: amount })
    .onConflict(['workspace_id', 'month']).merge({ synced: tx.raw('coalesce(discovery_months.synced, 0) + ?', [amount]) }).returning('synced');
  return Number(row.synced);
}
