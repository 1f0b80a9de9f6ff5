import type { Civic, JobKind } from 'civic';
import { dueHolds, type HoldRow } from '../ledger/holds-store.ts';
import type { Ledger } from '../ledger/service.ts';
import { recordsByKey } from '../ledger/store.ts';
import { mergeSearch } from '../search/merge.ts';
import { rebuildQueue } from '../rechecks/queue.ts';
import type { HalfLives } from './freshness.ts';
import { expiredActors } from './read-store.ts';

const BATCH = 200;
/** The clocks of nodes differ by less. */
const CLOCK_SKEW_MS = 3_600_000;

/** What has to be done as time goes by. */
export function directoryJobs(civic: Pick<Civic, 'clock' | 'emit'> & { readonly db: Civic['db'] }, ledger: Ledger, halfLives: HalfLives): JobKind[] {
  return [
    {
      name: 'directory.expire',
      every_seconds: 600,
      async run(job) {
        for (let keys: number[]; !job.signal.aborted && (keys = await expiredActors(civic.db.read, civic.clock.iso(), BATCH)).length > 0;) {
          await job.write((tx) => ledger.refresh(tx, keys));
        }
      },
    },
    { name: 'directory.rechecks', every_seconds: 21_600, run: (job) => rebuildQueue({ civic, halfLives }, job) },
    {
      name: 'directory.end_holds',
      every_seconds: 60,
      async run(job) {
        const times = () => ({ now: civic.clock.iso(), begunBefore: new Date(civic.clock.now() + CLOCK_SKEW_MS).toISOString() });
        for (let due: HoldRow[]; !job.signal.aborted && (due = await dueHolds(civic.db.read, times(), BATCH)).length > 0;) {
          for (const { id, record_key } of due) await job.write(async (tx) => {
            const [record] = await recordsByKey(tx, [record_key]);
            if (await ledger.endHold(tx, id)) await civic.emit(tx, 'directory.hold_expired', { id, entity_id: record!.id });
          });
        }
      },
    },
    { name: 'directory.merge_search', every_seconds: 60, run: (job) => mergeSearch(civic.db, job.signal) },
  ];
}
