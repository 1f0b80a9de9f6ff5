import { readFileSync } from 'node:fs';

// The unit of times in /proc, the same on all architectures of Linux.
const TICKS_A_SECOND = 100;

/** Returns the seconds of CPU that a process has used, with those of its children that have ended and been waited for. Null where the system does not report it. */
export function cpuSecondsOf(pid: number | 'self'): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program is in parentheses and may contain any character.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_A_SECOND;
  } catch {
    return null;
  }
}

/** Returns the same for this process; without its children where the system does not report them. */
export function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return cpuSecondsOf('self') ?? (user + system) / 1e6;
}
