import type { Clock, JobKind, Tx } from 'civic';
import { freshnessSignals, publishNew, type DirectorySignalsContext } from './changes.ts';
import type { SignalAbout } from './draft.ts';
import { markOf, putMark } from './published-store.ts';

/** The stored position of the job: everything up to `since` is published; between that and `until`, actors up to the id `after`. */
interface Mark {
  since: number;
  until?: number;
  after?: string;
  told?: number;
}

const MARK = 'freshness';
const DAY_MS = 86_400_000;
const BATCH = 100;
/** The most signals about actors that age on the same day, such as a year after a large import. */
const MOST_PUBLISHED = 1000;

/** Publishes changes of freshness that come with time. Runs every hour and publishes once a day, because freshness is computed by the day. */
export function freshnessJob(context: DirectorySignalsContext, clock: Clock): JobKind {
  return {
    name: 'firehose.freshness',
    every_seconds: 3600,
    async run(job) {
      while (!job.signal.aborted && await job.write((tx) => publishBatch(context, tx, clock)));
    },
  };
}

/** Publishes a batch and stores the position in the same transaction. Returns whether there may be more. */
async function publishBatch(context: DirectorySignalsContext, tx: Tx, clock: Clock): Promise<boolean> {
  const today = Math.floor(clock.now() / DAY_MS) * DAY_MS;
  const put = (mark: Mark) => putMark(tx, MARK, JSON.stringify(mark), clock.iso());
  const text = await markOf(tx, MARK);
  // What aged before the first run is not published.
  const { since, until = today, after = null, told: published = 0 } = text === null ? { since: today } as Mark : JSON.parse(text) as Mark;
  if (text === null) await put({ since: today });
  if (until <= since) return false;
  const turns = await context.directory.freshnessTurns(tx, { since, until, after, limit: BATCH });
  const actors = new Map((await context.directory.actors(tx, turns.map(({ id }) => id))).map((actor) => [actor.id, actor]));
  const signals = turns.flatMap(({ id, ...turn }): SignalAbout[] => (actors.has(id) && turn.before !== turn.after ? freshnessSignals(actors.get(id)!, turn, clock.iso()) : []));
  await publishNew(context, tx, signals, { name: `aged ${since}`, at: clock.iso() });
  const isDone = turns.length < BATCH || published + turns.length >= MOST_PUBLISHED;
  await put(isDone ? { since: until } : { since, until, after: turns.at(-1)!.id, told: published + turns.length });
  return true;
}
