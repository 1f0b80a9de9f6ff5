import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../core/testing/port.ts';
import { messageOf } from '../harness.ts';
import { requestOf, textUntil, withPublisher } from './clients.ts';
import { draft, queryOf } from './signals.ts';

/** A server that keeps streams open and is published to over HTTP. */
export interface Subject {
  name: string;
  port: number;
  /** Whose CPU and memory are measured. */
  pid: number;
  subscribe(subscriber: number): { path: string; headers: Record<string, string> };
  publish: { path: string; contentType: string; body: string };
  /** Collects garbage, where there is any. */
  tidy(): Promise<void>;
  stop(): Promise<void>;
}

const SERVERS = join(import.meta.dirname, '../servers');
/** What Debian's package installs. */
const NCHAN = '/usr/lib/nginx/modules/ngx_nchan_module.so';
export const NCHAN_IS = 'nchan is memory-only and unfiltered';

export async function startCivic(): Promise<Subject> {
  const folder = mkdtempSync(join(tmpdir(), 'civic-bench-'));
  const { child, told, stop } = await forked('firehose.js', [folder]);
  return {
    name: 'civic', port: told.port, pid: child.pid!,
    subscribe: (subscriber) => ({ path: `/api/firehose?${queryOf(subscriber)}`, headers: { 'X-API-Key': told.key! } }),
    publish: { path: '/api/wire', contentType: 'application/json', body: JSON.stringify({ signals: [draft()] }) },
    tidy: () => tidy(child),
    async stop() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Writes the given frame to everybody. */
export async function startBare(frame: string): Promise<Subject> {
  const { child, told, stop } = await forked('broadcast.js', []);
  return {
    name: 'bare node', port: told.port, pid: child.pid!,
    subscribe: () => ({ path: '/', headers: {} }),
    publish: { path: '/', contentType: 'text/plain', body: frame },
    tidy: () => tidy(child),
    stop,
  };
}

/** With `CIVIC_BENCH_NODE_ARGS=--cpu-prof` it leaves a profile. */
async function forked(module: string, args: string[]): Promise<{ child: ChildProcess; told: { port: number; key?: string }; stop(): Promise<void> }> {
  const execArgv = ['--expose-gc', ...(process.env.CIVIC_BENCH_NODE_ARGS?.split(' ') ?? [])];
  const child = fork(join(SERVERS, module), args, { execArgv, env: { ...process.env, UV_THREADPOOL_SIZE: '8' }, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const told = await messageOf<{ port: number; key?: string }>(child);
  const stop = async () => {
    child.disconnect();
    await once(child, 'exit');
  };
  return { child, told, stop };
}

async function tidy(child: ChildProcess): Promise<void> {
  child.send('gc');
  await messageOf(child);
}

/** One worker of nginx that keeps the newest messages. Null, with the reason printed, where it is not installed. */
export async function startNchan(data: string): Promise<Subject | null> {
  if (!existsSync(NCHAN)) {
    process.stdout.write('\nskipped: nchan is not installed (apt-get install nginx libnginx-mod-nchan)\n');
    return null;
  }
  const folder = mkdtempSync(join(tmpdir(), 'civic-bench-nchan-'));
  const port = await freePort();
  writeFileSync(join(folder, 'nginx.conf'), nchanConfig(folder, port));
  const child = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')], { stdio: 'ignore' });
  return {
    name: 'nchan', port, pid: await workerOf(child, folder),
    subscribe: () => ({ path: '/stream', headers: {} }),
    publish: { path: '/publish', contentType: 'text/plain', body: data },
    tidy: async () => undefined,
    async stop() {
      child.kill();
      await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function nchanConfig(folder: string, port: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ');
  return `load_module ${NCHAN};
user ${userInfo().username};
daemon off; worker_processes 1; worker_rlimit_nofile 20000; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 20000; }
http {
  access_log off; keepalive_requests 1000000000; nchan_shared_memory_size 512m; ${temporary}
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /publish { nchan_publisher; nchan_channel_id bench; nchan_message_buffer_length 2500; nchan_message_timeout 1h; }
    location = /stream { nchan_subscriber eventsource; nchan_channel_id bench; nchan_subscriber_first_message newest; }
  }
}
`;
}

async function workerOf(child: ChildProcess, folder: string): Promise<number> {
  for (const end = Date.now() + 5000; Date.now() < end; await sleep(20)) {
    if (child.exitCode !== null) break;
    const [worker] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ').filter(Boolean);
    if (worker) return Number(worker);
  }
  throw new Error(`nginx does not start: ${readFileSync(join(folder, 'error.log'), 'utf8')}`);
}

/** A signal as Civic sends it: the whole frame, and its data alone. */
export async function sampleOf(civic: Subject): Promise<{ frame: string; data: string }> {
  return withPublisher(civic, 1, async (publish) => {
    const [frame, data] = await textUntil(civic, requestOf(civic, 0, {}), /(?:(?:id|event): .*\n)*event: firehose\.signal\n(?:id: .*\n)?data: (.*)\n\n/, () => { void publish(); });
    return { frame, data: data! };
  });
}

/** Microseconds of CPU that a process has used. */
export function cpuOf({ pid }: Subject): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** Kilobytes of memory that it has now. */
export function memoryOf({ pid }: Subject): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
}
