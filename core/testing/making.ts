import { createHash } from 'node:crypto';
import { linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MigrationSet } from '../database/migrate.ts';

// Processes of a run need the same templates at the same time, first of all when the run starts. One makes a template, the others
// wait for it. A file says which process is making which template.

interface Making {
  pid: number;
  sets: MigrationSet[];
}

const ENDING = '.making.json';
const POLL_MS = 25;

export function keyOf(sets: MigrationSet[]): string {
  return createHash('sha256').update(JSON.stringify(sets)).digest('hex').slice(0, 16);
}

/** Whether all of these migrations are among the others. */
export function isPartOf(sets: MigrationSet[], others: MigrationSet[]): boolean {
  const known = new Set(others.map((set) => JSON.stringify(set)));
  return sets.every((set) => known.has(JSON.stringify(set)));
}

/**
 * Calls `make` while no other process makes the template of these migrations, or of a part of them: that one is a base that saves most
 * of the work. `make` checks by itself whether the template is there by then.
 */
export async function makeOnce(run: string, sets: MigrationSet[], make: () => Promise<void>): Promise<void> {
  const file = join(run, keyOf(sets) + ENDING);
  while (isBaseBeingMade(run, sets) || !claim(file, sets)) await sleep(POLL_MS);
  try {
    await make();
  } finally {
    rmSync(file, { force: true });
  }
}

function isBaseBeingMade(run: string, sets: MigrationSet[]): boolean {
  return readdirSync(run).filter((name) => name.endsWith(ENDING)).some((name) => {
    const making = readMaking(join(run, name));
    return making !== null && isPartOf(making.sets, sets);
  });
}

/** Returns null also for a file that a process left behind when it was killed, and removes it. */
function readMaking(file: string): Making | null {
  let making: Making;
  try {
    making = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // The other process is done.
    return null;
  }
  if (isRunning(making.pid)) return making;
  // Two processes may find this at once and both make the template afterwards; either is as good.
  rmSync(file, { force: true });
  return null;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Creates the file with its content in one step, unless it exists. */
function claim(file: string, sets: MigrationSet[]): boolean {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify({ pid: process.pid, sets } satisfies Making));
  try {
    linkSync(draft, file);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(draft);
  }
}
