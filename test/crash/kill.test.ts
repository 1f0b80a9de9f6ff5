import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { emptyDatabase, testDatabases } from '../../core/testing/database.ts';
import { killRepeatedly } from './kill.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('kill -9 under 50 writers', () => {
  for (const dialect of testDatabases()) {
    it(`loses, doubles and reorders nothing on ${dialect}; npm run soak does it a hundred times`, { timeout: 180_000 }, async () => {
      const database = await emptyDatabase(dialect);
      try {
        const { faults, kills, acknowledged, chores } = await killRepeatedly({ url: database.url, rounds: 2, writers: 50, notesPerKill: 300 });
        expect(faults).to.equal([]);
        expect(kills).to.be.at.least(2);
        expect(acknowledged).to.be.at.least(100);
        expect(chores).to.be.at.least(1);
      } finally {
        await database.drop();
      }
    });
  }
});
