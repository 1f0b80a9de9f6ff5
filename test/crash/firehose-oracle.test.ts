import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from '../../core/testing/database.ts';
import { copyKit, type Copy } from './firehose/copy.ts';
import { consultOracle } from './firehose/oracle.ts';
import { QUICK } from './firehose/bugs.ts';
import { worldDatabase } from './firehose/world.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('The oracle of the Firehose', () => {
  let kit: Copy;
  before(() => { kit = copyKit(QUICK); });
  after(() => { kit.remove(); });

  for (const dialect of testDatabases()) {
    it(`finds nothing lost, doubled, reordered or shown to the wrong eyes on ${dialect}; npm run soak asks it for longer`, { timeout: 180_000 }, async () => {
      const database = await worldDatabase(dialect);
      const seed = Number(process.env.CIVIC_TEST_SEED) || Date.now() % 1_000_000;
      try {
        // A kill where another node goes on; after one on SQLite nothing goes on, as in firehose-restart.
        const report = await consultOracle({ url: database.url, seed, signals: 150, followers: 12, writers: 4, kills: dialect === 'postgres' ? 1 : 0, root: kit.root });
        expect(report.faults, `CIVIC_TEST_SEED=${seed}`).to.equal([]);
        expect(report.cuts).to.be.at.least(20);
        expect(report.delivered).to.be.at.least(150);
        expect(report.snapshots).to.be.at.least(10);
      } finally {
        await database.drop();
      }
    });
  }
});
