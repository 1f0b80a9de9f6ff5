import { benchDirectory } from './directory/run.ts';
import { benchDrivers } from './drivers.ts';
import { benchFirehose } from './firehose/run.ts';
import { benchHttp } from './http.ts';
import { benchKeys } from './keys.ts';
import { benchRatelimit } from './ratelimit.ts';
import { benchStart } from './start.ts';

/** `npm run bench [-- http|start|ratelimit|keys|drivers|directory …|firehose …]`: ratios measured side by side; exit code 1 when one is over its limit. */
const BENCHES: Record<string, () => Promise<boolean>> = {
  start: () => benchStart({ rounds: 5 }),
  http: () => benchHttp({ rounds: 25, seconds: 0.4 }),
  ratelimit: () => benchRatelimit({ rounds: 25, seconds: 0.4 }),
  keys: () => benchKeys({ rounds: 9 }),
  drivers: () => benchDrivers({ rounds: 9 }),
};

/** Those with parts and options of their own. */
const LARGE: Record<string, (args: string[]) => Promise<boolean>> = { directory: benchDirectory, firehose: benchFirehose };

const [first, ...rest] = process.argv.slice(2);
const large = LARGE[first ?? ''];
if (large) {
  if (!await large(rest)) process.exitCode = 1;
} else {
  const names = process.argv.slice(2);
  for (const [name, run] of Object.entries(BENCHES)) {
    if (names.length > 0 && !names.includes(name)) continue;
    if (!await run()) process.exitCode = 1;
  }
}
