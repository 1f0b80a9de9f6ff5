import { setTimeout as sleep } from 'node:timers/promises';

/** How many times slower this machine is than a usual one, as `npm test` measured; waits are that much longer. */
export const slowness = Number(process.env.CIVIC_TEST_SLOWNESS) || 1;

/** Waits until `condition` holds; a test that waits in vain says for what. */
export async function until(condition: () => Promise<boolean> | boolean, milliseconds = 40_000): Promise<void> {
  const limit = milliseconds * slowness;
  const end = performance.now() + limit;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`Waited ${Math.round(limit)} ms in vain for: ${condition}`);
    await sleep(10);
  }
}
