import { parseArgs } from 'node:util';
import { benchSearch } from './search.ts';

/**
 * `node dist/bench/directory/run-search.js`: search over a million generated actors; exit code 1 when a limit is missed.
 * Filling takes minutes, so `--folder` (SQLite) and `--postgres` (an empty database's address) keep it for the next run.
 */
const { values } = parseArgs({
  options: {
    actors: { type: 'string', default: '1000000' },
    queries: { type: 'string', default: '2500' },
    folder: { type: 'string' },
    postgres: { type: 'string' },
    only: { type: 'string' },
  },
});
const { folder = null, postgres = null, only } = values;
const isInside = await benchSearch({ actors: Number(values.actors), queries: Number(values.queries), folder, postgres, ...(only && { only }) });
if (!isInside) process.exitCode = 1;
