import type { Row } from '../adapters/types.ts';
import type { StoredRow } from './store.ts';

/** A row that the source no longer listed, and that is listed again. */
export interface GoneRow {
  row: Row;
  /** Whether it was reported as cancelled because it vanished. Otherwise it is known from another address of the source. */
  wasCancelled: boolean;
}

/**
 * Finds the rows that are listed again, by the key of the row that continues each: meetings of the same title and start, and other rows of the same title and key. Then the same key is the same row, but
 * only at the same address: ids of another site may be those of other meetings. The key of a row that is returned is the one that is stored.
 */
export function pairGone(gone: StoredRow[], added: Row[], url: string): Map<string, GoneRow> {
  const pairs = new Map<string, GoneRow>();
  const formers = gone.map((stored) => ({ stored, row: JSON.parse(stored.data) as Row, isUsed: false }));
  const pairBy = (keyOf: (row: Row) => string, isCandidate = (_stored: StoredRow) => true) => {
    const former = new Map(formers.filter(({ stored, isUsed }) => !isUsed && isCandidate(stored)).map((one) => [keyOf(one.row), one]));
    for (const row of added) {
      const found = former.get(keyOf(row));
      if (!found || pairs.has(row.key)) continue;
      former.delete(keyOf(row));
      pairs.set(row.key, { row: { ...found.row, key: found.stored.row_key }, wasCancelled: wasCancelled(found.stored, found.row) });
      found.isUsed = true;
    }
  };
  pairBy((row) => `${row.key}\n${contentOf(row)}`);
  pairBy(contentOf);
  pairBy(({ key }) => key, ({ former_url }) => former_url === null || former_url === url);
  return pairs;
}

/** A meeting that its source marks as cancelled is not missing when it vanishes. */
function wasCancelled({ cancelled_id }: StoredRow, row: Row): boolean {
  return cancelled_id !== null && !(row.kind === 'meeting' && row.status === 'cancelled');
}

function contentOf(row: Row): string {
  return JSON.stringify(row.kind === 'meeting' && row.start !== null ? [row.kind, row.title, row.start] : [row.kind, row.title, row.key]);
}
