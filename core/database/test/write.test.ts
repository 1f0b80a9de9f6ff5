import { copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import pino from 'pino';
import { problemData } from '../../problems.ts';
import { until } from '../../test/wait.ts';
import type { OpenDatabase } from '../connect.ts';
import { openSqlite } from '../sqlite.ts';
import { lenient } from '../strict.ts';
import { createGroupWriter } from '../write.ts';
import { createFolder, databasesOfDrivers, driverOf, openWith, quiet, sqliteDrivers, type TestDatabase } from './support.ts';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const TABLE = "await schema.createTable('notes_lines', { key: 'id', line: 'text' }, { unique: [['line']] });";

for (const { dialect, name, create } of databasesOfDrivers()) {
  describe(`db.write on ${name}`, () => {
    let database: TestDatabase;
    let db: OpenDatabase;

    before(async () => {
      database = await create();
      db = await openWith(database, TABLE);
    });
    after(() => database.drop());
    beforeEach(() => db.write((tx) => tx('notes_lines').delete()));

    const lines = async () => (await db.read('notes_lines').orderBy('line').pluck('line'));
    const insert = (line: string) => db.write((tx) => tx('notes_lines').insert({ line }));

    it('keeps exactly the acknowledged writes of 200 concurrent writers', async () => {
      const outcomes = await Promise.allSettled(Array.from({ length: 200 }, (_, index) => db.write(async (tx) => {
        await tx('notes_lines').insert({ line: `line ${index}` });
        if (index % 3 === 0) throw new Error(`no ${index}`);
        return index;
      })));
      const stored = outcomes.flatMap((outcome, index) => (outcome.status === 'fulfilled' && outcome.value === index ? [`line ${index}`] : []));
      expect(stored.length).to.equal(133);
      expect(await lines()).to.equal(stored.sort());
    });

    it('rejects a failing write alone, with its own error', async () => {
      const outcomes = await Promise.allSettled([insert('a'), insert('a'), insert('b')]);
      const rejected = outcomes.filter((outcome) => outcome.status === 'rejected');
      expect(rejected.map(({ reason }) => /unique constraint/i.test(reason.message))).to.equal([true]);
      expect(await lines()).to.equal(['a', 'b']);
    });

    it('rolls back statements that a failing write had not awaited', async () => {
      await expect(db.write((tx) => Promise.all([tx('notes_lines').insert({ line: null }), tx('notes_lines').insert({ line: 'late' })]))).to.reject();
      await insert('next');
      expect(await lines()).to.equal(['next']);
    });

    it('lets a write undo a part of itself', async () => {
      await db.write(async (tx) => {
        await tx('notes_lines').insert({ line: 'kept' });
        await tx.transaction((inner) => inner('notes_lines').insert({ line: 'kept' })).catch(() => undefined);
      });
      expect(await lines()).to.equal(['kept']);
    });

    it('refuses a transaction that is used after its end', async () => {
      const tx = await db.write(async (inside) => ({ inside }));
      const late = async () => { await tx.inside('notes_lines').insert({ line: 'late' }); };
      await expect(late()).to.reject(/complete/);
      expect(await lines()).to.equal([]);
    });

    it('warns once about writes that take more than a second', { timeout: 30_000 }, async () => {
      const logged: string[] = [];
      const slow = await database.open({ log: pino({ level: 'warn' }, { write: (line: string) => logged.push(line) }) });
      await slow.write(() => sleep(1100));
      await slow.write(() => sleep(1100));
      expect(logged.length).to.equal(1);
      expect(logged[0]).to.contain('more than a second');
      const since = performance.now();
      await slow.write(() => sleep(1));
      // On a machine that stood still it is no quick one.
      if (performance.now() - since < 1000) expect(logged.length).to.equal(1);
      await slow.close();
    });

    it('refuses, in tests, a change that was never awaited, and keeps nothing of the write', async () => {
      const forgetful = db.write(async (tx) => {
        await tx('notes_lines').insert({ line: 'awaited' });
        tx('notes_lines').insert({ line: 'forgotten' });
      });
      await expect(forgetful).to.reject(/^A query in db.write was never run: write await before it \(insert into .*notes_lines/);
      expect(await db.read('notes_lines').whereIn('line', ['awaited', 'forgotten'])).to.equal([]);
      await db.write((tx) => tx('notes_lines').insert({ line: 'returned' }));
      expect(await db.read('notes_lines').where({ line: 'returned' })).to.have.length(1);
    });

    if (dialect !== 'sqlite') it('runs a write again after a deadlock', async () => {
      await Promise.all([insert('x'), insert('y')]);
      let runs = 0;
      let holding = 0;
      const touch = (first: string, second: string) => db.write(async (tx) => {
        runs++;
        await tx('notes_lines').where({ line: first }).update({ line: first });
        holding++;
        await until(() => holding >= 2);
        await tx('notes_lines').where({ line: second }).update({ line: second });
      });
      await Promise.all([touch('x', 'y'), touch('y', 'x')]);
      expect(runs).to.be.above(2);
    });
  });
}

for (const name of sqliteDrivers()) describe(`the writer of SQLite, by the driver ${name}`, () => {
  async function openFile(busyMilliseconds?: number) {
    const folder = await createFolder();
    const file = join(folder, 'civic.db');
    const pools = await openSqlite(await driverOf(name), file, { log: quiet, strictness: lenient });
    const writer = createGroupWriter(pools, { log: quiet, strictness: lenient, ...(busyMilliseconds === undefined ? {} : { busyMilliseconds }) });
    await writer.write((tx) => tx.raw('create table notes (line text)'));
    const count = async () => (await pools.readers.raw('select count(*) as count from notes'))[0].count as number;
    const close = async () => {
      await writer.close();
      await pools.close();
    };
    return { file, writer, pools, count, close };
  }

  async function hold(file: string): Promise<{ release: () => Promise<void> }> {
    const driver = await driverOf(name);
    const other = await driver.open(file);
    await other.run('BEGIN IMMEDIATE');
    return { release: () => other.close() };
  }

  it('waits for another program that writes, and never says the database is locked', async () => {
    const { file, writer, count, close } = await openFile();
    const other = await hold(file);
    const writes = Array.from({ length: 5 }, () => writer.write((tx) => tx.raw("insert into notes values ('a')")));
    await sleep(150);
    expect(await count()).to.equal(0);
    await other.release();
    await Promise.all(writes);
    expect(await count()).to.equal(5);
    await close();
  });

  it('answers database_busy with Retry-After when that takes too long', async () => {
    const { file, writer, count, close } = await openFile(100);
    await writer.write((tx) => tx.raw('pragma busy_timeout = 40'));
    const other = await hold(file);
    const error = await expect(writer.write((tx) => tx.raw("insert into notes values ('a')"))).to.reject();
    expect(problemData(error)?.code).to.equal('database_busy');
    expect(problemData(error)?.headers).to.equal({ 'Retry-After': '5' });
    await other.release();
    await writer.write((tx) => tx.raw("insert into notes values ('b')"));
    expect(await count()).to.equal(1);
    await close();
  });

  it('answers storage_failed while the file is deleted or replaced, instead of storing what no later start finds', async () => {
    const { file, writer, count, close } = await openFile();
    const insert = () => writer.write((tx) => tx.raw("insert into notes values ('a')"));
    await rename(file, `${file}.aside`);
    expect(problemData(await expect(insert()).to.reject())?.code).to.equal('storage_failed');
    await copyFile(`${file}.aside`, file);
    expect(problemData(await expect(insert()).to.reject())?.code).to.equal('storage_failed');
    await rename(`${file}.aside`, file);
    await insert();
    expect(await count()).to.equal(1);
    await close();
  });

  it('answers storage_full alone to the write that found no room, and works again once there is some', async () => {
    const { writer, count, close } = await openFile();
    const insert = (bytes: number) => writer.write((tx) => tx.raw('insert into notes values (?)', ['x'.repeat(bytes)]));
    await writer.write((tx) => tx.raw('pragma max_page_count = 20'));
    const outcomes = await Promise.allSettled([insert(10), insert(500_000), insert(10), insert(10)]);
    expect(outcomes.map(({ status }) => status)).to.equal(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(problemData((outcomes[1] as PromiseRejectedResult).reason)?.code).to.equal('storage_full');
    expect(await count()).to.equal(3);
    await writer.write((tx) => tx.raw('pragma max_page_count = 100000'));
    await insert(500_000);
    expect(await count()).to.equal(4);
    await close();
  });
});
