import { spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { projectRoot } from '../../core/root.ts';
import { until } from '../../core/test/wait.ts';

const MAIN = `export async function main(argv: string[]): Promise<number> {
  console.log(JSON.stringify({ argv, threads: process.env.UV_THREADPOOL_SIZE }));
  return argv.length;
}
`;

const LOCK = {
  name: 'civic',
  lockfileVersion: 3,
  packages: {
    '': { name: 'civic' },
    'node_modules/sqlite3': { version: '1.0.0' },
    'node_modules/typescript': { version: '1.0.0' },
    'node_modules/@types/node': { version: '1.0.0', dev: true },
    'node_modules/only-elsewhere': { version: '1.0.0', optional: true },
  },
};

// Replaces npm, so that no test needs the network: it records its calls and creates the packages of the lock file.
// FAKE_NPM_COMPILER is used as the compiler if set. The install ends when the file FAKE_NPM_UNTIL exists.
// The driver loads once `npm rebuild` has run; with FAKE_NPM=broken-prebuilt only when it is built from source.
const NPM = `#!/usr/bin/env node
const fs = require('fs'), path = require('path');
const [command, ...args] = process.argv.slice(2);
if (command === 'config') { console.log('undefined'); process.exit(0); }
fs.appendFileSync(process.env.FAKE_NPM_CALLS, [command, ...args].join(' ') + '\\n');
const failures = {
  network: ['ci', 'npm error code ENOTFOUND\\nnpm error network request to https://registry.example/sqlite3 failed'],
  disk: ['ci', 'npm error code ENOSPC'],
  compiler: ['rebuild', 'gyp ERR! stack Error: not found: make'],
};
const [failing, words] = failures[process.env.FAKE_NPM] || [];
if (command === failing) {
  for (let line = 1; line <= 30; line++) console.log('line ' + line);
  console.error(words);
  process.exit(1);
}
if (command === 'rebuild') {
  const loads = process.env.FAKE_NPM !== 'broken-prebuilt' || process.env.npm_config_build_from_source;
  fs.writeFileSync('node_modules/sqlite3/driver.js', loads ? '' : 'throw new Error("GLIBC_2.99 not found")');
  process.exit(0);
}
if (command === 'ci') fs.rmSync('node_modules', { recursive: true, force: true });
const wanted = Object.entries(JSON.parse(fs.readFileSync('package-lock.json')).packages)
  .filter(([place, entry]) => place && !entry.optional && (args.includes('--include=dev') || !entry.dev));
for (const [place] of wanted) {
  const real = place.endsWith('/typescript') && process.env.FAKE_NPM_COMPILER || path.join(process.env.FAKE_NPM_PACKAGES, place);
  fs.mkdirSync(path.dirname(place), { recursive: true });
  if (place.endsWith('/sqlite3')) { fs.mkdirSync(place, { recursive: true }); fs.writeFileSync(place + '/index.js', 'require("./driver.js")'); }
  else if (!fs.existsSync(place)) fs.symlinkSync(real, place);
}
const end = () => {
  if (process.env.FAKE_NPM_UNTIL && !fs.existsSync(process.env.FAKE_NPM_UNTIL)) return setTimeout(end, 20);
  fs.writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(wanted) }));
};
end();
`;

// Replaces the compiler where the build is not under test, in a twentieth of the CPU time. Writes main.ts without its types.
const COMPILER = `const fs = require('fs'), path = require('path');
const folder = path.join(process.argv[process.argv.indexOf('--outDir') + 1], 'core', 'cli');
fs.mkdirSync(folder, { recursive: true });
fs.writeFileSync(path.join(folder, 'main.js'), fs.readFileSync('core/cli/main.ts', 'utf8').replace('argv: string[]): Promise<number>', 'argv)'));
`;

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Started {
  pid: number;
  ended: Promise<Ended>;
  /** Resolves when the process has written this to stderr. */
  says(text: string): Promise<void>;
}

function writeCheckout(home: string): void {
  const root = join(home, 'civic');
  const path = join(home, 'path');
  mkdirSync(join(root, 'core', 'cli'), { recursive: true });
  mkdirSync(path);
  cpSync(join(projectRoot, 'bin'), join(root, 'bin'), { recursive: true });
  cpSync(join(projectRoot, 'tsconfig.json'), join(root, 'tsconfig.json'));
  const { exports } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
  writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'civic', type: 'module', exports }));
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify(LOCK));
  writeFileSync(join(root, 'core', 'cli', 'main.ts'), MAIN);
  writeFileSync(join(path, 'npm'), NPM, { mode: 0o755 });
  symlinkSync(process.execPath, join(path, 'node'));
}

/** Creates a checkout in a temporary folder: the bin/ of this one, a small main, a small lock file and a fake npm. With `original`, a copy of that checkout in its present state. */
export function createCheckout(original?: { home: string }) {
  const home = mkdtempSync(join(tmpdir(), 'civic-checkout-'));
  chmodSync(home, 0o755);
  if (original) cpSync(original.home, home, { recursive: true, verbatimSymlinks: true });
  else writeCheckout(home);
  const root = join(home, 'civic');
  const path = join(home, 'path');
  const calls = join(home, 'calls');
  const compiler = join(home, 'typescript');
  function start(command: string[], options: { env?: Record<string, string>; uid?: number; path?: string } = {}): Started {
    const env = { PATH: options.path ?? path, HOME: home, FAKE_NPM_CALLS: calls, FAKE_NPM_PACKAGES: projectRoot, FAKE_NPM_COMPILER: existsSync(compiler) ? compiler : '', ...options.env };
    const child = spawn(process.execPath, command, { cwd: root, env, ...(options.uid ? { uid: options.uid, gid: options.uid } : {}) });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => { stdout += chunk; });
    const ended = new Promise<Ended>((resolve) => {
      child.on('close', (code) => resolve({ code, stdout, stderr }));
    });
    child.stderr.on('data', (chunk) => { stderr += chunk; });
    const says = (text: string) => until(() => {
      if (stderr.includes(text)) return true;
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`It ended without writing "${text}": ${stderr}`);
      return false;
    });
    return { pid: child.pid!, ended, says };
  }

  return {
    home,
    root,
    start,
    civic: (args: string[] = [], options = {}) => start(['bin/civic', ...args], options).ended,
    dev: (options = {}) => start(['bin/bootstrap.js', '--dev'], options).ended,
    /** Uses a compiler that only compiles main.ts, in the present install and in later ones. */
    fakeCompiler(): void {
      mkdirSync(join(compiler, 'bin'), { recursive: true });
      writeFileSync(join(compiler, 'bin', 'tsc'), COMPILER);
      const installed = join(root, 'node_modules', 'typescript');
      if (!existsSync(installed)) return;
      rmSync(installed);
      symlinkSync(compiler, installed);
    },
    /** Returns the calls of npm since the last time, one line each. */
    npmCalls(): string[] {
      const lines = existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [];
      rmSync(calls, { force: true });
      return lines.map((line) => line.replace(/ --(?!omit|include|no-save).*$/, ''));
    },
    has: (file: string) => existsSync(join(root, file)),
    read: (file: string) => readFileSync(join(root, file), 'utf8'),
    write(file: string, content: string) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), content);
    },
    remove: (file: string) => rmSync(join(root, file), { recursive: true, force: true }),
    throwAway: () => rmSync(home, { recursive: true, force: true }),
  };
}

export type Checkout = ReturnType<typeof createCheckout>;
