import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contractFiles } from '../../core/cli/contracts.ts';
import { projectRoot } from '../../core/root.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('What is stored of the contracts', () => {
  it('equals what the code says: run bin/civic contracts write after a change, and look at it', async () => {
    for (const [name, text] of await contractFiles()) expect(readFileSync(join(projectRoot, name), 'utf8'), name).to.equal(text);
  });
});
