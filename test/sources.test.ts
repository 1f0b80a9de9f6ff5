import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { nameSources } from './support/sources.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('The output of a failing test file', () => {
  it('names the lines of TypeScript sources', () => {
    const written = new Error('Fails').stack!;
    expect(written).to.contain('/dist/test/sources.test.js:');
    expect(nameSources(written)).to.match(/\/test\/sources\.test\.ts:10:\d+/).and.to.not.contain('/dist/');
  });

  it('stays as it is elsewhere', () => {
    const written = 'at run (/nowhere/lib/index.js:1:2)\nat node:internal/timers.js:3:4\nhttps://example.org/app.js:5:6';
    expect(nameSources(written)).to.equal(written);
  });
});
