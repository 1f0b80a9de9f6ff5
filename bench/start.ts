import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledPlugins } from '../core/load.ts';
import { projectRoot } from '../core/root.ts';
import { freePort } from '../core/testing/port.ts';
import { median } from './harness.ts';

interface Start {
  seconds: number;
  megabytes: number;
}

const CASES = [
  { name: 'the default plugins', plugins: null, seconds: 1.2, megabytes: 120 },
  { name: 'every plugin', plugins: bundledPlugins(), seconds: 2, megabytes: 170 },
];

/** A second start of `bin/civic serve`, from the command to the first answer of /health/ready, and its memory then. */
export async function benchStart(options: { rounds: number }): Promise<boolean> {
  let isInside = true;
  process.stdout.write('\nSecond start to ready\n');
  for (const one of CASES) {
    const folder = mkdtempSync(join(tmpdir(), 'civic-start-'));
    const starts: Start[] = [];
    try {
      await start(folder, one.plugins);
      for (let round = 0; round < options.rounds; round++) starts.push(await start(folder, one.plugins));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    const seconds = median(starts.map((each) => each.seconds));
    const megabytes = median(starts.map((each) => each.megabytes));
    process.stdout.write(`  ${one.name.padEnd(22)} ${seconds.toFixed(2)} s (limit ${one.seconds})  ${Math.round(megabytes)} MB (limit ${one.megabytes})\n`);
    isInside &&= seconds <= one.seconds && megabytes <= one.megabytes;
  }
  return isInside;
}

async function start(folder: string, plugins: string[] | null): Promise<Start> {
  const port = await freePort();
  const args = ['serve', '--port', String(port), '--data', join(folder, 'data')];
  if (plugins) {
    writeFileSync(join(folder, 'civic.yaml'), JSON.stringify({ plugins: Object.fromEntries(plugins.map((name) => [name, {}])) }));
    args.push('--config', join(folder, 'civic.yaml'));
  }
  const started = performance.now();
  const child = spawn(join(projectRoot, 'bin/civic'), args, { stdio: 'ignore' });
  await ready(port);
  const seconds = (performance.now() - started) / 1000;
  const megabytes = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1024;
  child.kill();
  await once(child, 'exit');
  return { seconds, megabytes };
}

async function ready(port: number): Promise<void> {
  for (const end = Date.now() + 30_000; Date.now() < end;) {
    const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => null);
    if (answer?.ok) return;
    await new Promise((done) => { setTimeout(done, 10); });
  }
  throw new Error('The server was not ready within 30 s');
}
