import { cutText } from 'civic';
import type { Actor, ListedMeeting } from 'civic/directory';

export interface ShownEvent {
  name: string;
  /** The page about an entry; null for a meeting that is none, which has the address of its source. */
  href: string | null;
  url: string | null;
  start: string;
  timeZone: string;
  location: string | null;
  isCancelled: boolean;
}

const DAY_MS = 86_400_000;
const LONGEST_NAME = 140;

/** Returns when a list of coming events changes: at the start of its first one, or after a whole day. In milliseconds since the epoch. */
export function nextChange([first]: Pick<ShownEvent, 'start'>[]): number | undefined {
  const start = first?.start;
  return start ? Date.parse(start) + (isWholeDay(start) ? DAY_MS : 1) : undefined;
}

/** Returns whether the time of an event is a date alone, such as `2026-12-24`. */
export function isWholeDay(time: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(time);
}

/** Returns events and meetings that are no entries for a list, the earliest first, with the time zone of their place. */
export function shownEvents(events: Actor[], meetings: ListedMeeting[], timeZone: string | null): ShownEvent[] {
  const shared = { timeZone: timeZone ?? 'UTC' };
  const shown = [
    ...events.map(({ id, name, event, status }) => ({ ...shared, name, href: `/actors/${id}`, url: null, start: event!.start!, location: event!.location, isCancelled: status === 'inactive' })),
    ...meetings.map(({ title, start, location, url }) => ({ ...shared, name: cutText(title, LONGEST_NAME), href: null, url, start, location: location && cutText(location, LONGEST_NAME), isCancelled: false })),
  ];
  return shown.toSorted((a, b) => (a.start < b.start ? -1 : 1));
}
