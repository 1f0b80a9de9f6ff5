import type { SourceRow } from './store.ts';

export const NOTICES = ['changes_often', 'no_audience', 'rows_left_out'] as const;
export type Notice = (typeof NOTICES)[number];

const READS = 10;
const OFTEN = 8;

/** Returns the bits of the last ten reads after another one. */
export function nextBits(bits: number | null, hasChanges: boolean): number {
  return (((bits ?? 0) << 1) | Number(hasChanges)) & (2 ** READS - 1);
}

/** Returns what an owner should look at although the source is read well: it changes at nearly every read, nothing selects its signals, or it has more rows than are read. */
export function noticesOf({ change_bits, place_key, issues, has_left_out }: Pick<SourceRow, 'change_bits' | 'place_key' | 'issues' | 'has_left_out'>): Notice[] {
  const changed = [...(change_bits ?? 0).toString(2)].filter((bit) => bit === '1').length;
  return [...(changed >= OFTEN ? ['changes_often' as const] : []), ...(place_key === null && issues === '[]' ? ['no_audience' as const] : []), ...(has_left_out ? ['rows_left_out' as const] : [])];
}
