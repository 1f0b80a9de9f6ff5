import type { Component } from './ical.ts';
import { expandRule, parseRule } from './recur.ts';

/** Returns the offset in minutes of a local time, which is in milliseconds as if it were UTC. */
export interface Zone {
  /** An IANA name, or null. */
  name: string | null;
  offsetAt(local: number): number;
}

/** Names of Microsoft for zones, which Outlook and Exchange write. */
const MICROSOFT: Record<string, string> = {
  'eastern standard time': 'America/New_York', 'us eastern standard time': 'America/Indiana/Indianapolis', 'central standard time': 'America/Chicago', 'mountain standard time': 'America/Denver',
  'us mountain standard time': 'America/Phoenix', 'pacific standard time': 'America/Los_Angeles', 'alaskan standard time': 'America/Anchorage', 'hawaiian standard time': 'Pacific/Honolulu',
  'atlantic standard time': 'America/Halifax', 'newfoundland standard time': 'America/St_Johns', 'sa western standard time': 'America/Puerto_Rico', 'canada central standard time': 'America/Regina',
  'central standard time (mexico)': 'America/Mexico_City', 'gmt standard time': 'Europe/London', 'w. europe standard time': 'Europe/Berlin', 'romance standard time': 'Europe/Paris',
  'central europe standard time': 'Europe/Budapest', 'central european standard time': 'Europe/Warsaw', 'e. europe standard time': 'Europe/Chisinau', 'fle standard time': 'Europe/Kiev', 'gtb standard time': 'Europe/Bucharest',
  'india standard time': 'Asia/Kolkata', 'tokyo standard time': 'Asia/Tokyo', 'china standard time': 'Asia/Shanghai', 'aus eastern standard time': 'Australia/Sydney', 'new zealand standard time': 'Pacific/Auckland',
  'utc': 'UTC', 'gmt': 'UTC', 'z': 'UTC', 'eastern': 'America/New_York', 'central': 'America/Chicago', 'mountain': 'America/Denver', 'pacific': 'America/Los_Angeles',
};

const known = new Map<string, Zone | null>();

/** Returns the zone of a TZID: by its IANA name, also at the end of a longer one, by the name of Microsoft, or by its definition in the calendar. */
export function zoneOf(id: string, definition?: Component): Zone | null {
  const plain = id.replace(/^"|"$/g, '').trim();
  const candidates = [plain, MICROSOFT[plain.toLowerCase()], /[A-Za-z_]+\/[A-Za-z_]+(\/[A-Za-z_]+)?$/.exec(plain)?.[0], /[A-Za-z_]+\/[A-Za-z_]+$/.exec(plain)?.[0]];
  for (const candidate of candidates) {
    const zone = candidate === undefined ? null : namedZone(candidate);
    if (zone) return zone;
  }
  return definition ? definedZone(definition) : null;
}

function namedZone(name: string): Zone | null {
  if (name.length > 60) return null;
  const found = known.get(name);
  if (found !== undefined) return found;
  let zone: Zone | null = null;
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: name, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' });
    const offset = (instant: number) => Math.round((localIn(format, instant) - instant) / 60_000);
    // The offset at the time as if it were UTC is at most a day off, so the second one is right.
    zone = { name: format.resolvedOptions().timeZone, offsetAt: (local) => offset(local - offset(local - offset(local) * 60_000) * 60_000) };
  } catch {
    // No such zone.
  }
  if (known.size < 1000) known.set(name, zone);
  return zone;
}

function localIn(format: Intl.DateTimeFormat, instant: number): number {
  const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(parts.year!, parts.month! - 1, parts.day!, parts.hour!, parts.minute!, parts.second!);
}

interface Observance {
  start: number;
  offset: number;
  rule: string | null;
}

/** Returns a zone by its VTIMEZONE. */
function definedZone({ components }: Component): Zone | null {
  const observances = components.slice(0, 100).flatMap(({ properties }): Observance[] => {
    const start = localTime(properties.get('DTSTART')?.[0]?.value ?? '');
    const offset = offsetOf(properties.get('TZOFFSETTO')?.[0]?.value ?? '');
    return start === null || offset === null ? [] : [{ start, offset, rule: properties.get('RRULE')?.[0]?.value ?? null }];
  });
  if (observances.length === 0) return null;
  const byYear = new Map<number, { at: number; offset: number }[]>();
  return {
    name: null,
    offsetAt(local) {
      const year = new Date(local).getUTCFullYear();
      if (!byYear.has(year) && byYear.size < 200) byYear.set(year, observances.map((observance) => onsetsIn(observance, year)).flat().sort((left, right) => left.at - right.at));
      const onset = byYear.get(year)?.findLast(({ at }) => at <= local);
      return onset?.offset ?? observances[0]!.offset;
    },
  };
}

/** Returns when an observance begins in a year and in the one before. */
function onsetsIn({ start, offset, rule }: Observance, year: number): { at: number; offset: number }[] {
  const parsed = rule === null ? null : parseRule(rule, localTime);
  if (!parsed) return [{ at: start, offset }];
  const { times } = expandRule(parsed, start, { from: Date.UTC(year - 1, 0, 1), to: Date.UTC(year + 1, 0, 1) }, { occurrences: 10, steps: 1000 });
  return [{ at: start, offset }, ...times.map((at) => ({ at, offset }))];
}

function offsetOf(value: string): number | null {
  const [, sign, hours, minutes] = /^([+-])(\d{2})(\d{2})/.exec(value.trim()) ?? [];
  return sign === undefined ? null : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

/** Returns the time of `20260504T180000` or `20260504` as if it were UTC. */
export function localTime(value: string): number | null {
  const [, year, month, day, hour = '0', minute = '0', second = '0'] = /^\s*(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2}):?(\d{2}):?(\d{2})?)?/.exec(value) ?? [];
  if (year === undefined) return null;
  const time = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  return Number.isNaN(time) ? null : time;
}
