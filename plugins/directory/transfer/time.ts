import { Failure } from 'civic';

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?)?\s*(Z|[+-]\d{2}:?\d{2})?$/;
const AMERICAN = /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?:,?\s+(\d{1,2}):(\d{2})(?::\d{2})?\s*([AP])\.?M\.?)?$/i;

/** A moment in UTC, or a date when there is no hour. A local time needs to know its zone: an hour guessed wrong is worse than none. Null when it is no time. */
export function eventTimeOf(value: unknown, zone: string | null): string | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  const iso = ISO.exec(text);
  if (iso?.[7]) return isoOf(Date.parse(text.replace(' ', 'T').replace(/\s+/g, '').replace(/([+-]\d{2})(\d{2})$/, '$1:$2')));
  const local = iso ? iso.slice(1, 7).map((part) => Number(part ?? 0)) : american(text);
  if (!local) return null;
  const [year, month, day, hour, minute, second] = local as [number, number, number, number, number, number];
  const wall = Date.UTC(year, month - 1, day, hour, minute, second);
  if (new Date(wall).getUTCDate() !== day) return null;
  if (!text.includes(':')) return new Date(wall).toISOString().slice(0, 10);
  if (!zone) throw new Failure(`The time "${text}" has no zone: say which one the file is in, as in --timezone America/Chicago`);
  // The offset may change between the guess and the moment itself, on days when clocks do.
  const guess = wall - offset(wall, zone);
  return isoOf(wall - offset(guess, zone));
}

function isoOf(time: number): string | null {
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

function american(text: string): number[] | null {
  const match = AMERICAN.exec(text);
  if (!match) return null;
  const [, month, day, year, hour = '0', minute = '0', half] = match;
  const hours = half ? (Number(hour) % 12) + (half.toUpperCase() === 'P' ? 12 : 0) : Number(hour);
  return [Number(year), Number(month), Number(day), hours, Number(minute), 0];
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** How far the clocks of a zone are ahead of UTC at a moment, in milliseconds. */
function offset(time: number, zone: string): number {
  const parts = Object.fromEntries(formatter(zone).formatToParts(time).map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(parts.year!, parts.month! - 1, parts.day!, parts.hour!, parts.minute!, parts.second!) - Math.floor(time / 1000) * 1000;
}

function formatter(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known) return known;
  try {
    const made = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' });
    formatters.set(zone, made);
    return made;
  } catch {
    throw new Failure(`There is no time zone "${zone}": write it as America/Chicago`);
  }
}
