import type { Database, Reader, Tx } from '../database/types.ts';
import type { Head } from '../sequence.ts';

/** How far a plugin has come in the log, and what holds it up. */
export interface Position {
  plugin: string;
  /** The last event that was delivered, or that is of no concern to the plugin. */
  seq: number;
  /** How often the event at `failed_seq` has failed. */
  attempts: number;
  failed_seq: number | null;
  error: string | null;
  retry_at: string | null;
  stopped_at: string | null;
  /** Since when the plugin is switched off; its position no longer counts. */
  off_at: string | null;
  /** It missed events, and has not finished a start since. */
  must_rebuild: 0 | 1;
}

const TABLE = 'core_event_positions';
const HEALTHY = { attempts: 0, failed_seq: null, error: null, retry_at: null, stopped_at: null };

export async function allPositions(reader: Reader): Promise<Position[]> {
  return reader(TABLE).select('*').orderBy('plugin');
}

/** The position of a plugin, held until the transaction ends; nothing when another node holds it. */
export async function freePosition(db: Database, tx: Tx, plugin: string): Promise<Position | undefined> {
  const query = tx(TABLE).where({ plugin });
  if (db.dialect === 'postgres') query.forUpdate().skipLocked();
  return query.first('*');
}

/** The same, but waits until the other node is done. */
export async function heldPosition(db: Database, tx: Tx, plugin: string): Promise<Position | undefined> {
  const query = tx(TABLE).where({ plugin });
  if (db.dialect === 'postgres') query.forUpdate();
  return query.first('*');
}

export async function movePosition(tx: Tx, plugin: string, seq: number): Promise<void> {
  await tx(TABLE).where({ plugin }).update({ ...HEALTHY, seq, off_at: null });
}

export async function saveFailure(tx: Tx, plugin: string, failure: Pick<Position, 'attempts' | 'failed_seq' | 'error' | 'retry_at' | 'stopped_at'>): Promise<void> {
  await tx(TABLE).where({ plugin }).update(failure);
}

/** A node that lacks the plugin has marked it as off, but here it runs. */
export async function keepOn(tx: Tx, plugin: string): Promise<void> {
  await tx(TABLE).where({ plugin }).update({ off_at: null });
}

export async function finishRebuild(tx: Tx, plugins: string[]): Promise<void> {
  await tx(TABLE).whereIn('plugin', plugins).update({ must_rebuild: false });
}

/**
 * Makes the positions fit the plugins that listen. One that is new, was off, or whose events were pruned while it was
 * stopped begins at the head: it has missed events and must rebuild through services. Others go on where they were.
 * A plugin that is off keeps its row, marked, so that it does not hold back pruning; it is not deleted, since during
 * a change of configuration another node may still run it. Answers who must rebuild.
 */
export async function fitPositions(tx: Tx, plugins: string[], head: Head, now: string): Promise<string[]> {
  for (const plugin of plugins) {
    await tx(TABLE).insert({ ...HEALTHY, plugin, seq: head.last_seq, off_at: null, must_rebuild: true }).onConflict('plugin').ignore();
  }
  await tx(TABLE).whereIn('plugin', plugins)
    .where((missed) => missed.whereNotNull('off_at').orWhere('seq', '<', head.floor_seq))
    .update({ ...HEALTHY, seq: head.last_seq, off_at: null, must_rebuild: true });
  await tx(TABLE).whereNotIn('plugin', plugins).whereNull('off_at').update({ off_at: now });
  return tx(TABLE).whereIn('plugin', plugins).where('must_rebuild', true).orderBy('plugin').pluck('plugin');
}
