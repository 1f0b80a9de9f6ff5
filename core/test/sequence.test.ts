import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenDatabase } from '../database/connect.ts';
import { createSchema } from '../database/schema.ts';
import { migrate } from '../database/migrate.ts';
import { databases, quiet, type TestDatabase } from '../database/test/support.ts';
import { createSequence, type Sequence } from '../sequence.ts';
import { until } from './wait.ts';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach, afterEach } = lab;

interface Row { writer: number; number: number }
const COLUMNS = { writer: 'int', number: 'int' } as const;

for (const { dialect, create } of databases()) {
  describe(`a sequenced log on ${dialect}`, { timeout: 60_000 }, () => {
    let database: TestDatabase;
    let db: OpenDatabase;
    let sequence: Sequence<Row>;

    const open = () => createSequence<Row>({ db: () => db, log: quiet, name: 'notes_row', columns: COLUMNS });
    const all = () => sequence.after(db.read, 0, 100_000);
    const append = (rows: Row[]) => db.write((tx) => sequence.append(tx, rows));

    before(async () => {
      database = await create();
      db = await database.open({ pool: 20 });
      await migrate(db, []);
      await db.write((tx) => createSchema(tx, 'notes').createSequenceTables('notes_row', COLUMNS));
    });
    after(() => database.drop());
    beforeEach(async () => {
      sequence = open();
      await sequence.start();
    });
    afterEach(async () => {
      await sequence.stop();
      await db.write(async (tx) => {
        await tx('notes_row_log').delete();
        await tx('notes_row_outbox').delete();
        await tx('notes_row_head').update({ last_seq: 0, floor_seq: 0 });
      });
    });

    it('numbers rows from 1, in the order they were appended, and notifies listeners', async () => {
      const heard: number[] = [];
      sequence.onAdvance((seq) => heard.push(seq));
      await append([{ writer: 1, number: 10 }, { writer: 1, number: 11 }]);
      await append([{ writer: 1, number: 12 }]);
      await until(async () => heard.at(-1) === 3);
      expect(await all()).to.equal([{ seq: 1, writer: 1, number: 10 }, { seq: 2, writer: 1, number: 11 }, { seq: 3, writer: 1, number: 12 }]);
      expect(await sequence.head(db.read)).to.equal({ last_seq: 3, floor_seq: 0 });
      expect(await sequence.after(db.read, 1, 1)).to.equal([{ seq: 2, writer: 1, number: 11 }]);
    });

    it('leaves no gap and notifies no listener when a transaction is rolled back', async () => {
      const heard: number[] = [];
      sequence.onAdvance((seq) => heard.push(seq));
      await expect(db.write(async (tx) => {
        await sequence.append(tx, [{ writer: 1, number: 1 }]);
        throw new Error('no');
      })).to.reject('no');
      await sleep(50);
      expect(heard).to.equal([]);
      await append([{ writer: 1, number: 2 }]);
      await until(async () => heard.length > 0);
      expect(await all()).to.equal([{ seq: 1, writer: 1, number: 2 }]);
    });

    it('takes more rows at once than a statement does', async () => {
      await append(Array.from({ length: 1300 }, (_, number) => ({ writer: 1, number })));
      await until(async () => (await sequence.head(db.read)).last_seq === 1300);
      expect((await all()).every((row, index) => row.seq === index + 1 && row.number === index)).to.be.true();
    });

    it('does what follows from new rows in the transaction that numbers them, and what follows from their removal in that one', async () => {
      await sequence.stop();
      const told: string[] = [];
      let fails = false;
      sequence = createSequence<Row>({
        db: () => db, log: quiet, name: 'notes_row', columns: COLUMNS,
        numbered: async (tx, rows) => {
          if (fails) throw new Error('not now');
          // Only what is committed together with it can be seen here.
          const seen = await tx('notes_row_log').whereIn('seq', rows.map(({ seq }) => seq)).count({ count: '*' }).first();
          told.push(`${rows.map(({ seq, number }) => `${seq}=${number}`).join(' ')} (${seen!.count})`);
        },
        pruned: async (_tx, floor) => { told.push(`up to ${floor}`); },
      });
      await sequence.start();
      await append([{ writer: 1, number: 7 }, { writer: 1, number: 8 }]);
      await until(async () => told.length === 1);
      expect(told).to.equal(['1=7 2=8 (2)']);
      fails = true;
      await append([{ writer: 1, number: 9 }]).catch(() => undefined);
      await sleep(50);
      expect((await sequence.head(db.read)).last_seq).to.equal(2);
      fails = false;
      await sequence.prune(1);
      expect(told.at(-1)).to.equal('up to 1');
    });

    it('prunes up to a number and keeps counting', async () => {
      await append(Array.from({ length: 1200 }, (_, number) => ({ writer: 1, number })));
      await until(async () => (await sequence.head(db.read)).last_seq === 1200);
      expect(await sequence.prune(1100)).to.equal(1100);
      expect(await sequence.head(db.read)).to.equal({ last_seq: 1200, floor_seq: 1100 });
      expect((await all())[0]!.seq).to.equal(1101);
      expect(await sequence.prune(5000)).to.equal(100);
      await append([{ writer: 2, number: 0 }]);
      await until(async () => (await all()).length > 0);
      expect(await all()).to.equal([{ seq: 1201, writer: 2, number: 0 }]);
    });

    it('numbers at start what a process that died or a restored backup left behind', async () => {
      await sequence.stop();
      await db.write((tx) => tx('notes_row_outbox').insert([{ writer: 1, number: 1 }, { writer: 1, number: 2 }]));
      sequence = open();
      await sequence.start();
      await until(async () => (await all()).length === 2);
      expect(await db.read('notes_row_outbox').select('*')).to.equal([]);
    });

    it('loses and repeats nothing with 16 writers that hold their transactions, several sequencers and a reader that only goes forward', async () => {
      const others = dialect === 'postgres' ? [open(), open()] : [];
      for (const other of others) await other.start();
      const writers = 16;
      const each = 25;
      const seen: (Row & { seq: number })[] = [];
      let isDone = false;
      const reader = (async () => {
        while (!isDone || seen.length < (await sequence.head(db.read)).last_seq) {
          seen.push(...await sequence.after(db.read, seen.at(-1)?.seq ?? 0, 50));
          await sleep(1);
        }
      })();
      await Promise.all(Array.from({ length: writers }, async (_, writer) => {
        for (let number = 0; number < each; number++) {
          await db.write(async (tx) => {
            await sequence.append(tx, [{ writer, number }]);
            if (dialect === 'postgres' && Math.random() < 0.3) await sleep(Math.random() * 6);
          });
        }
      }));
      await until(async () => (await sequence.head(db.read)).last_seq === writers * each);
      isDone = true;
      await reader;
      for (const other of others) await other.stop();
      expect(seen.map(({ seq }) => seq)).to.equal(Array.from({ length: writers * each }, (_, index) => index + 1));
      for (let writer = 0; writer < writers; writer++) {
        expect(seen.filter((row) => row.writer === writer).map(({ number }) => number)).to.equal(Array.from({ length: each }, (_, number) => number));
      }
    });

    if (dialect === 'postgres') {
      it('notifies other nodes through LISTEN, without their polls', async () => {
        const other = await database.open();
        let mayPoll = true;
        const polled = () => {
          if (!mayPoll) throw new Error('no polls');
          return other;
        };
        const elsewhere = createSequence<Row>({ db: polled, log: quiet, name: 'notes_row', columns: COLUMNS });
        await elsewhere.start();
        mayPoll = false;
        const heard = new Promise<number>((resolve) => elsewhere.onAdvance(resolve));
        await append([{ writer: 1, number: 1 }]);
        expect(await heard).to.equal(1);
        await elsewhere.stop();
      });

      it('is not held up by a transaction that stays open', async () => {
        const heard: number[] = [];
        sequence.onAdvance((seq) => heard.push(seq));
        let release: (() => void) | undefined;
        const slow = db.write(async (tx) => {
          await sequence.append(tx, [{ writer: 1, number: 1 }]);
          await new Promise<void>((resolve) => { release = resolve; });
        });
        await until(() => release !== undefined);
        await append([{ writer: 2, number: 1 }]);
        await until(async () => heard.length === 1);
        release!();
        await slow;
        await until(async () => heard.length === 2);
        expect((await all()).map(({ writer }) => writer)).to.equal([2, 1]);
      });
    }
  });
}
