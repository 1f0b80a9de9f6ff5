import type { Request } from '@hapi/hapi';
import { join } from 'node:path';
import { systemClock } from '../core/clock.ts';
import { testServer } from '../core/testing.ts';
import { vocabularyOf } from '../core/vocabulary.ts';
import { defaultPlans } from '../plugins/accounts/config.ts';
import accounts from '../plugins/accounts/index.ts';
import { createCaches } from '../plugins/accounts/keys/cache.ts';
import { createResolver } from '../plugins/accounts/keys/identify.ts';
import { newKey } from '../plugins/accounts/keys/key.ts';
import { createPlans } from '../plugins/accounts/plans/plans.ts';
import { runCommand } from '../plugins/accounts/test/kit.ts';
import { compare, median, printRows, type Target } from './harness.ts';

const CALLS = 20_000;
const LIMIT_MICROSECONDS = 50;

/** Of a request with an access token against the same with an API key. */
const LIMIT_TOKEN = 1.1;

export async function benchKeys(options: { rounds: number; seconds: number }): Promise<boolean> {
  const isInside = await benchLookUps({ rounds: 9 });
  return await benchRequests(options) && isInside;
}

/** Measures what a request costs with an API key, with an access token and without either. */
async function benchRequests(options: { rounds: number; seconds: number }): Promise<boolean> {
  const rows = await compare([target('with an API key', 'key'), target('with an access token', 'token'), target('anonymous')], options);
  printRows(`One GET route under /api, small response, CPU a request (limit ${LIMIT_TOKEN}x)`, rows);
  const [key, token, anonymous] = rows.map(({ cpu }) => cpu) as [number, number, number];
  process.stdout.write(`  against an anonymous request: API key ${(key / anonymous).toFixed(2)}x, access token ${(token / anonymous).toFixed(2)}x\n`);
  return rows[1]!.ratio <= LIMIT_TOKEN;
}

function target(name: string, credential?: string): Target {
  return { name, credential, module: join(import.meta.dirname, 'servers', 'credentials.js'), path: '/api/bench' };
}

/** Measures what it costs to identify the caller of a key that was used before, and to refuse a malformed one. */
async function benchLookUps(options: { rounds: number }): Promise<boolean> {
  const kit = await testServer({ plugins: [accounts] });
  try {
    const account = await runCommand(kit, 'account create', { name: 'Bench' }, []);
    const { key } = await runCommand(kit, 'key create', { account: account.id }, []);
    const vocabulary = vocabularyOf([accounts]);
    const resolver = createResolver({ civic: { clock: systemClock, db: kit.db }, known: createCaches({ civic: { db: kit.db }, changingAccess: () => [] }).create(), plans: createPlans(defaultPlans(vocabulary), 'free', vocabulary) });
    const ask = (given: string) => resolver.identify({ headers: { 'x-api-key': given }, query: {} } as unknown as Request);
    await ask(key);
    const warm = await measure(options.rounds, () => { void ask(key); });
    const wrong = newKey().key.slice(0, -6) + '000000';
    const refused = await measure(options.rounds, () => {
      try {
        void ask(wrong);
      } catch {
        // A refusal is what is measured.
      }
    });
    process.stdout.write(`\nAPI keys\n  warm look-up           ${warm.toFixed(1)} µs (limit ${LIMIT_MICROSECONDS})\n  malformed, refused     ${refused.toFixed(1)} µs\n`);
    return warm <= LIMIT_MICROSECONDS;
  } finally {
    await kit.close();
  }
}

/** CPU microseconds a call, the median of rounds. */
async function measure(rounds: number, call: () => void): Promise<number> {
  const samples: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const before = process.cpuUsage();
    for (let i = 0; i < CALLS; i++) call();
    const { user, system } = process.cpuUsage(before);
    if (round > 0) samples.push((user + system) / CALLS);
  }
  return median(samples);
}
