import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import pino from 'pino';
import { problemData } from '../../problems.ts';
import { openDatabase } from '../connect.ts';
import { takeWriterLock } from '../lock.ts';
import { hasNodeSqlite, chooseDriver } from '../sqlite/choose.ts';
import type { SqliteConnection } from '../sqlite/driver.ts';
import { createFolder, driverOf, sqliteDrivers } from './support.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** Counts to 3 million, which takes some tenths of a second. */
/** A query that takes longer the more rows it counts. */
const countTo = (rows: number) => `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${rows}) select count(*) as count from n`;

for (const name of sqliteDrivers()) describe(`The SQLite driver ${name}`, () => {
  let file: string;
  let connection: SqliteConnection;

  before(async () => {
    file = join(await createFolder(), 'test.db');
    connection = await (await driverOf(name)).open(file);
    await connection.all('pragma journal_mode = wal');
    await connection.run('create table words (key integer primary key, word unique, text_of_number text)');
  });
  after(() => connection.close());

  const kindOf = async (value: unknown) => (await connection.all('select ? as value, typeof(?) as kind', [value, value]))[0];

  it('binds and returns every kind of value', async () => {
    expect(await kindOf('Zoë')).to.equal({ value: 'Zoë', kind: 'text' });
    expect(await kindOf('')).to.equal({ value: '', kind: 'text' });
    expect(await kindOf(7)).to.equal({ value: 7, kind: 'integer' });
    expect(await kindOf(-0.5)).to.equal({ value: -0.5, kind: 'real' });
    expect(await kindOf(9_007_199_254_740_991)).to.equal({ value: 9_007_199_254_740_991, kind: 'real' });
    expect(await kindOf(12n)).to.equal({ value: 12, kind: 'integer' });
    expect(await kindOf(true)).to.equal({ value: 1, kind: 'integer' });
    expect(await kindOf(false)).to.equal({ value: 0, kind: 'integer' });
    expect(await kindOf(null)).to.equal({ value: null, kind: 'null' });
    expect(await kindOf(undefined)).to.equal({ value: null, kind: 'null' });
    const { value, kind } = (await kindOf(new Uint8Array([0, 255, 10]).subarray(1)))!;
    expect(Buffer.isBuffer(value)).to.be.true();
    expect([value, kind]).to.equal([Buffer.from([255, 10]), 'blob']);
    expect(await kindOf(Buffer.alloc(0))).to.equal({ value: Buffer.alloc(0), kind: 'blob' });
  });

  it('refuses what SQLite has no kind for', async () => {
    for (const value of [{ a: 1 }, [1], new Date(), Symbol('s'), () => 1]) await expect(connection.all('select ?', [value])).to.reject(TypeError, /^A binding of SQLite is text, a number/);
    await expect(connection.all('select ?', [2n ** 53n])).to.reject(RangeError, 'A binding of SQLite is an integer below 2^53, not 9007199254740992');
  });

  it('rounds integers that a number cannot hold, and runs what returns them once', async () => {
    expect(await connection.all('select 9007199254740993 as big, 1 as small')).to.equal([{ big: 9_007_199_254_740_992, small: 1 }]);
    expect(await connection.all("insert into words (key, word) values (9007199254740993, 'big') returning key, word")).to.equal([{ key: 9_007_199_254_740_992, word: 'big' }]);
    expect(await connection.run("delete from words where word = 'big'")).to.include({ changes: 1 });
  });

  it('stores the same text for a number', async () => {
    await connection.run('insert into words (word, text_of_number) values (?, ?)', ['five', 5]);
    expect(await connection.all("select text_of_number as text from words where word = 'five'")).to.equal([{ text: '5' }]);
  });

  it('returns what a statement changed', async () => {
    const { changes, lastID } = await connection.run("insert into words (key, word) values (70, 'a'), (71, 'b')");
    expect({ changes, lastID }).to.equal({ changes: 2, lastID: 71 });
    expect(await connection.run("update words set word = 'c' where word = 'nowhere'")).to.include({ changes: 0 });
    expect(await connection.all('select word from words where key = 99')).to.equal([]);
  });

  it('runs statements in the order in which they were given', async () => {
    const results = await Promise.all([
      connection.run('begin'), connection.run("insert into words (key, word) values (80, 'x')"), connection.all('select count(*) as count from words where key = 80'),
      connection.run('rollback'), connection.all('select count(*) as count from words where key = 80'),
    ]);
    expect([results[2], results[4]]).to.equal([[{ count: 1 }], [{ count: 0 }]]);
  });

  it('reports errors by the code of SQLite, and goes on', async () => {
    const codeOf = async (sql: string) => {
      const error = await expect(connection.run(sql)).to.reject() as Error & { code: string };
      expect(error.message).to.startWith(`${error.code}: `);
      return error.code;
    };
    await connection.run("insert into words (key, word) values (2, 'one')");
    expect(await codeOf("insert into words (word) values ('one')")).to.equal('SQLITE_CONSTRAINT');
    expect(await codeOf('select nothing from nowhere')).to.equal('SQLITE_ERROR');
    expect(await codeOf("insert into words (key, word) values ('no number', 'w')")).to.equal('SQLITE_MISMATCH');
    await connection.all('pragma query_only = 1');
    expect(await codeOf("insert into words (word) values ('two')")).to.equal('SQLITE_READONLY');
    await connection.all('pragma query_only = 0');
    await connection.all('pragma max_page_count = 10');
    expect(await codeOf("insert into words (word) values (zeroblob(100000))")).to.equal('SQLITE_FULL');
    await connection.all('pragma max_page_count = 100000');
    expect(await connection.run("insert into words (word) values ('two')")).to.include({ changes: 1 });
  });

  it('refuses a text without a statement, and skips what stands before one', async () => {
    for (const sql of ['', ' \n', ';', '-- nothing', '/* nothing */ ; -- /*', '/* unfinished', '\0 select 1', '-- a\0\nselect 1', '-- '.repeat(50)]) {
      expect(await expect(connection.all(sql)).to.reject(), sql).to.include({ code: 'SQLITE_MISUSE' });
      expect(await expect(connection.run(sql)).to.reject(), sql).to.include({ code: 'SQLITE_MISUSE' });
    }
    expect(await connection.all('; -- a /* b\n/* c -- d */ /**/ select 1 as one /* e */')).to.equal([{ one: 1 }]);
  });

  it('reports a file that another connection holds as busy', async () => {
    const other = await (await driverOf(name)).open(file);
    await other.all('pragma busy_timeout = 0');
    await connection.run('begin immediate');
    expect(await expect(other.run('begin immediate')).to.reject()).to.include({ code: 'SQLITE_BUSY' });
    await connection.run('commit');
    await other.run('begin immediate');
    await other.close();
    expect(await connection.run("insert into words (word) values ('after close')")).to.include({ changes: 1 });
  });

  it('refuses what is no database, and files that cannot be opened', async () => {
    const folder = await createFolder();
    await writeFile(join(folder, 'text'), 'This is not a database, and it is long enough to be read as one. '.repeat(20));
    const driver = await driverOf(name);
    expect(await expect(driver.open(join(folder, 'missing/file.db'))).to.reject()).to.include({ code: 'SQLITE_CANTOPEN' });
    const text = await driver.open(join(folder, 'text'));
    expect(await expect(text.all('select * from sqlite_schema')).to.reject()).to.include({ code: 'SQLITE_NOTADB' });
    await text.close();
  });

  it('leaves the event loop free during a long query', { timeout: 120_000 }, async () => {
    let turns = 0;
    let isDone = false;
    const counted = connection.all(countTo(30_000)).finally(() => { isDone = true; });
    while (!isDone) {
      await new Promise((resolve) => { setImmediate(resolve); });
      turns++;
    }
    expect(await counted).to.equal([{ count: 30_000 }]);
    expect(turns).to.be.above(100);
  });

  it('finishes what waits before it closes', async () => {
    const other = await (await driverOf(name)).open(file);
    const inserted = other.run("insert into words (word) values ('last')");
    await other.close();
    expect(await inserted).to.include({ changes: 1 });
    await expect((async () => other.run('select 1'))()).to.reject();
  });
});

/** Runs `open` and returns the threads that it started too. */
async function withThreads<T>(open: () => Promise<T>): Promise<[opened: T, threads: Worker[]]> {
  const threads: Worker[] = [];
  const add = (thread: Worker) => threads.push(thread);
  process.on('worker', add);
  try {
    return [await open(), threads];
  } finally {
    process.off('worker', add);
  }
}

describe('A thread of the SQLite driver node that ends unexpectedly', { skip: !hasNodeSqlite() }, () => {
  const ended = { code: 'THREAD_ENDED', message: 'THREAD_ENDED: the thread of node:sqlite ended unexpectedly' };

  it('rejects the statements that wait, and later ones', async () => {
    const driver = await driverOf('node');
    const lost: Error[] = [];
    const [connection, [thread]] = await withThreads(() => driver.open(':memory:', (error) => lost.push(error)));
    const waiting = [connection.all(countTo(3_000_000)), connection.run('select 1')].map((statement) => expect(statement).to.reject());
    await thread!.terminate();
    for (const error of await Promise.all(waiting)) expect(error).to.include(ended);
    expect(await expect(connection.all('select 1')).to.reject()).to.include(ended);
    expect(lost.map(({ message }) => message)).to.equal([ended.message]);
    await connection.close();
  });

  it('states the error that ended it', async () => {
    const driver = await driverOf('node');
    const [connection, [thread]] = await withThreads(() => driver.open(':memory:'));
    thread!.postMessage(null);
    const error = await expect(connection.all('select 1')).to.reject() as Error;
    expect(error.message).to.match(/^THREAD_ENDED: the thread of node:sqlite ended unexpectedly \(.*null/);
    await connection.close();
  });

  it('is not reported when a connection is closed or cannot be opened', async () => {
    const driver = await driverOf('node');
    const lost: Error[] = [];
    const onLost = (error: Error) => lost.push(error);
    await (await driver.open(':memory:', onLost)).close();
    await expect(driver.open(join(await createFolder(), 'missing/file.db'), onLost)).to.reject();
    expect(lost).to.equal([]);
  });

  it('makes writes and readiness fail when it held the lock of the data folder', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'error' }, { write: (line: string) => { lines.push((JSON.parse(line) as { msg: string }).msg); } });
    const dataDir = await createFolder();
    const driver = await driverOf('node');
    const [lock, [thread]] = await withThreads(() => takeWriterLock(dataDir, driver, log));
    const db = await openDatabase({ url: null, dataDir, pool: 1, driver: 'node', log, lock });
    await db.write((tx) => tx.raw('create table words (word)'));
    await db.checkWritable();
    await Promise.all([thread!.terminate(), once(thread!, 'exit')]);
    for (const work of [db.write((tx) => tx.raw('insert into words values (1)')), db.checkWritable()]) {
      expect(problemData(await expect(work).to.reject())?.code).to.equal('database_unavailable');
    }
    expect(await db.read.raw('select * from words')).to.equal([]);
    expect(lines).to.equal(['The lock of the data folder was lost, so another process could write the database: writes are refused until the server is restarted']);
    await lock.release();
    await db.close();
  });

  it('makes writes fail as database_unavailable, and is replaced where it read', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'error' }, { write: (line: string) => { lines.push((JSON.parse(line) as { msg: string }).msg); } });
    const [db, [writer, reader]] = await withThreads(async () => openDatabase({ url: null, dataDir: await createFolder(), pool: 1, driver: 'node', log }));
    await Promise.all([reader!.terminate(), once(reader!, 'exit')]);
    for (let count = 0; count < 10; count++) expect(await db.read.raw('select 1 as one')).to.equal([{ one: 1 }]);
    await writer!.terminate();
    const error = await expect(db.write((tx) => tx.raw('create table words (word)'))).to.reject();
    expect(problemData(error)?.code).to.equal('database_unavailable');
    expect(problemData(await expect(db.checkWritable()).to.reject())?.code).to.equal('database_unavailable');
    expect(lines).to.equal(['A connection that reads the database was lost; the next read opens another', 'The connection that writes the database was lost: writes are refused until the server is restarted']);
    await db.close();
  });
});

describe('The choice of a SQLite driver', () => {
  it('is sqlite3 where that can be loaded', async () => {
    const { driver, fallback } = await chooseDriver('auto');
    expect({ name: driver.name, fallback }).to.equal({ name: 'sqlite3', fallback: null });
  });

  it('refuses node where Node has none', { skip: hasNodeSqlite() }, async () => {
    await expect(chooseDriver('node')).to.reject(`database.driver is node, but Node ${process.versions.node} has no SQLite of its own with full-text search: use Node 22.16 or newer of 22, or Node 24 or newer, or set database.driver to auto`);
  });
});
