import { writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { slowness } from '../../test/wait.ts';
import { problemData } from '../../problems.ts';
import { openDatabase, type OpenDatabase } from '../connect.ts';
import { createFolder, databasesOfDrivers, openWith, quiet, sqliteDrivers, type TestDatabase } from './support.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const KINDS = `await schema.createTable('notes_kinds', { key: 'id', id: 'uuid', name: 'text', small: 'int', big: 'bigint', ratio: 'real', is_open: 'bool', at: 'time', data: 'json', bytes: 'blob', none: 'text?' }, { unique: [['id']] });
  await schema.createTable('notes_parts', { key: 'id', kind_key: 'bigint' }, { references: { kind_key: 'notes_kinds.key' } });`;

const ROW = {
  id: '0190a1b2-0000-7000-8000-00000000000a', name: 'Zoë', small: -7, big: 9_007_199_254_740_991, ratio: 0.1, is_open: true,
  at: '2026-03-29T01:30:00.120Z', data: '{"a":[1,null]}', bytes: Buffer.from([0, 255, 10]), none: null,
};

for (const { dialect, name, create } of databasesOfDrivers()) {
  describe(`database on ${name}`, () => {
    let database: TestDatabase;
    let db: OpenDatabase;

    before(async () => {
      database = await create();
      db = await openWith(database, KINDS);
      await db.write((tx) => tx('notes_kinds').insert(ROW));
    });
    after(() => database.drop());

    it('reads every kind of column the same', async () => {
      const row = await db.read('notes_kinds').where({ is_open: true }).first();
      expect(JSON.parse(row.data)).to.equal({ a: [1, null] });
      expect({ ...row, data: ROW.data }).to.equal({ ...ROW, key: 1, is_open: 1 });
      expect(row.data).to.be.a.string();
    });

    it('answers rows from raw, and numbers from counts and sums', async () => {
      const rows = await db.read.raw('select count(*) as count, sum(small) as total from notes_kinds');
      expect(rows).to.equal([{ count: 1, total: -7 }]);
    });

    it('shows one moment inside a snapshot', async () => {
      await db.snapshot(async (tx) => {
        const [before] = await tx('notes_kinds').count({ rows: '*' });
        await database.open().then((other) => other.write((writing) => writing('notes_kinds').insert({ ...ROW, id: '0190a1b2-0000-7000-8000-00000000000b' })));
        expect(await tx('notes_kinds').count({ rows: '*' })).to.equal([before]);
      });
      expect(await db.read('notes_kinds').count({ rows: '*' })).to.equal([{ rows: 2 }]);
    });

    it('refuses to write in a snapshot and keeps what was there', async () => {
      await expect(db.snapshot((tx) => tx('notes_kinds').delete())).to.reject();
      expect(await db.read('notes_kinds').first('key')).to.exist();
    });

    it('refuses db.read, db.write and db.snapshot inside db.write by name', async () => {
      await expect(db.write(() => db.read('notes_kinds'))).to.reject(/db\.read was used inside db\.write/);
      await expect(db.write(() => db.write(async () => 1))).to.reject(/db\.write was used inside db\.write/);
      await expect(db.write(() => db.snapshot(async () => 1))).to.reject(/db\.snapshot was used inside db\.write/);
      await expect(db.snapshot(() => db.write(async () => 1))).to.reject(/db\.write was used inside db\.snapshot/);
      expect(await db.write(async (tx) => (await tx('notes_kinds').first('small')).small)).to.equal(-7);
    });

    it('refuses a repeated key and a missing parent', async () => {
      await expect(db.write((tx) => tx('notes_kinds').insert(ROW))).to.reject(/unique constraint/i);
      await expect(db.write((tx) => tx('notes_parts').insert({ kind_key: 999 }))).to.reject(/foreign key constraint/i);
    });

    it('keeps values out of errors', async () => {
      const secret = '0190a1b2-0000-7000-8000-00000000000a';
      const errors = await Promise.all([
        expect(db.write((tx) => tx('notes_kinds').insert(ROW))).to.reject(),
        expect(db.write((tx) => tx('notes_kinds').where('key', 1).update({ small: `secret ${secret}` }))).to.reject(),
        expect(db.write((tx) => tx('notes_kinds').where('key', 1).update({ id: `secret ${secret}` }))).to.reject(),
      ]);
      for (const error of errors as Error[]) expect(JSON.stringify({ ...error, message: error.message })).to.not.contain(secret);
    });

    if (dialect !== 'sqlite') it('stores nothing when an error inside the transaction was ignored', async () => {
      const ignoring = db.write(async (tx) => {
        await tx('notes_parts').insert({ kind_key: 1 });
        await tx('notes_kinds').insert(ROW).catch(() => undefined);
      });
      await expect(ignoring).to.reject(/Nothing was stored/);
      expect(await db.read('notes_parts').count({ rows: '*' })).to.equal([{ rows: 0 }]);
    });

    it('answers a ping, refuses writes after it was closed, and finishes those that wait', async () => {
      const other = await database.open();
      await other.ping();
      const waiting = other.write((tx) => tx('notes_parts').insert({ kind_key: 1 }));
      await other.close();
      await waiting;
      await expect(other.write(async () => 1)).to.reject('db.write was called after the database was closed');
      expect(await db.read('notes_parts').count({ rows: '*' })).to.equal([{ rows: 1 }]);
    });

    if (dialect !== 'sqlite') it('hears notifications, also after its connection was cut', { timeout: 60_000 }, async () => {
      const heard: string[] = [];
      const stop = await db.listen('notes', (payload) => heard.push(payload));
      const notify = (payload: string) => db.read.raw('select pg_notify(?, ?)', ['notes', payload]);
      const until = async (payload: string) => {
        for (let tries = 0; tries < 300 && !heard.includes(payload); tries++) {
          await notify(payload);
          await sleep(100);
        }
      };
      await until('first');
      await db.read.raw("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen%'");
      await until('second');
      await stop();
      await notify('third');
      await sleep(50);
      expect([...new Set(heard)]).to.equal(['first', 'second']);
    });

    if (dialect !== 'sqlite') it('answers 503 while the server is away and works again when it is back', async () => {
      const cut = await expect(db.write((tx) => tx.raw('select pg_terminate_backend(pg_backend_pid())'))).to.reject();
      expect(problemData(cut)?.code).to.equal('database_unavailable');
      await db.write((tx) => tx('notes_kinds').first());
    });

    it('runs one of a name at a time over all nodes', async () => {
      const nodes = await Promise.all([database.open(), database.open()]);
      let inside = 0;
      let most = 0;
      await Promise.all(nodes.map((node) => node.exclusively('test', async () => {
        most = Math.max(most, ++inside);
        await sleep(30);
        inside--;
      })));
      expect(most).to.equal(dialect === 'sqlite' ? 2 : 1);
    });
  });
}

/** Forwards connections to a server until it is silent; then neither old nor new connections get a byte. New ones do after `respond`. */
async function createProxy(target: URL) {
  let isSilent = false;
  let clients = 0;
  const all = new Set<Socket>();
  const server = createServer((client) => {
    clients += 1;
    client.on('close', () => { clients -= 1; }).on('error', () => undefined);
    all.add(client);
    client.resume();
    if (isSilent) return;
    const socket = target.searchParams.get('host');
    const upstream = socket ? connect(join(socket, `.s.PGSQL.${target.searchParams.get('port') ?? (target.port || '5432')}`)) : connect(Number(target.port || 5432), target.hostname);
    all.add(upstream);
    upstream.on('error', () => undefined);
    client.pipe(upstream);
    upstream.pipe(client);
    client.on('close', () => { upstream.destroy(); });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.search = '';
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    open: () => clients,
    silence() {
      isSilent = true;
      for (const socket of all) socket.unpipe();
      for (const socket of all) socket.resume();
    },
    respond() { isSilent = false; },
    close() {
      for (const socket of all) socket.destroy();
      server.close();
    },
  };
}

for (const driver of sqliteDrivers()) describe(`opening a SQLite database by the driver ${driver}`, () => {
  const open = (url: string | null, dataDir = '/nowhere') => openDatabase({ url, dataDir, pool: 2, driver, log: quiet });

  it('reads back every pragma on every SQLite connection', async () => {
    const db = await open(null, await createFolder());
    const names = ['journal_mode', 'synchronous', 'busy_timeout', 'foreign_keys', 'cache_size', 'query_only'];
    const pragmas = async (knex: OpenDatabase['read']) => Promise.all(names.map(async (name) => Object.values((await knex.raw(`pragma ${name}`))[0])[0]));
    const readers = await Promise.all(Array.from({ length: 3 }, () => db.snapshot(async (tx) => ({ values: await pragmas(tx), connection: await tx.client.acquireConnection() }))));
    expect(new Set(readers.map(({ connection }) => connection)).size).to.equal(3);
    for (const { values } of readers) expect(values).to.equal(['wal', 2, 5000, 1, -16384, 1]);
    expect(await db.write(pragmas)).to.equal(['wal', 2, 5000, 1, -16384, 0]);
    await db.close();
  });

  it('says what is wrong with a file it cannot open', async () => {
    const folder = await createFolder();
    await writeFile(join(folder, 'text'), 'This is not a database, and it is long enough to be read as one. '.repeat(20));
    await expect(open(`sqlite:${folder}`)).to.reject(`The database file ${folder} cannot be opened: it is a folder.\nTo fix it, name a file with database.url, or move the folder away.`);
    await expect(open(`sqlite:${folder}/text`)).to.reject(new RegExp(`^The database file ${folder}/text cannot be opened: it is not an SQLite database\\.\nTo fix it, stop the server, run mkdir ${folder}/damaged && mv`));
    await expect(open(`sqlite:${folder}/text/civic.db`)).to.reject(/text is a file where a folder is expected/);
  });
});

describe('opening a database', () => {
  const open = (url: string | null, dataDir = '/nowhere') => openDatabase({ url, dataDir, pool: 2, log: quiet });

  it('refuses the address of another database', async () => {
    await expect(open('mysql://host/db')).to.reject('database.url must start with postgres:// or sqlite:');
  });

  it('says within seconds that a server accepts connections but does not respond', { timeout: 30_000 }, async () => {
    const silent = createServer((socket) => { socket.on('error', () => undefined); }).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const began = performance.now();
    await expect(open(`postgres://me@127.0.0.1:${(silent.address() as AddressInfo).port}/db`)).to.reject(/accepts the connection but does not respond/);
    expect(performance.now() - began).to.be.below(15_000 * slowness);
    silent.close();
  });

  if (process.env['CIVIC_TEST_PG_URL']) it('works again after a failover that leaves old connections silent, and closes although they are', { timeout: 60_000 }, async () => {
    const proxy = await createProxy(new URL(process.env['CIVIC_TEST_PG_URL']!));
    const db = await open(proxy.url);
    await db.listen('notes', () => undefined);
    db.failWhenSilent();
    proxy.silence();
    const failed = await expect(db.ping()).to.reject();
    expect(problemData(failed)?.code).to.equal('database_unavailable');
    await sleep(1500); // a probe waits for its response meanwhile
    proxy.respond();
    let isBack = false;
    for (let tries = 0; tries < 100 && !isBack; tries++) {
      isBack = await db.ping().then(() => true, () => false);
      if (!isBack) await sleep(100);
    }
    expect(isBack).to.be.true();
    proxy.silence();
    await db.close();
    for (let tries = 0; tries < 100 && proxy.open() > 0; tries++) await sleep(100);
    expect(proxy.open()).to.equal(0);
    proxy.close();
  });

  it('says what is wrong with a server it cannot reach, without the password', async () => {
    const refused = (await expect(open('postgres://me:secret@127.0.0.1:1/db')).to.reject(/nothing answers there/)) as Error;
    expect(refused.message).to.not.contain('secret');
    if (!process.env['CIVIC_TEST_PG_URL']) return;
    const missing = new URL(process.env['CIVIC_TEST_PG_URL']);
    missing.pathname = '/civic_missing';
    await expect(open(missing.href)).to.reject(/there is no such database/);
  });
});
