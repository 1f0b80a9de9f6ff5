import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
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
  cpuSeconds: number;
  megabytes: number;
}

interface Figure {
  name: string;
  value: number;
  limit: number;
  unit: string;
}

const CASES = [
  { name: 'the default plugins', plugins: null, firstCpuSeconds: 3, seconds: 1.2, megabytes: 120 },
  { name: 'every plugin', plugins: bundledPlugins(), firstCpuSeconds: 4, seconds: 2, megabytes: 170 },
];
const CALLS = [['--version'], ['--help'], ['serve', '--help'], ['import', '--help']];
const CALL_SECONDS = 0.3;
/** Of the times in /proc/<pid>/stat; Linux has the same for all programs. */
const TICKS_PER_SECOND = 100;

/** Starts of `bin/civic`: the first and the second of `serve`, from the command to the first response of /health/ready, and calls that print help. */
export async function benchStart(options: { rounds: number }): Promise<boolean> {
  const figures: Figure[] = [];
  for (const one of CASES) {
    const first: Start[] = [];
    const second: Start[] = [];
    for (let round = 0; round < options.rounds; round++) {
      const folder = mkdtempSync(join(tmpdir(), 'civic-start-'));
      try {
        first.push(await start(folder, one.plugins));
        second.push(await start(folder, one.plugins));
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }
    figures.push(
      { name: `first start with ${one.name}, CPU`, value: median(first.map(({ cpuSeconds }) => cpuSeconds)), limit: one.firstCpuSeconds, unit: 's' },
      { name: `second start with ${one.name}`, value: median(second.map(({ seconds }) => seconds)), limit: one.seconds, unit: 's' },
      { name: `second start with ${one.name}, memory`, value: median(second.map(({ megabytes }) => megabytes)), limit: one.megabytes, unit: 'MB' },
    );
    process.stdout.write(`  ${one.name}: CPU of the second start ${median(second.map(({ cpuSeconds }) => cpuSeconds)).toFixed(2)} s\n`);
  }
  for (const args of CALLS) {
    const seconds = Array.from({ length: options.rounds }, () => callSeconds(args));
    figures.push({ name: `bin/civic ${args.join(' ')}`, value: median(seconds), limit: CALL_SECONDS, unit: 's' });
  }
  process.stdout.write('\nStarts of bin/civic, medians\n');
  for (const { name, value, limit, unit } of figures) {
    process.stdout.write(`  ${name.padEnd(50)} ${value.toFixed(unit === 'MB' ? 0 : 2).padStart(6)} ${unit} (limit ${limit})${value > limit ? '  missed' : ''}\n`);
  }
  return figures.every(({ value, limit }) => value <= limit);
}

function callSeconds(args: string[]): number {
  const started = performance.now();
  const { status } = spawnSync(join(projectRoot, 'bin/civic'), args, { stdio: 'ignore' });
  if (status !== 0) throw new Error(`bin/civic ${args.join(' ')} failed`);
  return (performance.now() - started) / 1000;
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
  await ready(port, child);
  const seconds = (performance.now() - started) / 1000;
  const cpuSeconds = cpuSecondsOf(child);
  const megabytes = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1024;
  child.kill();
  await once(child, 'exit');
  return { seconds, cpuSeconds, megabytes };
}

/** User and system time so far; fields 14 and 15, counted after the name in brackets. */
function cpuSecondsOf({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

async function ready(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => null);
    if (response?.ok) return;
    if (child.exitCode !== null) throw new Error(`bin/civic serve ended with exit code ${child.exitCode}`);
    await new Promise((done) => { setTimeout(done, 10); });
  }
}
