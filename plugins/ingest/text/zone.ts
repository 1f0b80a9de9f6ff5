/** A time on the clock of a place. Without `hour` it is a day. */
export interface LocalTime {
  year: number;
  /** From 1 to 12. */
  month: number;
  day: number;
  hour?: number;
  minute?: number;
}

const HOUR = 3_600_000;
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' });
    if (formats.size < 500) formats.set(zone, format);
  }
  return format;
}

/** Returns the name of a zone that a document states, when there is such a zone. */
export function knownZone(name: unknown): string | null {
  if (typeof name !== 'string' || !/^(?:UTC|[A-Z][A-Za-z]{2,30}\/[A-Za-z_/+-]{2,50})$/.test(name)) return null;
  try {
    formatOf(name);
    return name;
  } catch {
    return null;
  }
}

/** Returns the time on the clock of a zone. Throws a RangeError when there is no such zone. */
export function localTimeAt(instant: number, zone: string): Required<LocalTime> {
  const parts = Object.fromEntries(formatOf(zone).formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  return { year: parts.year!, month: parts.month!, day: parts.day!, hour: parts.hour!, minute: parts.minute! };
}

function offsetAt(instant: number, zone: string): number {
  const minute = Math.floor(instant / 60_000) * 60_000;
  const { year, month, day, hour, minute: minutes } = localTimeAt(minute, zone);
  return Date.UTC(year, month - 1, day, hour, minutes) - minute;
}

/**
 * Returns the instant of a local time. A time that a change of the clock skips is read with the offset before the change, so that 2:30 becomes 3:30;
 * of a time that happens twice the first is returned.
 */
export function instantOf({ year, month, day, hour = 0, minute = 0 }: LocalTime, zone: string): number {
  const wall = Date.UTC(year, month - 1, day, hour, minute);
  const before = offsetAt(wall - 24 * HOUR, zone);
  if (offsetAt(wall - before, zone) === before) return wall - before;
  const after = offsetAt(wall + 24 * HOUR, zone);
  return offsetAt(wall - after, zone) === after ? wall - after : wall - before;
}

/** Returns `2026-02-01` for a day, else the instant such as `2026-02-01T18:00:00.000Z`. */
export function startOf(time: LocalTime, zone: string): string {
  return time.hour === undefined ? dayText(time) : new Date(instantOf(time, zone)).toISOString();
}

export function dayText({ year, month, day }: LocalTime): string {
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

/** Returns the day of the week from 0 for Sunday. */
export function weekdayOf({ year, month, day }: LocalTime): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay();
}

export function isDay({ year, month, day }: LocalTime): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}
