import type { Reader } from 'civic';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashAt, headOf } from './store.ts';

/** The last line of a workspace that this node has seen. */
export interface Remembered {
  seq: number;
  hash: string;
  /** When the line was found to be missing or changed; null while it is there. */
  broken_at: string | null;
}

/**
 * Remembers the last line of each workspace in a file of the data folder. A seal proves that a head was written by this instance, but not that
 * it is the newest: an older head, restored by hand together with the older end of the lines, lacks the remembered line.
 */
export interface Witness {
  file: string;
  /** Records that a workspace has new lines. */
  saw(workspaceId: string): void;
  /** Compares the lines of these workspaces with the file, and writes their last lines to it. A line that is missing stays in the file as evidence. */
  follow(reader: Reader, at: string): Promise<void>;
  remembered(): Record<string, Remembered>;
}

export function createWitness(dataDir: string): Witness {
  const file = join(dataDir, 'usage.heads');
  const news = new Set<string>();
  const remembered = (): Record<string, Remembered> => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) as Record<string, Remembered> : {});

  async function next(reader: Reader, workspaceId: string, known: Remembered | undefined, at: string): Promise<Remembered | undefined> {
    if (known?.broken_at) return known;
    const head = await headOf(reader, workspaceId);
    if (head?.deleted_at) return undefined;
    if (known && await hashAt(reader, workspaceId, known.seq) !== known.hash) return { ...known, broken_at: at };
    return head ? { seq: head.seq, hash: head.hash, broken_at: null } : known;
  }

  return {
    file,
    remembered,
    saw(workspaceId) { news.add(workspaceId); },
    async follow(reader, at) {
      if (news.size === 0) return;
      const workspaces = [...news];
      news.clear();
      try {
        const all = remembered();
        for (const workspaceId of workspaces) {
          const found = await next(reader, workspaceId, all[workspaceId], at);
          if (found) all[workspaceId] = found;
          else delete all[workspaceId];
        }
        writeFileSync(`${file}.new`, `${JSON.stringify(all)}\n`, { mode: 0o600 });
        renameSync(`${file}.new`, file);
      } catch (error) {
        for (const workspaceId of workspaces) news.add(workspaceId);
        throw error;
      }
    },
  };
}
