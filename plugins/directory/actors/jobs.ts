import type { Civic, JobKind, RunningJob, Tx } from 'civic';
import { dueHolds, holdsWithoutContacts, type HoldRow } from '../ledger/holds-store.ts';
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
export function directoryJobs(civic: Pick<Civic, 'clock' | 'emit' | 'log'> & { readonly db: Civic['db'] }, ledger: Ledger, halfLives: HalfLives): JobKind[] {
  /** Writes for each hold in a transaction of its own. A hold that fails is tried again in the next run, and keeps no other one from its turn. */
  async function forEachHold({ signal, write }: RunningJob, holdsAfter: (key: number) => Promise<HoldRow[]>, change: (tx: Tx, hold: HoldRow) => Promise<void>): Promise<void> {
    for (let after = 0, holds: HoldRow[]; !signal.aborted && (holds = await holdsAfter(after)).length > 0; after = holds.at(-1)!.key) {
      for (const hold of holds) {
        try {
          await write((tx) => change(tx, hold));
        } catch (error) {
          if (signal.aborted) throw error;
          civic.log.error({ err: error, hold: hold.id }, 'A hold of contacts could not be ended or completed; it is tried again in a minute');
        }
      }
    }
  }

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
        const due = (after: number) => dueHolds(civic.db.read, { now: civic.clock.iso(), begunBefore: new Date(civic.clock.now() + CLOCK_SKEW_MS).toISOString() }, { after, limit: BATCH });
        await forEachHold(job, due, async (tx, { id, record_key }) => {
          const [record] = await recordsByKey(tx, [record_key]);
          if (await ledger.endHold(tx, id)) await civic.emit(tx, 'directory.hold_expired', { id, entity_id: record!.id });
        });
        // During an update of several nodes, those of an older version begin holds that hide the contacts of one person only.
        await forEachHold(job, (after) => holdsWithoutContacts(civic.db.read, { after, limit: BATCH }), (tx, { id }) => ledger.completeHold(tx, id));
      },
    },
    { name: 'directory.merge_search', every_seconds: 60, run: (job) => mergeSearch(civic.db, job.signal) },
  ];
}
