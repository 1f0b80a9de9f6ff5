import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { driverEnvironment } from '../../core/testing/database.ts';
import { freePort } from '../../core/testing/port.ts';
import { slowness } from '../../core/test/wait.ts';
import { cpuSecondsOf } from './cpu.ts';
import { runCivicInProcess } from './in-process.ts';

const root = join(import.meta.dirname, '../../..');
// A start fails when the server neither uses CPU nor writes anything for this long.
const IDLE_MS = 60_000;
const CHECK_MS = 1000;
const POLL_MS = 50;

/** The folder of the compiled plugins of the tests, for `from:`. */
export const testPlugins = join(import.meta.dirname, '../plugins');

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** A program, with its arguments, that runs `bin/civic`, such as `unshare`. */
  through?: string[];
  /** Another user to run as. */
  uid?: number;
  /** Another copy of the kit than this one. */
  root?: string;
}

/** An instance with its own config file and data folder, both temporary. */
export interface Instance {
  folder: string;
  configFile: string;
  /** Runs `bin/civic` with its config file. */
  civic(...args: string[]): Promise<Ended>;
  /** Runs the command in this process, for tests of the command rather than of the process. Ignores `through`, `uid` and `root`. */
  civicInProcess(...args: string[]): Promise<Ended>;
  serve(...args: string[]): Promise<Served>;
  /** Starts a server without waiting until it responds. */
  start(...args: string[]): Promise<Starting>;
  remove(): void;
}

export interface Served {
  url: string;
  child: ChildProcess;
  output: () => string;
  /** Sends a signal and returns the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** A server that may not respond yet. */
export interface Starting extends Served {
  /** Resolves when the server responds. */
  ready(): Promise<void>;
}

export interface InstanceOptions extends RunOptions {
  /** Copies a SQLite database that the test run has created for the same plugins. For tests of anything but the creation. */
  ready?: boolean;
}

export function createInstance(config: object | string = {}, { ready, ...options }: InstanceOptions = {}): Instance {
  const folder = mkdtempSync(join(tmpdir(), 'civic-instance-'));
  const configFile = join(folder, 'civic.yaml');
  writeFileSync(configFile, typeof config === 'string' ? config : JSON.stringify({ data_dir: join(folder, 'data'), ...config }, null, 2));
  let preparing: Promise<unknown> | null = null;
  const prepared = async (args: string[]): Promise<string[]> => {
    // Imported here because it loads all of core.
    if (ready) await (preparing ??= import('./template.ts').then(({ readyDatabase }) => readyDatabase('sqlite', (config as { plugins: object }).plugins, join(folder, 'data'))));
    return [...args, '--config', configFile];
  };
  return {
    folder,
    configFile,
    civic: async (...args) => runCivic(await prepared(args), options),
    civicInProcess: async (...args) => runCivicInProcess(await prepared(args), options),
    serve: async (...args) => serveCivic(await prepared(args), options),
    start: async (...args) => startCivic(await prepared(args), options),
    remove: () => { rmSync(folder, { recursive: true, force: true }); },
  };
}

function launch(args: string[], options: RunOptions): ChildProcess {
  const [command, ...words] = [...(options.through ?? []), join(options.root ?? root, 'bin/civic'), ...args];
  return spawn(command!, words, {
    cwd: options.cwd ?? options.root ?? root,
    uid: options.uid,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...driverEnvironment(), ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

export async function runCivic(args: string[], options: RunOptions = {}): Promise<Ended> {
  const child = launch(args, options);
  let stdout = '';
  let stderr = '';
  child.stdout!.on('data', (chunk) => { stdout += chunk; });
  child.stderr!.on('data', (chunk) => { stderr += chunk; });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

export async function serveCivic(args: string[], options: RunOptions = {}): Promise<Served> {
  const served = await startCivic(args, options);
  await served.ready();
  return served;
}

export async function startCivic(args: string[], options: RunOptions = {}): Promise<Starting> {
  const port = await freePort();
  const child = launch(['serve', '--port', String(port), ...args], options);
  let output = '';
  child.stdout!.on('data', (chunk) => { output += chunk; });
  child.stderr!.on('data', (chunk) => { output += chunk; });
  const url = `http://127.0.0.1:${port}`;
  const closed = once(child, 'close');
  return {
    url,
    child,
    output: () => output,
    ready: () => untilReady(url, child, () => output),
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await closed;
      return child.exitCode;
    },
  };
}

/** Waits until the server responds, for as long as it uses CPU or writes output: slow machines take long. */
async function untilReady(url: string, child: ChildProcess, output: () => string): Promise<void> {
  const work = () => `${output().length} ${cpuSecondsOf(child.pid!)}`;
  let [seen, since, nextCheck] = ['', performance.now(), 0];
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`The server ended with ${child.signalCode ?? `exit code ${child.exitCode}`}:\n${output()}`);
    const response = await fetch(`${url}/health`).catch(() => null);
    if (response?.ok) return;
    await new Promise((done) => { setTimeout(done, POLL_MS); });
    if (performance.now() < nextCheck) continue;
    nextCheck = performance.now() + CHECK_MS;
    const now = work();
    if (now !== seen) [seen, since] = [now, performance.now()];
    if (performance.now() - since > IDLE_MS * slowness) break;
  }
  child.kill('SIGKILL');
  throw new Error(`The server did nothing for ${Math.round(IDLE_MS * slowness / 1000)} s and does not respond:\n${output()}`);
}
