import type { CalendarEvent } from 'civic/reader';
import { meetingRow, MOST_ROWS } from '../text/meeting.ts';
import { organizationOf } from '../text/organizer.ts';
import { statusOf, withoutStatus } from '../text/status.ts';
import { plainText } from '../text/titles.ts';
import { startOfValue } from '../text/values.ts';
import type { Adapter, AdapterContext, MeetingRow } from './types.ts';

/** So many occurrences of one series are rows: the next ones, and the last of the past. A weekly one has fewer in the coming year. */
const MOST_NEXT = 100;
const MOST_PAST = 10;

/** Reads iCalendar files. The parser of documents expands recurring events. */
export const icalendar: Adapter = {
  name: 'icalendar',
  label: 'iCalendar',
  source_class: 'government_agenda',
  isComplete: true,
  recognises: ({ calendar, feeds }) => calendar ? 0.95 : feeds.some(({ type }) => type === 'text/calendar') ? 0.3 : 0,
  address: (document) => document.calendar ? document.url : document.feeds.find(({ type }) => type === 'text/calendar')?.url ?? document.url,
  rows({ calendar }, context) {
    const { time_zone: zone } = context;
    const events = (calendar ?? []).slice(0, MOST_ROWS);
    const ids = idsOf(events);
    const rows = [...ids.keys()].map((event) => {
      const title = plainText(event.summary ?? '') || 'Event';
      return meetingRow({
        id: ids.get(event)!, title: withoutStatus(title), body: organizationOf(event.organizer && plainText(event.organizer)),
        start: startOfValue(event.starts, event.time_zone ?? zone), end: event.ends ? startOfValue(event.ends, event.time_zone ?? zone) : null, location: event.location && plainText(event.location),
        status: event.status && event.status !== 'confirmed' ? event.status : statusOf(title), url: event.url, passage: { start: event.start, end: event.end },
      });
    });
    return boundedSeries(rows, new Set(events.flatMap(({ uid, recurrence_id }) => (uid && recurrence_id ? uid : []))), context);
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

/** Leaves out occurrences of series that have very many, such as each day without an end. */
function boundedSeries(rows: MeetingRow[], series: Set<string>, { now, leaveOut }: Pick<AdapterContext, 'now' | 'leaveOut'>): MeetingRow[] {
  const byUid = new Map<string, MeetingRow[]>();
  for (const row of rows) {
    const uid = row.key.slice(0, row.key.lastIndexOf('/'));
    if (!series.has(uid)) continue;
    const others = byUid.get(uid);
    if (others) others.push(row);
    else byUid.set(uid, [row]);
  }
  const left = new Set<MeetingRow>();
  for (const [uid, occurrences] of byUid) {
    if (occurrences.length <= MOST_PAST) continue;
    const isPast = ({ start }: MeetingRow) => Date.parse(start ?? '') < now;
    const ordered = occurrences.toSorted((a, b) => (a.start! < b.start! ? -1 : 1));
    const [past, next] = [ordered.filter(isPast), ordered.filter((row) => !isPast(row))];
    for (const row of [...past.slice(0, -MOST_PAST), ...next.slice(MOST_NEXT)]) left.add(row);
    if (next.length > MOST_NEXT) leaveOut(`${uid}/`, next[MOST_NEXT - 1]!.start!);
  }
  return left.size === 0 ? rows : rows.filter((row) => !left.has(row));
}
