import type { Clock, JobKind, Tx } from 'civic';
import { freshnessTelling, tell, type TellingContext } from './changes.ts';
import type { Telling } from './draft.ts';
import { markOf, putMark } from './told-store.ts';

/** How far the job is: everything up to `since` is told; between that and `until`, actors up to the id `after`. */
interface Mark {
  since: number;
  until?: number;
  after?: string;
  told?: number;
}

const MARK = 'freshness';
const DAY_MS = 86_400_000;
const BATCH = 100;
/** Of those that age together, as after a large import a year ago; the list of the directory has them all. */
const MOST_TOLD = 1000;

/** Tells whom nobody has looked at for too long. Looked for every hour, told once a day: freshness is judged by the day. */
export function freshnessJob(context: TellingContext, clock: Clock): JobKind {
  return {
    name: 'firehose.freshness',
    every_seconds: 3600,
    async run(job) {
      while (!job.signal.aborted && await job.write((tx) => tellSome(context, tx, clock)));
    },
  };
}

/** What is told and how far that is are one transaction. Answers whether there is more. */
async function tellSome(context: TellingContext, tx: Tx, clock: Clock): Promise<boolean> {
  const today = Math.floor(clock.now() / DAY_MS) * DAY_MS;
  const put = (mark: Mark) => putMark(tx, MARK, JSON.stringify(mark), clock.iso());
  const text = await markOf(tx, MARK);
  // What has aged before anybody was there to be told is no news.
  const { since, until = today, after = null, told = 0 } = text === null ? { since: today } as Mark : JSON.parse(text) as Mark;
  if (text === null) await put({ since: today });
  if (until <= since) return false;
  const turns = await context.directory.freshnessTurns(tx, { since, until, after, limit: BATCH });
  const actors = new Map((await context.directory.actors(tx, turns.map(({ id }) => id))).map((actor) => [actor.id, actor]));
  const tellings = turns.flatMap(({ id, ...turn }): Telling[] => (actors.has(id) && turn.before !== turn.after ? freshnessTelling(actors.get(id)!, turn, clock.iso()) : []));
  await tell(context, tx, tellings, { name: `aged ${since}`, at: clock.iso() });
  const isDone = turns.length < BATCH || told + turns.length >= MOST_TOLD;
  await put(isDone ? { since: until } : { since, until, after: turns.at(-1)!.id, told: told + turns.length });
  return true;
}
