import type { MeetingRow } from '../adapters/types.ts';

/** How long before a meeting its notice must be published. */
export interface NoticeRule {
  hours: number;
  /** The law, for readers. */
  source: string | null;
}

/** Returns whether a meeting that was first seen now begins within its notice window. A meeting without a time of day is judged by the end of its day. */
export function isShortNotice({ start, status }: MeetingRow, now: number, { hours }: NoticeRule): boolean {
  if (start === null || status === 'cancelled') return false;
  const begins = start.includes('T') ? Date.parse(start) : Date.parse(`${start}T23:59:59Z`);
  return begins > now && begins - now < hours * 3600_000;
}
