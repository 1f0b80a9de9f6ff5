import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Seen {
  seq: number;
  hash: string;
}

/** Records the last row in a file of the data folder, because rows deleted from the end leave no other trace. */
export interface Witness {
  saw(head: Seen): void;
  /** Writes the newest head to the file, if it changed. */
  flush(): void;
  last(): Seen | null;
  file: string;
}

export function createWitness(dataDir: string): Witness {
  const file = join(dataDir, 'audit.head');
  let newest: Seen | null = null;
  let written = 0;
  return {
    file,
    saw(head) { if (head.seq > (newest?.seq ?? 0)) newest = head; },
    flush() {
      if (newest === null || newest.seq === written) return;
      writeFileSync(`${file}.new`, `${JSON.stringify(newest)}\n`, { mode: 0o600 });
      renameSync(`${file}.new`, file);
      written = newest.seq;
    },
    last: () => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) as Seen : null),
  };
}
