import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { initialise, installedBin, unprivilegedUser } from '../../core/testing/postgres.ts';
import { freePort } from '../../core/testing/port.ts';

/** A Postgres cluster that tests crash and start again, with the default settings for durability. */
export interface Cluster {
  /** The URL of the database of a superuser. */
  url: string;
  start(): Promise<void>;
  /** SIGQUIT ends it without a checkpoint: the next start recovers from the WAL. */
  stop(signal?: 'SIGQUIT' | 'SIGINT'): Promise<void>;
  /** Sends SIGSTOP to all its processes: connections stay open and nothing responds. */
  freeze(): void;
  thaw(): void;
  /** Creates a superuser who must sign in with this password. */
  requirePassword(user: string, password: string): Promise<void>;
  query(sql: string, url?: string): Promise<Record<string, unknown>[]>;
  log(): string;
  remove(): Promise<void>;
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).filter((each) => parentOf(each) === pid);
}

function parentOf(pid: number): number | null {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return null; // it has ended
  }
}

/** Returns why this machine cannot run a cluster; null when it can. */
export function clusterMissing(): string | null {
  return installedBin() ? null : 'this machine has no Postgres of its own that could be stopped and started';
}

export async function createCluster(): Promise<Cluster> {
  const bin = installedBin()!;
  const user = await unprivilegedUser();
  const folder = mkdtempSync(join(tmpdir(), `civic-postgres-${process.pid}-`));
  if (user.uid !== undefined) await promisify(execFile)('chown', [`${user.uid}:${user.gid}`, folder]);
  const data = join(folder, 'data');
  const logFile = join(folder, 'log');
  await initialise(bin, data, user);
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | null = null;

  async function query(sql: string, to = url): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: to });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  async function start(): Promise<void> {
    server = spawn(join(bin, 'postgres'), ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', '', '-c', 'max_connections=100'], { ...user, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [server.stdout!, server.stderr!]) stream.on('data', (chunk) => { appendFileSync(logFile, chunk); });
    // Without a limit: recovery after a crash reads the WAL.
    for (;; await sleep(20)) {
      if (server.exitCode !== null || server.signalCode !== null) break;
      if (await query('select 1').then(() => true, () => false)) return;
    }
    throw new Error(`Postgres did not start:\n${readFileSync(logFile, 'utf8')}`);
  }

  async function stop(signal: 'SIGQUIT' | 'SIGINT' = 'SIGINT'): Promise<void> {
    const stopping = server;
    server = null;
    if (!stopping || stopping.exitCode !== null) return;
    stopping.kill(signal);
    await once(stopping, 'exit');
  }

  function signalAll(signal: 'SIGSTOP' | 'SIGCONT'): void {
    const { pid } = server!;
    for (const each of [pid!, ...childrenOf(pid!)]) {
      try {
        process.kill(each, signal);
      } catch (error) {
        // A connection may have ended since.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  }

  await start();
  return {
    url,
    start,
    stop,
    query,
    freeze: () => { signalAll('SIGSTOP'); },
    thaw: () => { signalAll('SIGCONT'); },
    async requirePassword(name, password) {
      await query(`create role ${name} login superuser password '${password}'`);
      const rules = join(data, 'pg_hba.conf');
      writeFileSync(rules, `host all ${name} all scram-sha-256\n${readFileSync(rules, 'utf8')}`);
      await query('select pg_reload_conf()');
      const bare = new URL(url);
      bare.username = name;
      while (await query('select 1', bare.href).then(() => true, () => false)) await sleep(10);
    },
    log: () => readFileSync(logFile, 'utf8'),
    async remove() {
      if (server) signalAll('SIGCONT');
      await stop('SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
