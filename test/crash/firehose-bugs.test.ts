import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../core/root.ts';
import { BUGS } from './firehose/bugs.ts';
import { copyKit } from './firehose/copy.ts';
import { consultOracle } from './firehose/oracle.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('The oracle of the Firehose', () => {
  it('finds a moment between reading the log and joining the live, planted in a copy; npm run soak -- bugs plants all', { timeout: 120_000 }, async () => {
    const bug = BUGS.find(({ name }) => name.includes('joining'))!;
    const kit = copyKit(bug.replacements);
    try {
      const { faults, seed } = await consultOracle({ url: null, seed: Date.now() % 1_000_000, signals: 100, followers: 10, writers: 4, kills: 0, root: kit.root, settleMs: 1000 });
      expect(faults.filter((fault) => bug.found.test(fault)), `seed ${seed}`).to.not.be.empty();
    } finally {
      kit.remove();
    }
  });

  it('knows where every other bug would be planted', () => {
    const missing = BUGS.flatMap(({ replacements }) => replacements).filter(({ file, text }) => readFileSync(join(projectRoot, 'dist', file), 'utf8').split(text).length !== 2);
    expect(missing).to.equal([]);
  });
});
