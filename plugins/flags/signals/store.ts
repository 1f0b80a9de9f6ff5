import type { Tx } from 'civic';
import type { FlagRow } from '../store.ts';
import type { TargetType } from '../types.ts';

/** SQLite and Postgres limit the number of values in a statement. */
const AT_ONCE = 1000;

async function inChunks<Row>(ids: string[], read: (some: string[]) => Promise<Row[]>): Promise<Row[]> {
  const rows: Row[] = [];
  for (let from = 0; from < ids.length; from += AT_ONCE) rows.push(...await read(ids.slice(from, from + AT_ONCE)));
  return rows;
}

/** Returns the ids of the signals about resolved flags of these targets, and removes the ids from the flags. */
export async function takeSignals(tx: Tx, type: TargetType, targetIds: string[]): Promise<string[]> {
  return inChunks(targetIds, async (some) => {
    const flags: Pick<FlagRow, 'key' | 'signal_id'>[] = await tx('flags_flags').where({ target_type: type }).whereIn('target_id', some).whereNotNull('signal_id').select('key', 'signal_id');
    if (flags.length > 0) await tx('flags_flags').whereIn('key', flags.map(({ key }) => key)).update({ signal_id: null });
    return flags.map(({ signal_id }) => signal_id!);
  });
}

/** Stores which actors cite the source of a flag that has a signal. */
export async function putSignalActors(tx: Tx, flagKey: number, actorIds: string[]): Promise<void> {
  await tx('flags_signal_actors').where({ flag_key: flagKey }).delete();
  if (actorIds.length > 0) await tx('flags_signal_actors').insert(actorIds.map((actor_id) => ({ actor_id, flag_key: flagKey })));
}

/** Returns the flags of sources with a signal that one of these actors cited when it was last checked. */
export async function sourceFlagsOfActors(tx: Tx, actorIds: string[]): Promise<FlagRow[]> {
  const rows = await inChunks<FlagRow>(actorIds, (some) => tx('flags_flags').whereNotNull('signal_id').whereIn('key', tx('flags_signal_actors').whereIn('actor_id', some).select('flag_key')));
  return [...new Map(rows.map((row) => [row.key, row])).values()];
}
