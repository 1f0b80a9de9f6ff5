import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { emptyDatabase, testDatabases } from '../../core/testing/database.ts';
import { killRepeatedly } from './kill.ts';

export const lab = Lab.script();
const { describe, it } = lab;
const NOTES_PER_KILL = 300;

describe('kill -9 under 50 writers', () => {
  for (const dialect of testDatabases()) {
    it(`loses, doubles and reorders nothing on ${dialect}; npm run soak does it a hundred times`, { timeout: 180_000 }, async () => {
      const database = await emptyDatabase(dialect);
      try {
        const { faults, kills, acknowledged, chores } = await killRepeatedly({ url: database.url, rounds: 2, writers: 50, notesPerKill: NOTES_PER_KILL });
        expect(faults).to.equal([]);
        expect(kills).to.be.at.least(2);
        // The first kill comes after a quarter of the notes at the earliest, and the second may be in the start that follows.
        expect(acknowledged).to.be.at.least(NOTES_PER_KILL / 4);
        expect(chores).to.be.at.least(1);
      } finally {
        await database.drop();
      }
    });
  }
});
