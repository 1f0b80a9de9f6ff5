import { setTimeout as sleep } from 'node:timers/promises';
import { slowness } from '../testing/slowness.ts';

export { slowness };

const FIRST_MS = 10;
const LAST_MS = 50;

/** Waits until `condition` holds; a test that waits in vain says for what. Checks less often the longer it waits: a check may be a request. */
export async function until(condition: () => Promise<boolean> | boolean, milliseconds = 40_000): Promise<void> {
  const limit = milliseconds * slowness;
  const started = performance.now();
  while (!(await condition())) {
    const waited = performance.now() - started;
    if (waited > limit) throw new Error(`Waited ${Math.round(limit)} ms in vain for: ${condition}`);
    await sleep(Math.min(LAST_MS, Math.max(FIRST_MS, waited / 10)));
  }
}
