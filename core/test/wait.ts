import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `condition` holds; a test that waits in vain says for what. */
export async function until(condition: () => Promise<boolean> | boolean, milliseconds = 40_000): Promise<void> {
  const end = performance.now() + milliseconds;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`Waited ${milliseconds} ms in vain for: ${condition}`);
    await sleep(10);
  }
}
