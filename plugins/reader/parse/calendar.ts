import type { CalendarEvent, DocumentInput, Range } from '../types.ts';
import { parseComponents, textOf, unescapeText, type Component, type Property } from './ical.ts';
import { LIMITS, type Cut } from './limits.ts';
import { spanOf, type Lines } from './lines.ts';
import { expandRule, parseRule } from './recur.ts';
import { foldedText, parseTree } from './tree.ts';
import { localTime, zoneOf, type Zone } from './zone.ts';

const DAY = 86_400_000;

interface Time {
  /** Local, in milliseconds as if it were UTC. */
  local: number;
  isDate: boolean;
  /** Null for a time without a zone. */
  zone: Zone | null;
}

interface Calendar {
  zones: Map<string, Component>;
  /** The zone of times without one. */
  own: Zone | null;
  isCancelled: boolean;
  window: { from: number; to: number } | null;
  cut: Cut;
  /** Steps of recurrence rules that are left. */
  steps: number;
}

const UTC: Zone = { name: 'UTC', offsetAt: () => 0 };

/** Reads the events of iCalendar, and adds them to the lines. Recurring events are expanded inside the window; others are all returned. */
export function readCalendar(text: string, window: DocumentInput['window'] | null, lines: Lines, cut: Cut): { title: string | null; events: CalendarEvent[] } {
  const root = parseComponents(text, cut);
  const events: CalendarEvent[] = [];
  let title: string | null = null;
  for (const component of root.components.filter(({ name }) => name === 'VCALENDAR')) {
    title ??= textOf(component, 'X-WR-CALNAME') ?? textOf(component, 'NAME');
    if (title && lines.length === 0) lines.add('title', title);
    const zones = new Map(component.components.filter(({ name }) => name === 'VTIMEZONE').map((zone) => [textOf(zone, 'TZID') ?? '', zone]));
    const ownZone = textOf(component, 'X-WR-TIMEZONE') ?? textOf(component, 'TIMEZONE-ID');
    const bounds = window ? { from: Date.parse(window.start), to: Date.parse(window.end) } : null;
    const calendar: Calendar = { zones, own: ownZone ? zoneOf(ownZone, zones.get(ownZone)) : null, isCancelled: textOf(component, 'METHOD')?.toUpperCase() === 'CANCEL', window: bounds, cut, steps: LIMITS.all_steps };
    const given = component.components.filter(({ name }) => name === 'VEVENT');
    const replaced = replacedOccurrences(given, calendar);
    for (const event of given) {
      events.push(...readEvent(event, calendar, replaced, lines));
      if (events.length > LIMITS.events) {
        cut.truncated = true;
        return { title, events: events.slice(0, LIMITS.events) };
      }
    }
  }
  return { title, events };
}

/** Returns `uid start` of each occurrence that has an event of its own. */
function replacedOccurrences(given: Component[], calendar: Calendar): Set<string> {
  return new Set(given.flatMap((event) => {
    const original = timeOf(event.properties.get('RECURRENCE-ID')?.[0], calendar);
    return original ? [`${textOf(event, 'UID')} ${original.local}`] : [];
  }));
}

function readEvent(event: Component, calendar: Calendar, replaced: Set<string>, lines: Lines): CalendarEvent[] {
  const start = timeOf(event.properties.get('DTSTART')?.[0], calendar);
  if (!start) return [];
  const original = timeOf(event.properties.get('RECURRENCE-ID')?.[0], calendar);
  const isRecurring = event.properties.has('RRULE') || event.properties.has('RDATE');
  const starts = original || !isRecurring ? [start.local] : occurrencesOf(event, start, calendar).filter((local) => !replaced.has(`${textOf(event, 'UID')} ${local}`));
  if (starts.length === 0) return [];
  const duration = durationOf(event, start, calendar);
  const base = fieldsOf(event, start, calendar);
  const range = addLines(base, start, duration, lines);
  return starts.map((local) => ({
    ...range, ...base,
    recurrence_id: original ? timeText(original) : isRecurring ? timeText({ ...start, local }) : null,
    starts: timeText({ ...start, local }),
    ends: duration === null ? null : timeText({ ...start, local: local + duration }),
  }));
}

function fieldsOf(event: Component, start: Time, { isCancelled, own }: Calendar): Omit<CalendarEvent, keyof Range | 'recurrence_id' | 'starts' | 'ends'> {
  const status = isCancelled ? 'cancelled' : textOf(event, 'STATUS')?.toLowerCase().replace('canceled', 'cancelled');
  const organizer = event.properties.get('ORGANIZER')?.[0];
  const modified = localTime(event.properties.get('LAST-MODIFIED')?.[0]?.value ?? '');
  return {
    uid: textOf(event, 'UID'),
    sequence: Math.max(0, Math.trunc(Number(textOf(event, 'SEQUENCE') ?? 0)) || 0),
    status: status === 'confirmed' || status === 'tentative' || status === 'cancelled' ? status : null,
    summary: plainText(textOf(event, 'SUMMARY')),
    description: textOf(event, 'DESCRIPTION')?.slice(0, 50_000) ?? null,
    location: plainText(textOf(event, 'LOCATION')),
    url: textOf(event, 'URL'),
    organizer: organizer ? organizer.parameters.CN ?? organizer.value.replace(/^mailto:/i, '') : null,
    categories: (event.properties.get('CATEGORIES') ?? []).flatMap(({ value }) => value.split(/(?<!\\),/).map((one) => unescapeText(one).trim())).filter(Boolean).slice(0, 50),
    time_zone: start.isDate ? null : (start.zone === UTC ? own : null)?.name ?? start.zone?.name ?? null,
    last_modified: modified === null ? null : new Date(modified).toISOString(),
  };
}

/** Returns the text of what should be plain, but has the tags or entities of a page in many calendars. */
function plainText(text: string | null): string | null {
  if (text === null || !/<\/?[a-z]|&[a-z#]/i.test(text)) return text;
  return foldedText(parseTree(text.slice(0, 20_000).replaceAll(/<(\/p|\/div|\/li|br)\b/gi, ' <$1'), { truncated: false })) || null;
}

function addLines({ summary, location, description }: { summary: string | null; location: string | null; description: string | null }, start: Time, duration: number | null, lines: Lines): Range {
  const times = [timeText(start), ...(duration ? [timeText({ ...start, local: start.local + duration })] : [])].join(' – ');
  return spanOf([lines.add('h2', summary ?? ''), lines.add('time', times), lines.add('p', location ?? ''), lines.add('p', description ?? '')], lines.length);
}

function timeOf(property: Property | undefined, { zones, own }: Calendar): Time | null {
  if (!property) return null;
  const value = property.value.trim();
  const local = localTime(value);
  if (local === null) return null;
  const isDate = property.parameters.VALUE?.toUpperCase() === 'DATE' || !/T\d/i.test(value);
  const id = property.parameters.TZID;
  if (isDate) return { local, isDate, zone: null };
  return { local, isDate, zone: /Z$/i.test(value) ? UTC : (id && zoneOf(id, zones.get(id))) || own };
}

/** Converts UTC to local time. */
function toLocal(instant: number, zone: Zone): number {
  const guess = instant + zone.offsetAt(instant) * 60_000;
  return instant + zone.offsetAt(guess) * 60_000;
}

function timeText({ local, isDate, zone }: Time): string {
  const text = new Date(local).toISOString();
  if (isDate) return text.slice(0, 10);
  if (!zone) return text.slice(0, 19);
  const offset = zone.offsetAt(local);
  const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60].map((number) => String(number).padStart(2, '0'));
  return `${text.slice(0, 19)}${offset === 0 ? 'Z' : `${offset < 0 ? '-' : '+'}${hours}:${minutes}`}`;
}

/** Returns milliseconds, of local time; null when the event has no end. */
function durationOf(event: Component, start: Time, calendar: Calendar): number | null {
  const end = timeOf(event.properties.get('DTEND')?.[0], calendar);
  if (end && end.local >= start.local) return end.local - start.local;
  const [all, sign, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = /^([+-])?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?/.exec(textOf(event, 'DURATION') ?? '') ?? [];
  if (all === undefined || sign === '-') return start.isDate ? DAY : null;
  const duration = (Number(weeks) * 7 + Number(days)) * DAY + Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1000;
  return duration < 366 * DAY ? duration : null;
}

function occurrencesOf(event: Component, start: Time, calendar: Calendar): number[] {
  const { window, cut } = calendar;
  if (!window || !(window.from < window.to)) return [];
  const { zone } = start;
  const local = zone ? { from: toLocal(window.from, zone), to: toLocal(window.to, zone) } : window;
  const times = new Set(event.properties.has('RRULE') ? [] : [start.local]);
  const listed = (name: string) => (event.properties.get(name) ?? []).flatMap((property) => property.value.split(',', 5000).flatMap((value) => timeOf({ ...property, value: value.split('/')[0]! }, calendar)?.local ?? []));
  for (const { value } of (event.properties.get('RRULE') ?? []).slice(0, 5)) {
    const rule = parseRule(value, (until) => untilOf(until, start, calendar));
    if (!rule) {
      times.add(start.local);
      continue;
    }
    const { times: found, steps, isCut } = expandRule(rule, start.local, local, { ...LIMITS, steps: Math.min(LIMITS.steps, calendar.steps) });
    calendar.steps -= steps + found.length;
    if (isCut) cut.truncated = true;
    for (const time of found) times.add(time);
  }
  for (const time of listed('RDATE')) times.add(time);
  for (const time of listed('EXDATE')) times.delete(time);
  return [...times].filter((time) => time >= local.from && time < local.to).sort((left, right) => left - right);
}

/** A date as the end includes the whole day. */
function untilOf(value: string, start: Time, calendar: Calendar): number | null {
  const until = timeOf({ parameters: {}, value }, calendar);
  if (!until) return null;
  if (until.isDate) return start.isDate ? until.local : until.local + DAY - 1;
  if (/Z$/i.test(value) && start.zone) return toLocal(localTime(value)!, start.zone);
  return start.isDate ? until.local - until.local % DAY : until.local;
}
