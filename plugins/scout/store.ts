import type { Reader, Tx } from 'civic';

const TABLE = 'scout_syncs';

/** A part of a run that an instance has stored. */
export interface StoredPart {
  run_id: string;
  instance: string;
  part: number;
  parts: number;
  hash: string;
  /** JSON. */
  receipt: string;
  synced_at: string;
}

export async function storedParts(reader: Reader, runId: string, instance: string): Promise<StoredPart[]> {
  return reader(TABLE).where({ run_id: runId, instance }).orderBy('part').select('*');
}

export async function savePart(tx: Tx, row: StoredPart): Promise<void> {
  await tx(TABLE).insert(row).onConflict(['run_id', 'instance', 'part']).merge();
}

/** Forgets parts beyond the number that the run has now. */
export async function deletePartsAfter(tx: Tx, runId: string, instance: string, parts: number): Promise<void> {
  await tx(TABLE).where({ run_id: runId, instance }).where('part', '>', parts).delete();
}
