import { createHash } from 'node:crypto';

// The duration of the work below on a usual, idle machine.
const USUAL_MS = 150;
const ROUNDS = 100_000;

/** Measures how many times slower this machine is than a usual one, at least 1: other work on it counts like a slow CPU. */
export function measureSlowness(): number {
  const started = performance.now();
  let text = '';
  for (let round = 0; round < ROUNDS; round++) text = createHash('sha256').update(text + round).digest('hex');
  return Math.max(1, (performance.now() - started) / USUAL_MS);
}
