import { isWebUrl, writableText } from 'civic';
import { isWholeDay } from '../ledger/schemas.ts';
import type { ActorDetail } from '../types.ts';
import type { ListedMeeting } from './meetings.ts';
import { isDemo, statementsOf, textOf, titleOf, type ActorFeed } from './entry.ts';

type Line = [name: string, value: string, parameters?: Record<string, string>];

/** iCalendar (RFC 5545), with names and refresh hints of RFC 7986. By hand: the writer of ical.js folds lines one octet too late. */
export function calendarOf({ title, description, self, home, actors, meetings, pageOf }: ActorFeed): string {
  const events = actors.filter(({ event }) => event?.start && utc(event.start) !== null).map((event) => eventLines(event, pageOf(event.id)));
  const listed = meetings.filter(({ start }) => utc(start) !== null).map(meetingLines);
  const lines: Line[] = [
    ['BEGIN', 'VCALENDAR'],
    ['VERSION', '2.0'],
    ['PRODID', '-//Civic//Directory//EN'],
    ['CALSCALE', 'GREGORIAN'],
    ['NAME', text(title)],
    ['X-WR-CALNAME', text(title)],
    ['DESCRIPTION', text(description)],
    ['URL', home, { VALUE: 'URI' }],
    ['SOURCE', self, { VALUE: 'URI' }],
    ['REFRESH-INTERVAL', 'PT1H', { VALUE: 'DURATION' }],
    ['X-PUBLISHED-TTL', 'PT1H'],
    ...(events.length + listed.length > 0 ? [...events, ...listed].flat() : NOTHING),
    ['END', 'VCALENDAR'],
  ];
  return lines.map(([name, value, parameters]) => `${fold(`${name}${parametersOf(parameters)}:${value}`)}\r\n`).join('');
}

// A calendar has at least one component. Times are in UTC anyway, and no reader shows a time zone.
const NOTHING: Line[] = [
  ['BEGIN', 'VTIMEZONE'], ['TZID', 'Etc/UTC'],
  ['BEGIN', 'STANDARD'], ['DTSTART', '19700101T000000'], ['TZOFFSETFROM', '+0000'], ['TZOFFSETTO', '+0000'], ['TZNAME', 'UTC'], ['END', 'STANDARD'],
  ['END', 'VTIMEZONE'],
];

function eventLines(actor: ActorDetail, url: string): Line[] {
  const { id, created_at, updated_at, status, issue_areas, places, sources } = actor;
  const { start, end, location } = actor.event!;
  return [
    ['BEGIN', 'VEVENT'],
    ...versionLines({ id, created_at, updated_at }),
    ...timeLines(start!, end),
    ['SUMMARY', text(titleOf(actor))],
    ['DESCRIPTION', text(textOf(actor))],
    ...(location ? [['LOCATION', text(location)] satisfies Line] : []),
    ['STATUS', status === 'inactive' ? 'CANCELLED' : 'CONFIRMED'],
    ['URL', url, { VALUE: 'URI' }],
    ...[...(isDemo(actor) ? ['DEMO'] : []), ...issue_areas].map((area): Line => ['CATEGORIES', text(area.replaceAll('_', ' '))]),
    ...sources.filter((source) => isWebUrl(source.url)).map((source): Line => ['ATTACH', writableText(source.url), { VALUE: 'URI', 'X-CIVIC-SOURCE-ID': source.id }]),
    ...places.map(({ place_key }): Line => ['X-CIVIC-PLACE', text(place_key)]),
    ...(isDemo(actor) ? [['X-CIVIC-DEMO', 'TRUE'] satisfies Line] : []),
    ...statementsOf(actor).map(({ claim }): Line => ['X-CIVIC-CLAIM', text(JSON.stringify(claim)), { 'X-CIVIC-SOURCE-ID': claim.source_id }]),
    ['END', 'VEVENT'],
  ];
}

function meetingLines({ id, title, start, end, location, status, place_key, issue_areas, url, source, created_at, updated_at }: ListedMeeting): Line[] {
  return [
    ['BEGIN', 'VEVENT'],
    ...versionLines({ id, created_at, updated_at }),
    ...timeLines(start, end),
    ['SUMMARY', text(title)],
    ['DESCRIPTION', text(`${source}: ${url}`)],
    ...(location ? [['LOCATION', text(location)] satisfies Line] : []),
    ['STATUS', status.toUpperCase()],
    ['URL', writableText(url), { VALUE: 'URI' }],
    ...issue_areas.map((area): Line => ['CATEGORIES', text(area.replaceAll('_', ' '))]),
    ...(place_key === null ? [] : [['X-CIVIC-PLACE', text(place_key)] satisfies Line]),
    ['END', 'VEVENT'],
  ];
}

function versionLines({ id, created_at, updated_at }: Pick<ListedMeeting, 'id' | 'created_at' | 'updated_at'>): Line[] {
  return [['UID', id], ['DTSTAMP', utc(updated_at)!], ['CREATED', utc(created_at)!], ['LAST-MODIFIED', utc(updated_at)!], ['SEQUENCE', String(sequenceOf(created_at, updated_at))]];
}

function timeLines(start: string, end: string | null): Line[] {
  // The last day belongs to an event, but a calendar wants the day after it.
  const [from, to] = [utc(start)!, end ? utc(isWholeDay(end) ? dayAfter(end) : end) : null];
  // Both are dates or both are times, and the end comes after the start; otherwise there is no saying when it ends.
  const hasEnd = to !== null && to.length === from.length && to > from;
  return [['DTSTART', from, kindOf(from)], ...(hasEnd ? [['DTEND', to, kindOf(to)] satisfies Line] : [])];
}

/** Grows with each change: the seconds between the first and the latest. It has to fit 32 bits. */
function sequenceOf(created: string, updated: string): number {
  return Math.min(2_147_483_647, Math.max(0, Math.floor((Date.parse(updated) - Date.parse(created)) / 1000)));
}

/** A time in UTC, or a date when there is no more; null when it is neither. */
function utc(time: string): string | null {
  if (isWholeDay(time)) return time.replaceAll('-', '');
  const at = Date.parse(time);
  return Number.isNaN(at) ? null : `${new Date(at).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
}

function dayAfter(day: string): string {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
}

function kindOf(time: string): Record<string, string> | undefined {
  return time.length === 8 ? { VALUE: 'DATE' } : undefined;
}

function text(value: string): string {
  return writableText(value).replace(/[\\;,]/g, '\\$&').replace(/\r\n?|\n/g, '\\n').replaceAll('\t', ' ');
}

function parametersOf(parameters: Record<string, string> = {}): string {
  return Object.entries(parameters).map(([name, value]) => `;${name}=${value}`).join('');
}

/** At most 75 octets a line, never through the middle of a character. */
function fold(line: string): string {
  const size = Buffer.byteLength(line);
  if (size <= 75) return line;
  // A calendar may have megabytes, and nearly all of its lines are ASCII.
  return size === line.length ? line.replace(/^.{75}|.{74}(?=.)/gs, '$&\r\n ') : foldCharacters(line);
}

function foldCharacters(line: string): string {
  let folded = '';
  let width = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (width + size > 75) {
      folded += '\r\n ';
      width = 1;
    }
    folded += character;
    width += size;
  }
  return folded;
}
