import { setTimeout as sleep } from 'node:timers/promises';
import { slowness } from '../testing/slowness.ts';

export { slowness };

/** Waits until `condition` holds; a test that waits in vain says for what. */
export async function until(condition: () => Promise<boolean> | boolean, milliseconds = 40_000): Promise<void> {
  const limit = milliseconds * slowness;
  const end = performance.now() + limit;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`Waited ${Math.round(limit)} ms in vain for: ${condition}`);
    await sleep(10);
  }
}
