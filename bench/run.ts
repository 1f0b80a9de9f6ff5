import { exitWithUsage } from '../test/support/arguments.ts';
import { benchDirectory } from './directory/run.ts';
import { benchDiscovery } from './discovery.ts';
import { benchDrivers } from './drivers.ts';
import { benchDues } from './dues.ts';
import { benchFirehose } from './firehose/run.ts';
import { benchFlags } from './flags.ts';
import { benchHttp } from './http.ts';
import { benchKeys } from './keys.ts';
import { benchMcp } from './mcp.ts';
import { benchRatelimit } from './ratelimit.ts';
import { benchSite } from './site/run.ts';
import { benchSources } from './sources.ts';
import { benchStart } from './start.ts';
import { benchWatches } from './watches.ts';

const USAGE = `npm run bench [-- name …]

start      how long a start takes
http       requests, against plain hapi and bare Node
ratelimit  requests with and without rate limits
keys       requests with an API key or an access token
mcp        calls of tools, against the same reads of the API
drivers    the drivers of SQLite
watches    one signal against 10,000 watches of workspaces, and the digest
dues       5,000 jobs that run by key each hour
discovery  the pages a second of a discovery run, against a loop that only fetches and parses them
sources    the time from a change of a watched site to its signal on a stream; about five minutes
directory  [import|joining|reads|cold|depth|nodes …] [--actors 50000] [--only sqlite|postgres] [--folder …] [--postgres …]
site       [pages|rates|live|sizes …] [--actors 1000000] [--folder …]
flags      [--flags 100000] [--only sqlite|postgres]: pages of the review queue, and lists of flags
firehose   [matching|fanout|nchan|memory|writers …] [--subscribers 1000] [--postgres …]

Without a name the first ten run; directory, site, flags and firehose run alone. Exits 1 when a ratio is over its limit.`;

const BENCHES: Record<string, () => Promise<boolean>> = {
  start: () => benchStart({ rounds: 5 }),
  http: () => benchHttp({ rounds: 25, seconds: 0.4 }),
  ratelimit: () => benchRatelimit({ rounds: 25, seconds: 0.4 }),
  keys: () => benchKeys({ rounds: 25, seconds: 0.4 }),
  mcp: () => benchMcp({ rounds: 15, seconds: 0.4 }),
  drivers: () => benchDrivers({ rounds: 9 }),
  watches: benchWatches,
  dues: benchDues,
  discovery: benchDiscovery,
  sources: benchSources,
};

/** Benchmarks with parts and options of their own. */
const LARGE: Record<string, (args: string[], usage: string) => Promise<boolean>> = { directory: benchDirectory, site: benchSite, flags: benchFlags, firehose: benchFirehose };

async function runBenches(names: string[]): Promise<boolean> {
  const unknown = names.find((name) => !(name in BENCHES));
  if (unknown !== undefined) exitWithUsage(`There is no benchmark ${unknown}.\n\n${USAGE}`);
  let isInside = true;
  for (const [name, run] of Object.entries(BENCHES)) {
    if (names.length === 0 || names.includes(name)) isInside = await run() && isInside;
  }
  return isInside;
}

const [first, ...rest] = process.argv.slice(2);
const large = LARGE[first ?? ''];
if (process.argv.includes('--help')) console.log(USAGE);
else process.exitCode = await (large ? large(rest, USAGE) : runBenches(process.argv.slice(2))) ? 0 : 1;
