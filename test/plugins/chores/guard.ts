import { appendFileSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Tells from outside the database whether two live processes do the same thing at once. */
export interface Guard {
  open(): void;
  /** Answers how to leave. */
  enter(id: string): () => void;
}

export function createGuard(folder: string): Guard {
  return {
    open: () => { mkdirSync(folder, { recursive: true }); },
    enter(id) {
      const place = join(folder, id);
      // Linked and not written in place, so that nobody ever sees it empty.
      const own = `${place}.${process.pid}`;
      writeFileSync(own, String(process.pid));
      while (!isLinked(own, place)) {
        const holder = holderOf(place);
        if (holder !== null && isAlive(holder)) {
          appendFileSync(join(folder, 'overlaps'), `${id} by ${holder} and ${process.pid}\n`);
          break;
        }
        rmSync(place, { force: true });
      }
      rmSync(own);
      return () => { rmSync(place, { force: true }); };
    },
  };
}

function isLinked(own: string, place: string): boolean {
  try {
    linkSync(own, place);
    return true;
  } catch {
    return false;
  }
}

function holderOf(place: string): number | null {
  try {
    return Number(readFileSync(place, 'utf8'));
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
