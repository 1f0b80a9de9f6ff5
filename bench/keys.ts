import type { Request } from '@hapi/hapi';
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
import { median } from './harness.ts';

const CALLS = 20_000;
const LIMIT_MICROSECONDS = 50;

/** What it costs to know the sender of a key that was used before, and to refuse a malformed one. */
export async function benchKeys(options: { rounds: number }): Promise<boolean> {
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
