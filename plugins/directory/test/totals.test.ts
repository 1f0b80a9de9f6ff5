import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { createTotals } from '../search/totals.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('Totals of lists', () => {
  it('are bounded by the length of all keys, the oldest first', () => {
    const totals = createTotals();
    const key = (number: number) => `${number}:${'x'.repeat(10_000)}`;
    for (let number = 0; number < 100; number++) totals.keep(key(number), 1, number);
    const known = Array.from({ length: 100 }, (_, number) => totals.known(key(number), 1)).filter((total) => total !== undefined);
    expect(known).to.equal(Array.from({ length: 49 }, (_, at) => 51 + at));
    totals.keep(key(99), 2, 7);
    expect([totals.known(key(99), 1), totals.known(key(99), 2), totals.known(key(51), 1)]).to.equal([undefined, 7, 51]);
  });
});
