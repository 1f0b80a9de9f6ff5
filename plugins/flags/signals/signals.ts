import type { Civic, Tx } from 'civic';
import type { ActorsChanged, DirectoryService } from 'civic/directory';
import { updateFlag, type FlagRow } from '../store.ts';
import { resolvedSignal } from './draft.ts';
import { putSignalActors, sourceFlagsOfActors, takeSignals } from './store.ts';

/** The signals that announce resolved flags. Without the plugin firehose there are none. */
export interface Signals {
  /** Publishes the signal of a resolved flag, unless its target is no longer public. `targetId` is the target after the correction. */
  publish(tx: Tx, flag: FlagRow, targetId: string): Promise<void>;
  /** Withdraws the signal of a flag that is reopened or whose decision is undone. */
  withdraw(tx: Tx, signalId: string): Promise<void>;
  /** Withdraws the signals about deleted actors, and about sources that no public actor cites any more. */
  followActors(tx: Tx, changes: ActorsChanged['actors']): Promise<void>;
}

export function createSignals(civic: Pick<Civic, 'serviceIfOn'>, directory: DirectoryService): Signals {
  const firehose = civic.serviceIfOn('firehose');

  /** Stores which actors cite the source of a flag now. Returns whether the source is still public. */
  async function refreshSource(tx: Tx, flag: FlagRow): Promise<boolean> {
    const source = await directory.source(tx, flag.target_id);
    await putSignalActors(tx, flag.key, source?.entity_ids ?? []);
    return source !== null;
  }

  return {
    async publish(tx, flag, targetId) {
      const draft = firehose && await resolvedSignal(directory, tx, { ...flag, target_id: targetId });
      if (!draft) return;
      const [signal_id] = await firehose.publish(tx, [draft]);
      await updateFlag(tx, flag.key, { signal_id });
      if (flag.target_type === 'source') await refreshSource(tx, flag);
    },
    async withdraw(tx, signalId) {
      await firehose?.withdraw(tx, [signalId]);
    },
    async followActors(tx, changes) {
      const deleted = changes.filter(({ change }) => change === 'deleted').map(({ id }) => id);
      const changed = changes.filter(({ change }) => change !== 'created').map(({ id }) => id);
      const hiddenSources: string[] = [];
      for (const flag of await sourceFlagsOfActors(tx, changed)) if (!await refreshSource(tx, flag)) hiddenSources.push(flag.target_id);
      const signalIds = [...await takeSignals(tx, 'entity', deleted), ...await takeSignals(tx, 'source', hiddenSources)];
      if (signalIds.length > 0) await firehose?.withdraw(tx, signalIds);
    },
  };
}
