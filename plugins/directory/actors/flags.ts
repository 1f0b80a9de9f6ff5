import type { FlagColumns } from '../ledger/rows.ts';
import type { FlagCounts } from '../types.ts';
import { latest } from './choose.ts';

/** Returns the flags of rows together, such as those of all records of an actor. */
export function flagsOf(rows: FlagColumns[]): FlagCounts {
  const sum = (column: 'flags_open' | 'flags_total') => rows.reduce((total, row) => total + (row[column] ?? 0), 0);
  return { open: sum('flags_open'), total: sum('flags_total'), latest_at: latest(rows.flatMap(({ flags_latest_at: at }) => (at ? [at] : []))) };
}
