import { readFileSync } from 'node:fs';

// The unit of times in /proc; Linux has used it for every architecture for decades.
const TICKS_A_SECOND = 100;

/** Returns the seconds of CPU that a process has used, with those of its children that have ended and been waited for. Null where the system does not say. */
export function cpuSecondsOf(pid: number | 'self'): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program is in brackets and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_A_SECOND;
  } catch {
    return null;
  }
}

/** Returns the same for this process; without its children where the system does not say. */
export function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return cpuSecondsOf('self') ?? (user + system) / 1e6;
}
