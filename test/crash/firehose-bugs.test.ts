import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../core/root.ts';
import { BUGS, findBug } from './firehose/bugs.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('The oracle of the Firehose', () => {
  it('finds a moment between reading the log and joining the live, planted in a copy; npm run soak -- bugs plants all', { timeout: 120_000 }, async () => {
    const bug = BUGS.find(({ name }) => name.includes('joining'))!;
    expect(await findBug(bug, Date.now() % 1_000_000, async () => null)).to.not.be.null();
  });

  it('knows where every other bug would be planted', () => {
    const missing = BUGS.flatMap(({ replacements }) => replacements).filter(({ file, text }) => readFileSync(join(projectRoot, 'dist', file), 'utf8').split(text).length !== 2);
    expect(missing).to.equal([]);
  });
});
