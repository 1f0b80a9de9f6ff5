import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Pool } from 'undici';

/** A server under measurement: a module that listens and answers `cpu` messages. */
export interface Target {
  name: string;
  /** Path of the compiled module. */
  module: string;
  args?: string[];
  path: string;
  /** GET when absent. */
  method?: 'GET' | 'POST';
  body?: string;
  /** What differs from request to request, in turn, so that requests in flight do not share a response. */
  turns?: { path?: string; body?: string }[];
  headers?: Record<string, string>;
  /** Asks the second server of that process. */
  isBeside?: boolean;
  /** The name of a credential that the server reports; its headers are sent as well. */
  credential?: string;
}

export interface Sample {
  /** Server CPU microseconds a request: the steadiest figure on a busy machine. */
  cpu: number;
  perSecond: number;
}

export interface Row {
  name: string;
  cpu: number;
  perSecond: number;
  /** Median over rounds of this target's CPU against the first target's in the same round. */
  ratio: number;
  /** The same of requests a second. */
  rate: number;
  /** The quietest round of each: what the machine's other work has least part in. */
  best: number;
}

interface Server {
  child: ChildProcess;
  port: number;
  pool: Pool;
  beside: Pool | null;
  credentials: Record<string, Record<string, string>>;
}

interface Running extends Server {
  target: Target;
}

const nameOf = ({ module, args = [] }: Pick<Target, 'module' | 'args'>) => JSON.stringify([module, args]);

const CONNECTIONS = 64;

/** Measures targets in turn, round by round, so that noise of the machine hits all alike. The first one is the yardstick. */
export async function compare(targets: Target[], options: { rounds: number; seconds: number }): Promise<Row[]> {
  // Targets that differ in what is asked share a process.
  const launched = new Map<string, Promise<Server>>();
  const serverOf = (target: Target) => launched.get(nameOf(target)) ?? launched.set(nameOf(target), launch(target)).get(nameOf(target))!;
  const running = await Promise.all(targets.map(async (target): Promise<Running> => ({ target, ...await serverOf(target) })));
  const samples = targets.map((): Sample[] => []);
  try {
    for (const one of running) await load(one, 3);
    for (let round = 0; round < options.rounds; round++) {
      for (const [index, one] of running.entries()) samples[index]!.push(await load(one, options.seconds));
    }
  } finally {
    await Promise.all([...launched.values()].map(async (server) => end(await server)));
  }
  return targets.map((target, index) => row(target.name, samples[index]!, samples[0]!));
}

async function launch(target: Pick<Target, 'module' | 'args'>): Promise<Server> {
  // What it logs goes to a file system's bottomless pit, through the same descriptor as in production.
  const child = fork(target.module, target.args ?? [], { env: { ...process.env, UV_THREADPOOL_SIZE: '8' }, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [{ port, beside, credentials = {} }] = (await once(child, 'message')) as [{ port: number } & Reported];
  const poolAt = (at: number) => new Pool(`http://127.0.0.1:${at}`, { connections: CONNECTIONS, pipelining: 1 });
  return { child, port, pool: poolAt(port), beside: beside ? poolAt(beside) : null, credentials };
}

async function load({ target, child, ...server }: Running, seconds: number): Promise<Sample> {
  const pool = target.isBeside ? server.beside! : server.pool;
  const headers = { ...target.headers, ...server.credentials[target.credential ?? ''] };
  const before = await cpuOf(child);
  const started = performance.now();
  const end = started + seconds * 1000;
  const { method = 'GET', path, body, turns = [{}] } = target;
  let count = 0;
  let sent = 0;
  await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    while (performance.now() < end) {
      const answer = await pool.request({ method, path, headers, body, ...turns[sent++ % turns.length] });
      if (answer.statusCode !== 200) throw new Error(`${target.name} answered ${answer.statusCode}`);
      await answer.body.dump();
      count++;
    }
  }));
  const elapsed = (performance.now() - started) / 1000;
  return { cpu: (await cpuOf(child) - before) / count, perSecond: count / elapsed };
}

/** What a process tells next. */
export async function messageOf<Told>(child: ChildProcess): Promise<Told> {
  const stop = new AbortController();
  const exited = once(child, 'exit', stop).then(([code]) => { throw new Error(`${child.spawnargs.slice(1).join(' ')} ended with ${code}`); });
  try {
    const [told] = await Promise.race([once(child, 'message', stop), exited]);
    return told as Told;
  } finally {
    exited.catch(() => undefined);
    stop.abort();
  }
}

async function cpuOf(child: ChildProcess): Promise<number> {
  child.send('cpu');
  const [{ cpu }] = (await once(child, 'message')) as [{ cpu: number }];
  return cpu;
}

/** Starts a server only to ask it things. */
export async function withServer<T>(target: Pick<Target, 'module' | 'args'>, ask: (url: string) => Promise<T>): Promise<T> {
  const server = await launch(target);
  try {
    return await ask(`http://127.0.0.1:${server.port}`);
  } finally {
    await end(server);
  }
}

async function end({ child, pool, beside }: Server): Promise<void> {
  await Promise.all([pool.destroy(), beside?.destroy()]);
  child.kill();
  await once(child, 'exit');
}

function row(name: string, samples: Sample[], yardstick: Sample[]): Row {
  return {
    name,
    cpu: median(samples.map((sample) => sample.cpu)),
    perSecond: median(samples.map((sample) => sample.perSecond)),
    ratio: median(samples.map((sample, round) => sample.cpu / yardstick[round]!.cpu)),
    rate: median(samples.map((sample, round) => sample.perSecond / yardstick[round]!.perSecond)),
    best: Math.min(...samples.map(({ cpu }) => cpu)) / Math.min(...yardstick.map(({ cpu }) => cpu)),
  };
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

export function printRows(title: string, rows: Row[]): void {
  process.stdout.write(`\n${title}\n`);
  for (const { name, cpu, perSecond, ratio, best } of rows) {
    process.stdout.write(`  ${name.padEnd(28)} ${cpu.toFixed(1).padStart(7)} µs  ${ratio.toFixed(2).padStart(5)}x (best rounds ${best.toFixed(2)}x)  ${Math.round(perSecond).toLocaleString('en-US').padStart(8)} requests/s\n`);
  }
}

/** What else a server has for the harness. */
interface Reported {
  /** The port of a second server in the process. */
  beside?: number;
  /** Headers that identify a caller, by the name of the credential. */
  credentials?: Record<string, Record<string, string>>;
}

/** For server modules: sends the port to the harness, and the CPU time used so far when the harness asks. */
export function reportTo(port: number, more: Reported = {}): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send!({ cpu: user + system });
  });
  process.send!({ port, ...more });
}

/** The answer all targets give. */
export function payload(size: 'small' | 'list'): object {
  if (size === 'small') return { status: 'ok', version: '0.1.0' };
  const row = (i: number): object => ({ id: `0190f7c2-0000-7000-8000-${String(i).padStart(12, '0')}`, name: `Neighbours of district ${i}`, type: 'organization', state: 'MO' });
  return { data: Array.from({ length: 50 }, (_, i) => row(i)), total: 50, next_cursor: null };
}
