import type { Row } from '../adapters/types.ts';
import { withoutStatus } from '../text/status.ts';
import type { StoredRow } from './store.ts';

/** A row that the source no longer listed or marked as cancelled, and that is listed again. */
export interface GoneRow {
  row: Row;
  /** Whether it was reported as cancelled because it vanished. Otherwise it is marked as cancelled, or known from another address of the source. */
  wasCancelled: boolean;
  /** Whether it never vanished: it is marked as cancelled, and another row continues it. */
  isMarked?: boolean;
}

interface Pairing {
  /** The address of the source. */
  url: string;
  /** Whether the read has a row of this key. */
  isListed(key: string): boolean;
}

/**
 * Finds the rows that are listed again, by the key of the row that continues each: meetings of the same title and start, and other rows of the same title and key. Then the same key is the same row, but
 * only at the same address: ids of another site may be those of other meetings. Last, a meeting that is no longer listed was renamed. The key of a row that is returned is the one that is stored.
 */
export function pairGone(gone: StoredRow[], added: Row[], { url, isListed }: Pairing): Map<string, GoneRow> {
  const pairs = new Map<string, GoneRow>();
  const formers = gone.map((stored) => ({ stored, row: JSON.parse(stored.data) as Row, isUsed: false }));
  const pair = (row: Row, found: (typeof formers)[number]) => {
    pairs.set(row.key, { row: { ...found.row, key: found.stored.row_key }, wasCancelled: wasCancelled(found.stored, found.row), isMarked: found.stored.gone_at === null });
    found.isUsed = true;
  };
  const pairBy = (keyOf: (row: Row) => string, isCandidate = (_stored: StoredRow) => true) => {
    const former = new Map(formers.filter(({ stored, isUsed }) => !isUsed && isCandidate(stored)).map((one) => [keyOf(one.row), one]));
    for (const row of added) {
      const found = former.get(keyOf(row));
      if (!found || pairs.has(row.key)) continue;
      former.delete(keyOf(row));
      pair(row, found);
    }
  };
  const isOfAddress = ({ former_url }: StoredRow) => former_url === null || former_url === url;
  pairBy((row) => `${row.key}\n${contentOf(row)}`);
  pairBy(contentOf);
  pairBy(({ key }) => key, isOfAddress);
  const missing = formers.filter(({ stored }) => isOfAddress(stored) && (stored.gone_at !== null || !isListed(stored.row_key)));
  for (const row of added) {
    const found = pairs.has(row.key) ? undefined : missing.find((former) => !former.isUsed && isRenamed(former.row, row));
    if (found) pair(row, found);
  }
  return pairs;
}

/** Returns the rows that a source marks as cancelled, in this read or in the last that had them. One without a signal is silent: another row continues it already. */
export function markedRows(present: StoredRow[], read: Row[]): StoredRow[] {
  const listed = new Map(read.map((row) => [row.key, row]));
  return present.filter(({ row_key, data, signal_id, cancelled_id }) => {
    if (signal_id === null && cancelled_id === null) return false;
    const row = listed.get(row_key) ?? JSON.parse(data) as Row;
    return row.kind === 'meeting' && row.status === 'cancelled';
  });
}

/** Whether two meetings begin at the same time, and the title of one begins with the words of the other. */
export function isRenamed(before: Row, row: Row): boolean {
  if (before.kind !== 'meeting' || row.kind !== 'meeting' || row.start === null || before.start !== row.start) return false;
  const [short, long] = before.title.length < row.title.length ? [before.title, row.title] : [row.title, before.title];
  return long.startsWith(short) && !/^[\p{L}\p{N}]/u.test(long.slice(short.length));
}

/** A meeting that its source marks as cancelled is not missing when it vanishes. */
function wasCancelled({ cancelled_id }: StoredRow, row: Row): boolean {
  return cancelled_id !== null && !(row.kind === 'meeting' && row.status === 'cancelled');
}

function contentOf(row: Row): string {
  return JSON.stringify(row.kind === 'meeting' && row.start !== null ? [row.kind, withoutStatus(row.title), row.start] : [row.kind, row.title, row.key]);
}
