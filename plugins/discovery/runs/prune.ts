import type { JobKind } from 'civic';
import { pruneLowScores } from '../candidates/store.ts';
import type { Discovery } from '../context.ts';
import { prunePages } from './pages-store.ts';
import { pruneQueries } from './queries-store.ts';

const DAY_MS = 24 * 3600_000;
/** Candidates below this score that are undecided after all that time are not worth a review. */
const LOW_SCORE = 0.7;

/** Deletes the pages, the queries and the doubtful candidates of runs that ended long ago. Runs, decisions and gaps stay: rejections are remembered. */
export function pruneJob({ civic }: Discovery): JobKind {
  return {
    name: 'discovery.prune',
    every_seconds: 3600,
    async run({ write, signal }) {
      const before = new Date(civic.clock.now() - civic.config.page_days * DAY_MS).toISOString();
      while (!signal.aborted && await write((tx) => prunePages(tx, before)) > 0);
      while (!signal.aborted && await write((tx) => pruneQueries(tx, before)) > 0);
      while (!signal.aborted && await write((tx) => pruneLowScores(tx, before, LOW_SCORE)) > 0);
    },
  };
}
