import { meetingRow, MOST_ROWS } from '../text/meeting.ts';
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
    return (calendar ?? []).slice(0, MOST_ROWS).map((event) => {
      const title = plainText(event.summary ?? '') || 'Event';
      return meetingRow({
        id: event.uid && (event.recurrence_id ? `${event.uid}/${event.recurrence_id}` : event.uid), title: withoutStatus(title), body: event.organizer ? plainText(event.organizer).replace(/^mailto:.*/i, '') || null : null,
        start: startOfValue(event.starts, event.time_zone ?? zone), end: event.ends ? startOfValue(event.ends, event.time_zone ?? zone) : null, location: event.location && plainText(event.location),
        status: event.status && event.status !== 'confirmed' ? event.status : statusOf(title), url: event.url, passage: { start: event.start, end: event.end },
      });
    });
  },
};
