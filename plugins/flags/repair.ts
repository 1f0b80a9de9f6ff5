import type { JobKind } from 'civic';
import { rebuildCounts } from './counts-store.ts';
import type { Flags } from './flags.ts';
import { hasWrongCounts, hasWrongTotals, targetsToRecount } from './repair-store.ts';
import { rebuildTotals } from './review/queue-store.ts';

/** Comparing 100,000 flags takes seconds of CPU. */
const REPAIR_SECONDS = 3600;
const RECOUNTED_AT_ONCE = 20;

/**
 * Returns the job that compares the stored counts with the flags and corrects those that differ: a node of an older version, during an update or after the
 * return to that version, changes flags without changing counts that it does not know.
 */
export function repairJob({ civic, recountTargets }: Pick<Flags, 'civic' | 'recountTargets'>): JobKind {
  return {
    name: 'flags.repair_counts',
    every_seconds: REPAIR_SECONDS,
    async run({ write, progress }) {
      const { read } = civic.db;
      const targets = await targetsToRecount(read);
      for (let done = 0; done < targets.length; done += RECOUNTED_AT_ONCE) {
        await write((tx) => recountTargets(tx, targets.slice(done, done + RECOUNTED_AT_ONCE)));
        await progress(done, targets.length);
      }
      const hasTotals = await hasWrongTotals(read);
      if (hasTotals) await write(rebuildTotals);
      const hasCounts = await hasWrongCounts(read);
      if (hasCounts) await rebuildCounts({ write });
      if (targets.length > 0 || hasTotals || hasCounts) civic.log.info({ targets: targets.length }, 'Repaired stored counts of flags that differed from the flags');
    },
  };
}
