import type { Actor } from 'civic/directory';

export interface ShownEvent {
  name: string;
  href: string;
  start: string;
  timeZone: string;
  location: string | null;
  isCancelled: boolean;
}

const DAY_MS = 86_400_000;

/** Returns when a list of coming events changes: at the start of its first one, or after a whole day. In milliseconds since the epoch. */
export function nextChange([first]: Actor[]): number | undefined {
  const start = first?.event?.start;
  return start ? Date.parse(start) + (isWholeDay(start) ? DAY_MS : 1) : undefined;
}

/** Returns whether the time of an event is a date alone, such as `2026-12-24`. */
export function isWholeDay(time: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(time);
}

/** Returns events for a list, with the time zone of their place. */
export function shownEvents(events: Actor[], timeZone: string | null): ShownEvent[] {
  return events.map(({ id, name, event, status }) => ({
    name, href: `/actors/${id}`, start: event!.start!, timeZone: timeZone ?? 'UTC', location: event!.location, isCancelled: status === 'inactive',
  }));
}
