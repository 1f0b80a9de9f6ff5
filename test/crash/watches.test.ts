import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from '../../core/testing/database.ts';
import { compareDigest, compareMails } from './watches/compare.ts';
import { killWhileWatching } from './watches/kills.ts';
import { watchDatabase } from './watches/stand.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('Watches whose servers are killed', () => {
  for (const dialect of testDatabases()) {
    it(`find every signal once, and queue each immediate mail once, on ${dialect}; npm run soak does it longer`, { timeout: 180_000 }, async () => {
      const database = await watchDatabase(dialect);
      try {
        const { faults, kills, signals, mails } = await killWhileWatching({ url: database.url, kills: 2, seed: 1 });
        expect(faults).to.equal([]);
        expect(kills).to.equal(2);
        expect(signals).to.be.at.least(5);
        expect(mails).to.be.at.least(2);
      } finally {
        await database.drop();
      }
    });
  }

  it('would be noticed when they lose, repeat or keep a signal', () => {
    const desk = { id: 'desk', delivery: 'immediate', place: 'here' } as const;
    const version = (number: number, place = 'here') => ({ id: `${number}`, title: `Vote number ${number} ends`, places: [place] });
    const mail = (...numbers: number[]) => ({ subject: 'Votes', lines: [...numbers.map((number) => version(number).title), 'https://example.org/workspaces/desk/digest'] });
    const signals = [version(1), version(2), version(3, 'elsewhere')];
    expect(compareDigest(desk, signals, [version(2), version(1)])).to.equal([]);
    expect(compareDigest(desk, signals, [version(2), version(2), version(3)])).to.equal(['the digest of desk lacks Vote number 1 ends', 'the digest of desk has Vote number 3 ends, which is not a current signal of its place', 'the digest of desk has Vote number 2 ends twice']);
    expect(compareMails(desk, signals, [mail(1), mail(2)])).to.equal([]);
    expect(compareMails(desk, signals, [mail(1), mail(1)])).to.equal(['no mail to desk has Vote number 2 ends', 'mails to desk have Vote number 1 ends twice']);
    expect(compareMails({ ...desk, delivery: 'digest' }, signals, [mail(1)])).to.equal(['desk got mails at once']);
  });
});
