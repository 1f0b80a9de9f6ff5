import { Joi, type Reader } from 'civic';
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
  /** Returns the last lines by workspace. Throws when the file is damaged. */
  remembered(): Record<string, Remembered>;
}

const stored = Joi.object().pattern(Joi.string(), Joi.object({ seq: Joi.number().integer().required(), hash: Joi.string().required(), broken_at: Joi.string().allow(null).required() })).required();

export function createWitness(dataDir: string): Witness {
  const file = join(dataDir, 'usage.heads');
  const news = new Set<string>();
  const remembered = () => (existsSync(file) ? lastLines(file) : {});

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
        // Flushed, because a rename can survive a power failure that the content does not.
        writeFileSync(`${file}.new`, `${JSON.stringify(all)}\n`, { mode: 0o600, flush: true });
        renameSync(`${file}.new`, file);
      } catch (error) {
        for (const workspaceId of workspaces) news.add(workspaceId);
        throw error;
      }
    },
  };
}

function lastLines(file: string): Record<string, Remembered> {
  try {
    return Joi.attempt(JSON.parse(readFileSync(file, 'utf8')), stored) as Record<string, Remembered>;
  } catch (error) {
    throw new Error(`${file} is damaged, so it cannot show whether last lines were removed: keep a copy of it, and then delete it`, { cause: error });
  }
}
