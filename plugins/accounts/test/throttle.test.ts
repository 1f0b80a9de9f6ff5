import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock } from 'civic/testing';
import { createThrottle } from '../signin/throttle.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('A throttle', () => {
  it('admits so many in its span of time, and again after it', () => {
    const clock = stoppedClock();
    const throttle = createThrottle(2, 60, () => clock.now());
    expect([1, 2, 3].map(() => throttle.admits('ada'))).to.equal([true, true, false]);
    expect(throttle.admits('bob')).to.be.true();
    clock.advance(60_000);
    expect(throttle.admits('ada')).to.be.true();
  });

  it('locks no account when the clock goes a day ahead and back', () => {
    const clock = stoppedClock();
    const throttle = createThrottle(1, 60, () => clock.now());
    clock.advance(86_400_000);
    expect([1, 2].map(() => throttle.admits('ada'))).to.equal([true, false]);
    clock.advance(-86_400_000);
    expect([1, 2].map(() => throttle.admits('ada'))).to.equal([true, false]);
  });
});
