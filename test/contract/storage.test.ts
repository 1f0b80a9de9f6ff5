import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases, testServer, type TestServer } from '../../core/testing.ts';
import notes from '../plugins/notes/index.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const TABLES = ['notes_notes', 'core_meta'];

// A full disk of Postgres' machine, as Postgres reports it. test/crash/disk.test.ts fills a real one for SQLite.
describe('Readiness', { skip: !testDatabases().includes('postgres') }, () => {
  let kit: TestServer;
  before(async () => {
    kit = await testServer({ plugins: [notes], database: 'postgres' });
    // A job writes to other tables, and a write that succeeds ends the refusal.
    await kit.composition.jobs.stop();
  });
  after(() => kit.close());

  const run = (sql: string): Promise<void> => kit.db.write(async (tx) => { await tx.raw(sql); });
  const post = async (): Promise<number> => (await kit.request('POST', '/api/notes', { payload: { text: 'x' } })).status;
  const ready = async (): Promise<number> => (await kit.request('GET', '/health/ready')).status;

  it('is 503 while the disk of Postgres refuses writes, and 200 when it takes them again', async () => {
    await run("create function disk_full() returns trigger language plpgsql as $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$");
    for (const table of TABLES) await run(`create trigger disk_full before insert on ${table} execute function disk_full()`);
    expect(await ready()).to.equal(200);
    expect(await post()).to.equal(503);
    expect(await ready()).to.equal(503);
    expect((await kit.request('GET', '/api/notes')).status).to.equal(200);
    for (const table of TABLES) await kit.db.read.raw(`drop trigger disk_full on ${table}`);
    expect(await ready()).to.equal(200);
    expect(await post()).to.equal(201);
  });
});
