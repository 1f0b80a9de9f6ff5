import { createHash, type Hash } from 'node:crypto';
import { encodeRow } from './canonical.ts';
import type { OpenDatabase } from './connect.ts';
import { keysetAfter, type Row } from './dialect.ts';
import { recordedTables, type RecordedTable } from './tables.ts';
import type { Reader } from './types.ts';

const PAGE_BYTES = 1_000_000;
const MOST_ROWS = 200;

export interface Digest {
  rows: number;
  /** SHA-256 of the canonical lines, each with its line end. */
  sha256: string;
}

/** Counts and digests lines as they pass. */
export class LineDigest {
  readonly #hash: Hash = createHash('sha256');
  #rows = 0;

  add(page: Page): void {
    this.#rows += page.rows;
    this.#hash.update(page.text);
  }

  result(): Digest {
    return { rows: this.#rows, sha256: this.#hash.digest('hex') };
  }
}

/** A part of a table's lines. */
export interface Page {
  rows: number;
  text: string | Buffer;
}

/** The rows of a table as canonical lines in the order of its key, about a megabyte at a time. */
export async function* tablePages(db: Reader, table: RecordedTable): AsyncGenerator<Page> {
  const order = table.definition.primary.map((column) => ({ column, direction: 'asc' as const }));
  let after: string[] | null = null;
  // Pages grow slowly: a row may hold megabytes, and how large the next ones are is not known.
  let limit = 4;
  for (;;) {
    const query = db(table.name).select('*').limit(limit);
    keysetAfter(query, order, after);
    const rows = (await query) as Row[];
    if (rows.length === 0) return;
    const text = rows.map((row) => `${encodeRow(table.definition, row)}\n`).join('');
    yield { rows: rows.length, text };
    if (rows.length < limit) return;
    const last = rows.at(-1)!;
    after = table.definition.primary.map((column) => last[column] as string);
    limit = Math.max(1, Math.min(MOST_ROWS, limit * 2, Math.floor((PAGE_BYTES * limit) / text.length)));
  }
}

export async function tableDigest(db: Reader, table: RecordedTable): Promise<Digest> {
  const digest = new LineDigest();
  for await (const page of tablePages(db, table)) digest.add(page);
  return digest.result();
}

/** Counts and digests of all tables that are not derived, of one moment; equal on both databases for equal rows. */
export async function databaseDigest(db: OpenDatabase): Promise<Record<string, Digest>> {
  return await db.snapshot(async (tx) => {
    const digests: Record<string, Digest> = {};
    for (const table of await recordedTables(tx)) {
      if (!table.derived) digests[table.name] = await tableDigest(tx, table);
    }
    return digests;
  });
}
