import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases, testServer, type TestServer } from 'civic/testing';
import pino from 'pino';
import { createCounters } from '../counts.ts';
import { countsSince, pruneCounts } from '../store.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

for (const database of testDatabases()) {
  describe(`The counts of the console on ${database}`, () => {
    const clock = stoppedClock('2026-11-16T10:59:30.000Z');
    const log = pino({ level: 'silent' });
    let kit: TestServer;
    before(async () => { kit = await testServer({ database, plugins: ['accounts', 'console'] }); });
    after(() => kit.close());

    const node = (totals: Record<string, () => number>) => {
      const counters = createCounters({ db: () => kit.db, clock, log });
      for (const [name, total] of Object.entries(totals)) counters.add(name, total);
      return counters;
    };
    const stored = async () => (await countsSince(kit.db.read, ['test.a', 'test.b', 'test.c'], '2026-11-16T00:00:00.000Z')).toSorted((a, b) => (a.hour + a.name < b.hour + b.name ? -1 : 1));

    it('are those of all nodes together, by hour', async () => {
      const numbers = { a: 0, b: 0 };
      const [first, second] = [node({ 'test.a': () => numbers.a, 'test.b': () => numbers.b }), node({ 'test.a': () => 2 * numbers.a })];
      numbers.a = 5;
      await Promise.all([first.flush(), second.flush()]);
      clock.advance(60_000);
      numbers.a = 6;
      numbers.b = 1;
      await Promise.all([first.flush(), second.flush()]);
      await first.flush();
      expect(await stored()).to.equal([
        { hour: '2026-11-16T10:00:00.000Z', name: 'test.a', count: 15 },
        { hour: '2026-11-16T11:00:00.000Z', name: 'test.a', count: 3 },
        { hour: '2026-11-16T11:00:00.000Z', name: 'test.b', count: 1 },
      ]);
    });

    it('are not lost while the database cannot be written, and write nothing when nothing was counted', async () => {
      let number = 0;
      let fails = true;
      let writes = 0;
      const write: TestServer['db']['write'] = async (fn) => {
        writes++;
        if (fails) throw new Error('away');
        return kit.db.write(fn);
      };
      const counters = createCounters({ db: () => ({ write }), clock, log });
      counters.add('test.c', () => number);
      await counters.flush();
      expect(writes).to.equal(0);
      number = 4;
      await expect(counters.flush()).to.reject('away');
      expect(counters.pending()).to.equal(new Map([['test.c', 4]]));
      fails = false;
      await counters.stop();
      expect([(await stored()).find(({ name }) => name === 'test.c')?.count, counters.pending().size]).to.equal([4, 0]);
    });

    it('are deleted when they are old, or of a clock that was ahead', async () => {
      await kit.db.write((tx) => pruneCounts(tx, '2026-11-16T11:00:00.000Z', '2026-11-16T11:30:00.000Z'));
      expect((await stored()).map(({ hour }) => hour).filter((hour) => hour !== '2026-11-16T11:00:00.000Z')).to.equal([]);
    });
  });
}
