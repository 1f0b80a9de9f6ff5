import type { Check, Database, Reader } from 'civic';
import { chained, START } from './chain.ts';
import { auditAfter, auditHead } from './store.ts';

const BATCH = 2000;

/** Follows the chain from its first row to its last. */
export function auditCheck(db: () => Database): Check {
  return {
    name: 'audit',
    run: () => db().snapshot(async (reader) => {
      const fault = await firstFault(reader);
      const { seq } = await auditHead(reader);
      if (fault === null) return { status: 'ok', detail: `${seq.toLocaleString('en-US')} rows follow from each other` };
      return { status: 'failed', detail: fault, fix: 'Somebody changed the record in the database: compare bin/civic audit export with the one in a backup' };
    }),
  };
}

/** What is wrong with the first row that does not follow from the one before; null when all do. */
export async function firstFault(reader: Reader): Promise<string | null> {
  let seq = 0;
  let hash = START;
  for (let rows; (rows = await auditAfter(reader, seq, BATCH)).length > 0;) {
    for (const row of rows) {
      if (row.seq !== seq + 1) return `row ${seq + 1} is missing`;
      if (row.prev_hash !== hash || chained(hash, row) !== row.hash) return `row ${row.seq} (${row.kind}, ${row.at}) was changed`;
      ({ seq, hash } = row);
    }
  }
  const head = await auditHead(reader);
  if (head.seq !== seq) return `row ${seq + 1} is missing, and all after it up to ${head.seq}`;
  return head.hash === hash ? null : `row ${seq} was changed`;
}
