import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArguments } from '../../test/support/arguments.ts';
import type { BenchDatabase } from '../directory/databases.ts';
import { filledDatabase } from './database.ts';
import { benchLive } from './live.ts';
import { benchPages } from './pages.ts';
import { benchRates } from './rates.ts';
import { benchSizes } from './sizes.ts';

export interface SiteBench {
  actors: number;
  database: BenchDatabase;
}

const PARTS: Record<string, (options: SiteBench) => Promise<boolean>> = { pages: benchPages, rates: benchRates, sizes: benchSizes, live: benchLive };

/** Runs the parts that `args` name, or all. */
export async function benchSite(args: string[], usage: string): Promise<boolean> {
  const { values, positionals } = parseArguments(usage, { args, allowPositionals: true, options: { actors: { type: 'string', default: '1000000' }, folder: { type: 'string' } } });
  const actors = Number(values.actors);
  const options = { actors, database: await filledDatabase(actors, values.folder ?? join(tmpdir(), 'civic-bench-directory')) };
  let isInside = true;
  for (const [name, run] of Object.entries(PARTS)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    isInside = await run(options) && isInside;
  }
  return isInside;
}
