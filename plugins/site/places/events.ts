import type { Actor } from 'civic/directory';

export interface ShownEvent {
  name: string;
  href: string;
  start: string;
  timeZone: string;
  location: string | null;
  isCancelled: boolean;
}

/** Returns events for a list, with the time zone of their place. */
export function shownEvents(events: Actor[], timeZone: string | null): ShownEvent[] {
  return events.map(({ id, name, event, status }) => ({
    name, href: `/actors/${id}`, start: event!.start!, timeZone: timeZone ?? 'UTC', location: event!.location, isCancelled: status === 'inactive',
  }));
}
