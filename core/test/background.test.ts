import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { setTimeout as sleep } from 'node:timers/promises';
import { createWaker, repeat } from '../background.ts';
import { until } from './wait.ts';

export const lab = Lab.script();
const { describe, it } = lab;
const unexpected = (error: unknown) => { throw error; };

describe('background work', () => {
  it('runs once more for all wakes that came while it ran, and never twice at once', async () => {
    let runs = 0;
    let now = 0;
    const waker = createWaker(async () => {
      runs += 1;
      expect(++now).to.equal(1);
      await sleep(10);
      now -= 1;
    }, unexpected);
    for (let wakes = 0; wakes < 5; wakes++) waker.wake();
    await waker.idle();
    expect(runs).to.equal(2);
    waker.wake();
    await waker.idle();
    expect(runs).to.equal(3);
  });

  it('hears a wake given at the very moment the work ends', async () => {
    let runs = 0;
    const waker = createWaker(async () => { runs += 1; }, unexpected);
    for (let round = 1; round <= 20; round++) {
      waker.wake();
      for (let turns = 0; turns < round; turns++) await Promise.resolve();
      waker.wake();
      await waker.idle();
      expect(runs).to.be.at.least(2 * round);
    }
  });

  it('reports consecutive failures once, and continues', async () => {
    const told: string[] = [];
    let runs = 0;
    const repeating = repeat(1, async () => {
      runs += 1;
      if (runs !== 4) throw new Error(`failure ${runs}`);
    }, (error) => told.push((error as Error).message));
    await until(() => runs >= 6);
    await repeating.stop();
    expect(told).to.equal(['failure 1', 'failure 5']);
  });

  it('runs no more once stopped, and waits for the run under way', async () => {
    let finish: (() => void) | undefined;
    let runs = 0;
    const repeating = repeat(1, async () => { runs += 1; await new Promise<void>((resolve) => { finish = resolve; }); }, unexpected);
    await until(() => finish !== undefined);
    let isStopped = false;
    const stopped = repeating.stop().then(() => { isStopped = true; });
    await sleep(20);
    expect(isStopped).to.be.false();
    finish!();
    await stopped;
    await sleep(20);
    expect(runs).to.equal(1);
  });
});
