import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { createMemory } from '../memory.ts';
import type { Window } from '../windows.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const windows: Window[] = [{ slot: 0, limit: 2, seconds: 60, what: 'reads' }, { slot: 2, limit: 10, seconds: 3600, what: 'requests' }];

describe('The counters of a process', () => {
  it('never hold more subjects than they may, and forget those first that came first', () => {
    const memory = createMemory(1000);
    for (let i = 0; i < 10_000; i++) memory.take(`address ${i}`, windows, 0);
    expect(memory.size).to.equal(1000);
    expect([memory.find('address 8999'), memory.find('address 9000')?.counts]).to.equal([undefined, [1, 0, 1]]);
  });

  it('forget a subject once all its windows are over, and not before', () => {
    const memory = createMemory(1000);
    memory.take('address', windows, 0);
    memory.purge(3_599_999);
    expect(memory.size).to.equal(1);
    memory.purge(3_600_000);
    expect(memory.size).to.equal(0);
  });

  it('count admitted requests, and not rejected ones', () => {
    let taken = 0;
    const memory = createMemory(1000, () => { taken++; });
    for (let i = 0; i < 5; i++) memory.take('address', windows, 0);
    expect([taken, memory.find('address')!.counts]).to.equal([2, [2, 0, 2]]);
  });
});
