import type { MeetingRow } from '../adapters/types.ts';

/** How long before a meeting its notice must be published. */
export interface NoticeRule {
  hours: number;
  /** The law, for readers. */
  source: string | null;
}

/**
 * Returns whether a meeting that is first seen now was published within its notice window for certain: the last good read, which did not list it, was within the window already. After a pause,
 * failures, or between rare reads it may have been published in time. A meeting without a time of day is judged by the end of its day.
 */
export function isShortNotice({ start, status }: MeetingRow, { now, last_read }: { now: number; last_read: number }, { hours }: NoticeRule): boolean {
  if (start === null || status === 'cancelled') return false;
  const begins = start.includes('T') ? Date.parse(start) : Date.parse(`${start}T23:59:59Z`);
  return begins > now && begins - last_read < hours * 3600_000;
}
