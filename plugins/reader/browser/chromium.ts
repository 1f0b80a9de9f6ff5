import { spawn, type ChildProcess } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReaderConfig } from '../config.ts';
import { RenderError } from './error.ts';
import { watchMemory } from './memory.ts';
import { createPipe, type Pipe } from './pipe.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const PROFILE = 'civic-browser-';
/** The browser has a socket in its folder, whose whole path the system limits to some hundred characters. */
const LONGEST_FOLDER = 35;
/** No page takes as long. */
const STALE_MS = 3600_000;

/** Nothing leads to the network: each of the first three lines alone keeps connections from it, the fourth keeps datagrams of WebRTC from it. It has had two names. */
const ISOLATION = [
  '--proxy-server=http://127.0.0.1:9', '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-domain-reliability', '--no-pings', '--dns-prefetch-disable',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp', '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-features=MediaRouter,DialMediaRouteProvider,OptimizationHints,Translate',
];
const QUIET = [
  '--headless', '--remote-debugging-pipe', '--no-startup-window', '--disable-gpu', '--disable-software-rasterizer', '--disable-dev-shm-usage', '--disable-extensions', '--disable-default-apps', '--disable-breakpad', '--disable-crash-reporter',
  '--no-first-run', '--no-default-browser-check', '--mute-audio', '--password-store=basic', '--use-mock-keychain', '--js-flags=--max-old-space-size=256',
];

/** Which Chromium is used, or why none is. */
export type Chosen = { path: string; missing: null } | { path: null; missing: 'off' | 'not_found' | 'not_there' | 'root' };

export function chosenChromium({ browser_fallback_enabled, browser_path, browser_sandbox }: Pick<ReaderConfig, 'browser_fallback_enabled' | 'browser_path' | 'browser_sandbox'>): Chosen {
  if (!browser_fallback_enabled) return { path: null, missing: 'off' };
  const path = (browser_path === null ? inPath() : [browser_path]).find(isExecutable);
  if (path === undefined) return { path: null, missing: browser_path === null ? 'not_found' : 'not_there' };
  return browser_sandbox && process.getuid?.() === 0 ? { path: null, missing: 'root' } : { path, missing: null };
}

function inPath(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface Chromium extends Pick<Pipe, 'send' | 'listen' | 'failed'> {
  /** Ends the browser at once: running calls reject with the reason. */
  fail(reason: Error): void;
  /** Kills all processes of the browser, and deletes its profile. */
  close(): Promise<void>;
}

/** Starts a browser with a profile of its own, in a process group of its own. It ends by itself when this process does: the pipe is closed then. */
export async function startChromium(path: string, { sandbox }: { sandbox: boolean }): Promise<Chromium> {
  await deleteStaleProfiles();
  const profile = await mkdtemp(join(folder(), PROFILE));
  const child = spawn(path, [...QUIET, ...ISOLATION, ...(sandbox ? [] : ['--no-sandbox']), `--user-data-dir=${profile}`], {
    detached: true, cwd: profile, stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH, HOME: profile, TMPDIR: profile, LANG: 'en_US.UTF-8' },
  });
  const ended = new Promise<void>((resolve) => { child.once('exit', resolve).once('error', resolve); });
  const pipe = createPipe(child.stdio[3] as Writable, child.stdio[4] as Readable);
  child.once('error', (cause) => pipe.close(new RenderError('render_failed', 'The browser could not be started.', { cause })));
  const { pid } = child;
  const unwatch = pid === undefined ? () => {} : watchMemory(pid, () => fail(new RenderError('too_large', 'The page took more memory than a browser may use.')));

  function fail(reason: Error): void {
    pipe.close(reason);
    signalGroup(child, 'SIGKILL');
  }

  return {
    send: pipe.send, listen: pipe.listen, failed: pipe.failed, fail,
    async close() {
      unwatch();
      fail(new RenderError('render_failed', 'The browser was closed.'));
      await ended;
      await groupEnded(child);
      await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    },
  };
}

/** Sends a signal to all processes of the browser. Returns false when all have ended. */
function signalGroup({ pid }: ChildProcess, signal: 'SIGKILL' | 0): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/** Waits for processes that the system is still ending. In a container without an init process they stay listed, so the wait is bounded. */
async function groupEnded(child: ChildProcess): Promise<void> {
  for (let waited = 0; waited < 40 && signalGroup(child, 0); waited++) await sleep(25);
}

function folder(): string {
  return tmpdir().length > LONGEST_FOLDER ? '/tmp' : tmpdir();
}

/** Deletes the profiles that a killed process of this user left. Others may write to the folder too: what they left there, such as a link of that name, stays. */
async function deleteStaleProfiles(): Promise<void> {
  const names = (await readdir(folder()).catch(() => [])).filter((name) => name.startsWith(PROFILE));
  for (const path of names.map((name) => join(folder(), name))) {
    const found = await lstat(path).catch(() => null);
    if (!found?.isDirectory() || found.uid !== process.getuid?.() || Date.now() - found.mtimeMs <= STALE_MS) continue;
    // A profile that cannot be deleted must not keep pages from being read.
    await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}
