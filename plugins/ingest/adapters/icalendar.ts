import type { CalendarEvent } from 'civic/reader';
import { meetingRow, MOST_ROWS } from '../text/meeting.ts';
import { organizationOf } from '../text/organizer.ts';
import { statusOf, withoutStatus } from '../text/status.ts';
import { plainText } from '../text/titles.ts';
import { startOfValue } from '../text/values.ts';
import type { Adapter } from './types.ts';

/** Reads iCalendar files. The parser of documents expands recurring events. */
export const icalendar: Adapter = {
  name: 'icalendar',
  label: 'iCalendar',
  source_class: 'government_agenda',
  isComplete: true,
  recognises: ({ calendar, feeds }) => calendar ? 0.95 : feeds.some(({ type }) => type === 'text/calendar') ? 0.3 : 0,
  address: (document) => document.calendar ? document.url : document.feeds.find(({ type }) => type === 'text/calendar')?.url ?? document.url,
  rows({ calendar }, { time_zone: zone }) {
    const events = (calendar ?? []).slice(0, MOST_ROWS);
    const ids = idsOf(events);
    return [...ids.keys()].map((event) => {
      const title = plainText(event.summary ?? '') || 'Event';
      return meetingRow({
        id: ids.get(event)!, title: withoutStatus(title), body: organizationOf(event.organizer && plainText(event.organizer)),
        start: startOfValue(event.starts, event.time_zone ?? zone), end: event.ends ? startOfValue(event.ends, event.time_zone ?? zone) : null, location: event.location && plainText(event.location),
        status: event.status && event.status !== 'confirmed' ? event.status : statusOf(title), url: event.url, passage: { start: event.start, end: event.end },
      });
    });
  },
};

/**
 * Returns the id of each event: its UID, with the time that an occurrence of a series had first. Some programs give several events one UID: then it is the UID with the start, and with the title if that is
 * the same as well. Of several versions of an event the one with the highest sequence counts.
 */
function idsOf(events: CalendarEvent[]): Map<CalendarEvent, string | null> {
  const isSingle = ({ uid, recurrence_id }: CalendarEvent) => uid !== null && recurrence_id === null;
  const latest = new Map<string | null, number>();
  for (const { uid, sequence } of events.filter(isSingle)) latest.set(uid, Math.max(sequence, latest.get(uid) ?? 0));
  const current = events.filter((event) => !isSingle(event) || event.sequence === latest.get(event.uid));
  const starts = new Map<string | null, Map<string, Set<string | null>>>();
  for (const { uid, starts: start, summary } of current.filter(isSingle)) {
    const ofUid = starts.get(uid) ?? new Map<string, Set<string | null>>();
    starts.set(uid, ofUid.set(start, (ofUid.get(start) ?? new Set()).add(summary)));
  }
  return new Map(current.map((event) => {
    const { uid, recurrence_id, starts: start, summary } = event;
    if (!isSingle(event)) return [event, uid && `${uid}/${recurrence_id}`];
    const ofUid = starts.get(uid)!;
    const titles = ofUid.get(start)!.size;
    return [event, titles > 1 ? `${uid}/${start}/${summary ?? ''}` : ofUid.size > 1 ? `${uid}/${start}` : uid];
  }));
}
