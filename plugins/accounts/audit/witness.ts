import type { Reader } from 'civic';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { auditHashAt, auditHead, firstSealedRow } from './store.ts';

/** What a file in the data folder remembers of the record. */
export interface Remembered {
  /** The newest row. */
  seq: number;
  hash: string;
  /** The first sealed row. A later row without a seal was changed. */
  sealed_from: number | null;
  /** The remembered row that the record no longer contains. */
  broken: { seq: number; at: string } | null;
}

/**
 * Remembers the newest row outside the database. Each hash covers all earlier rows, so a rewritten record, or one whose
 * last rows were cut off, no longer contains the remembered row, whatever is appended afterwards.
 */
export interface Witness {
  /** Records that there are new rows. */
  saw(): void;
  /** Compares the record with the file and writes the newest row to it. A file that no longer fits is kept as evidence. */
  follow(reader: Reader, at: string): Promise<void>;
  remembered(): Remembered | null;
  file: string;
}

export function createWitness(dataDir: string): Witness {
  const file = join(dataDir, 'audit.head');
  let hasNews = true;

  const remembered = (): Remembered | null => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) as Remembered : null);

  function write(content: Remembered): void {
    writeFileSync(`${file}.new`, `${JSON.stringify(content)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }

  return {
    file,
    saw() { hasNews = true; },
    async follow(reader, at) {
      if (!hasNews) return;
      hasNews = false;
      try {
        const known = remembered();
        const head = await auditHead(reader);
        if (known?.broken || (known === null && head.seq === 0)) return;
        if (known && await auditHashAt(reader, known.seq) !== known.hash) return write({ ...known, broken: { seq: known.seq, at } });
        write({ ...head, sealed_from: known?.sealed_from ?? await firstSealedRow(reader), broken: null });
      } catch (error) {
        hasNews = true;
        throw error;
      }
    },
    remembered,
  };
}
