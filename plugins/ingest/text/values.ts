import { findDates } from './dates.ts';
import { findTimes } from './times.ts';
import { blank } from './titles.ts';
import { isDay, startOf, type LocalTime } from './zone.ts';

const ISO = /^\s*((?:19|20)\d{2})-(\d{1,2})-(\d{1,2})(?:[T\s]+(\d{1,2})[:-](\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?\s?(Z|[+-]\d{2}:?\d{2})?)?/i;
/** EventON, a plugin of WordPress, writes `2019-9-18T08-08-30-00` for half past eight. */
const EVENTON = /^\s*((?:19|20)\d{2}-\d{1,2}-\d{1,2})T(\d{1,2})-\2-(\d{2})-\d{2}\s*$/;
const AMERICAN = /^\s*(\d{1,2}\/\d{1,2}\/\d{4})\s+(\d{1,2}:\d{2})(?::\d{2})?\s?([ap]m)\s*$/i;

/** Returns the start that a field of data states, in the form of `MeetingRow.start`; null when it is none. Numbers are seconds or milliseconds of Unix. */
export function startOfValue(value: unknown, zone: string): string | null {
  if (typeof value === 'number' || (typeof value === 'string' && /^\d{9,13}$/.test(value))) return startOfUnix(Number(value));
  if (typeof value !== 'string' || value.length > 100) return null;
  const text = value.replace(EVENTON, '$1T$2:$3').replace(AMERICAN, '$1 $2 $3');
  return startOfIso(text, zone) ?? startOfText(text, zone);
}

function startOfUnix(value: number): string | null {
  const milliseconds = value < 1e11 ? value * 1000 : value;
  return milliseconds > 0 && milliseconds < 4e12 ? new Date(milliseconds).toISOString() : null;
}

function startOfIso(text: string, zone: string): string | null {
  const [, year, month, day, hour, minute, second = '00', offset] = ISO.exec(text) ?? [];
  if (year === undefined) return null;
  const local: LocalTime = { year: Number(year), month: Number(month), day: Number(day) };
  if (!isDay(local)) return null;
  if (hour === undefined) return startOf(local, zone);
  if (Number(hour) > 23 || Number(minute) > 59) return null;
  if (offset === undefined) return startOf({ ...local, hour: Number(hour), minute: Number(minute) }, zone);
  const digits = (part: string | undefined) => part!.padStart(2, '0');
  const instant = Date.parse(`${year}-${digits(month)}-${digits(day)}T${digits(hour)}:${minute}:${second}${/^z$/i.test(offset) ? 'Z' : offset.replace(/(\d{2}):?(\d{2})$/, '$1:$2')}`);
  return Number.isNaN(instant) ? null : new Date(instant).toISOString();
}

/** Returns the start of a text such as `Thursday, February 15, 2024 at 10:00 AM`. */
export function startOfText(text: string, zone: string): string | null {
  const dates = findDates(text);
  const date = dates.find(({ year }) => year !== null);
  if (!date) return null;
  const [time] = findTimes(blank(text, dates));
  return startOf({ year: date.year!, month: date.month, day: date.day, ...(time ? { hour: time.hour, minute: time.minute } : {}) }, zone);
}

/** Adds the time of a title such as `Board Meeting @ 2:30 pm` to a start that is only a day. */
export function withTimeOf(title: string, start: string | null, zone: string): string | null {
  if (start?.length !== 10) return start;
  const [time] = findTimes(blank(title, findDates(title)));
  const [year, month, day] = start.split('-').map(Number) as [number, number, number];
  return time ? startOf({ year, month, day, hour: time.hour, minute: time.minute }, zone) : start;
}
