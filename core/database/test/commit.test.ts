import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterCommit, shareWork } from '../commit.ts';
import type { OpenDatabase } from '../connect.ts';
import type { Tx } from '../types.ts';
import { databasesOfDrivers, openWith, type TestDatabase } from './support.ts';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

for (const { dialect, name, create } of databasesOfDrivers()) {
  describe(`afterCommit on ${name}`, () => {
    let database: TestDatabase;
    let db: OpenDatabase;
    before(async () => {
      database = await create();
      db = await openWith(database, `await schema.createTable('notes_notes', { key: 'id', body: 'text' });`);
    });
    after(() => database.drop());

    it('calls back once, when others can read what was written', async () => {
      let calls = 0;
      const body = new Promise<string>((resolve, reject) => {
        void db.write(async (tx) => {
          afterCommit(tx, () => {
            calls += 1;
            db.read('notes_notes').first('body').then((row) => resolve(row?.body), reject);
          });
          await tx('notes_notes').insert({ body: 'hello' });
          await sleep(5);
          expect(calls).to.equal(0);
        });
      });
      expect(await body).to.equal('hello');
      expect(calls).to.equal(1);
    });

    it('never calls back for what was rolled back, also beside writes that were not', async () => {
      const calls: number[] = [];
      const writes = [0, 1, 2, 3].map((number) => db.write(async (tx) => {
        afterCommit(tx, () => calls.push(number));
        await tx('notes_notes').insert({ body: String(number) });
        if (number % 2) throw new Error('no');
      }).catch(() => undefined));
      await Promise.all(writes);
      expect(calls.sort()).to.equal([0, 2]);
    });

    it('calls back once for a write that was run again', async () => {
      let runs = 0;
      const calls: number[] = [];
      await db.write(async (tx) => {
        const run = ++runs;
        afterCommit(tx, () => calls.push(run));
        await tx('notes_notes').insert({ body: 'again' });
        if (run === 1 && dialect === 'postgres') throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
      });
      expect(calls).to.equal([dialect === 'postgres' ? 2 : 1]);
    });

    it('does not let a failing callback spoil the write or those after it', async () => {
      let isCalled = false;
      await db.write(async (tx) => {
        afterCommit(tx, () => { throw new Error('oops'); });
        afterCommit(tx, () => { isCalled = true; });
        await tx('notes_notes').insert({ body: 'stored' });
      });
      expect(isCalled).to.be.true();
      await db.write((tx) => tx('notes_notes').insert({ body: 'next' }));
    });
  });

  describe(`shareWork on ${name}`, () => {
    let database: TestDatabase;
    let db: OpenDatabase;
    /** The items of each call. */
    let calls: string[][];
    before(async () => {
      database = await create();
      db = await openWith(database, `await schema.createTable('notes_notes', { key: 'id', body: 'text' });`);
    });
    after(() => database.drop());
    beforeEach(async () => {
      calls = [];
      await db.write((tx) => tx('notes_notes').delete());
    });

    async function store(tx: Tx, bodies: string[]): Promise<void> {
      calls.push(bodies);
      for (const body of bodies) {
        if (body.startsWith('bad')) throw new Error(`${body} cannot be stored`);
        await tx('notes_notes').insert({ body });
      }
    }
    const stored = async (): Promise<string[]> => (await db.read('notes_notes').orderBy('body').pluck('body'));
    const share = (...bodies: string[]) => db.write(async (tx) => { for (const body of bodies) await shareWork(tx, store, [body]); });

    it('stores the items of a write with it, in their order', async () => {
      await share('a', 'b');
      expect(calls.flat()).to.equal(['a', 'b']);
      expect(await stored()).to.equal(['a', 'b']);
    });

    it('leaves out the items of a write that is rolled back, beside writes that are not', async () => {
      const failing = db.write(async (tx) => {
        await shareWork(tx, store, ['lost']);
        throw new Error('no');
      });
      const outcomes = await Promise.allSettled([share('a'), failing, share('b')]);
      expect(outcomes.map(({ status }) => status)).to.equal(['fulfilled', 'rejected', 'fulfilled']);
      expect(await stored()).to.equal(['a', 'b']);
    });

    it('fails only the write whose items cannot be stored', async () => {
      const outcomes = await Promise.allSettled([share('a'), share('b'), share('bad c'), share('d'), share('bad e')]);
      expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.message : 'stored'))).to.equal(['stored', 'stored', 'bad c cannot be stored', 'stored', 'bad e cannot be stored']);
      expect(await stored()).to.equal(['a', 'b', 'd']);
      await share('f');
      expect(await stored()).to.equal(['a', 'b', 'd', 'f']);
    });

    if (dialect === 'sqlite') it('does the work of writes that commit together once, in the order of the writes', async () => {
      const bodies = Array.from({ length: 100 }, (_, index) => `line ${index}`);
      await Promise.all(bodies.map((body) => share(body)));
      expect(calls.flat()).to.equal(bodies);
      expect(calls.length).to.be.below(bodies.length);
      expect(await stored()).to.equal(bodies.toSorted());
    });
  });
}
