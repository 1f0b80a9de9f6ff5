import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { compare, killDiscovery } from './discovery.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('Discovery runs whose server is killed', () => {
  it('find the same candidates as undisturbed ones, and store no page twice; npm run soak kills more often', { timeout: 180_000 }, async () => {
    const { faults, kills, pages, candidates } = await killDiscovery({ url: null, kills: 2, towns: 1 });
    expect(faults).to.equal([]);
    expect(kills).to.equal(2);
    expect(pages).to.be.at.least(45);
    expect(candidates).to.be.at.least(100);
  });

  it('would be noticed when they lose, invent or repeat a candidate', () => {
    expect(compare(['a', 'b'], ['a', 'b'])).to.equal([]);
    expect(compare(['a', 'b'], ['b', 'b', 'c'])).to.equal(['a killed run does not have a', 'only a killed run has c', 'a killed run has a candidate twice']);
  });
});
