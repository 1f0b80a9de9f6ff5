import { benchDirectory } from './directory/run.ts';
import { benchHttp } from './http.ts';
import { benchKeys } from './keys.ts';
import { benchRatelimit } from './ratelimit.ts';
import { benchStart } from './start.ts';

/** `npm run bench [-- http|start|ratelimit|keys]`: ratios measured side by side; exit code 1 when one is over its limit. */
const BENCHES: Record<string, () => Promise<boolean>> = {
  start: () => benchStart({ rounds: 5 }),
  http: () => benchHttp({ rounds: 25, seconds: 0.4 }),
  ratelimit: () => benchRatelimit({ rounds: 25, seconds: 0.4 }),
  keys: () => benchKeys({ rounds: 9 }),
};

const [first, ...rest] = process.argv.slice(2);
if (first === 'directory') {
  if (!await benchDirectory(rest)) process.exitCode = 1;
} else {
  const names = process.argv.slice(2);
  for (const [name, run] of Object.entries(BENCHES)) {
    if (names.length > 0 && !names.includes(name)) continue;
    if (!await run()) process.exitCode = 1;
  }
}
