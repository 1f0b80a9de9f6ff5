import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface ProcessEntry {
  pid: number;
  group: number;
  name: string;
}

function fromProc(pid: string): ProcessEntry[] {
  try {
    const [, name, state, group] = /^\d+ \((.*)\) (\S) \d+ (\d+) /s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))!;
    return state === 'Z' ? [] : [{ pid: Number(pid), group: Number(group), name: name! }];
  } catch {
    return [];
  }
}

/** What runs on this machine, without what has ended and is only waiting to be reaped. */
export function runningProcesses(): ProcessEntry[] {
  if (existsSync('/proc/self/stat')) return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap(fromProc);
  const lines = spawnSync('ps', ['-A', '-o', 'pid=,pgid=,stat=,comm='], { encoding: 'utf8' }).stdout.trim().split('\n').map((line) => line.trim().split(/\s+/));
  return lines.filter(([, , state]) => !state!.startsWith('Z')).map(([pid, group, , name]) => ({ pid: Number(pid), group: Number(group), name: name! }));
}

export function isRunning(pid: number): boolean {
  return runningProcesses().some((entry) => entry.pid === pid);
}
