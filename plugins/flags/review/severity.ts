import { FLAG_TYPES, type FlagType } from '../types.ts';

/** From the least to the most severe. */
export const SEVERITIES = ['low', 'normal', 'high', 'urgent'] as const;
export type Severity = (typeof SEVERITIES)[number];

const BY_TYPE: Record<FlagType, Severity> = {
  privacy: 'urgent',
  incorrect: 'high', closed: 'high', misattributed: 'high', wrong_excerpt: 'high',
  stale: 'normal', duplicate: 'normal', wrong_place: 'normal', wrong_issue_area: 'normal', broken_link: 'normal', missing: 'normal', outdated: 'normal',
  paywalled: 'low', other: 'low',
};

/** Returns the number of the severity of a type: 0 for `low`, 3 for `urgent`. */
export function severityOf(type: FlagType): number {
  return SEVERITIES.indexOf(BY_TYPE[type]);
}

/** Returns a number with the bit of each type set. Bits are part of stored rows: raise `QUEUE_VERSION` when the order of types changes. */
export function typeBits(types: Iterable<FlagType>): number {
  let bits = 0;
  for (const type of types) bits |= 1 << FLAG_TYPES.indexOf(type);
  return bits;
}

/** Returns the types whose bits are set. */
export function typesOf(bits: number): FlagType[] {
  return FLAG_TYPES.filter((_type, index) => (bits & (1 << index)) !== 0);
}
