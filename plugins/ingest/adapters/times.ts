const TIME = /^\s*(\d{1,2})(?::(\d{2}))?\s*([ap])\.?\s*m\.?/i;
const TIME_24 = /^\s*(\d{1,2}):(\d{2})/;

/** Returns the UTC time of a date such as `2026-02-01` and a time as people write it (`1:30 PM`, `13:30`) in a time zone; the date alone when the time cannot be read, and null without a date. */
export function localTime(date: string, time: string | null, zone: string): string | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date) || Number.isNaN(Date.parse(date))) return null;
  const clock = time === null ? null : clockTime(time);
  return clock === null ? date : new Date(utcOf(`${date}T${clock}:00Z`, zone)).toISOString();
}

/** Returns `13:30` for a time as people write it; null for anything else. */
export function clockTime(text: string): string | null {
  const half = TIME.exec(text);
  const match = half ?? TIME_24.exec(text);
  if (!match) return null;
  const hour = half ? Number(half[1]) % 12 + (half[3]!.toLowerCase() === 'p' ? 12 : 0) : Number(match[1]);
  const minute = Number(match[2] ?? 0);
  if (hour > 23 || minute > 59 || (half && (Number(half[1]) > 12 || Number(half[1]) === 0))) return null;
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
}

/** Returns the time at which clocks in a zone show what `local` would be in UTC. A time that is skipped in spring becomes the one an hour later. */
function utcOf(local: string, zone: string): number {
  const wanted = Date.parse(local);
  const first = wanted - offsetAt(wanted, zone);
  return wanted - offsetAt(first, zone);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns how many milliseconds clocks in a zone are ahead of UTC. */
function offsetAt(time: number, zone: string): number {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' });
    formats.set(zone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]));
  return Date.parse(`${parts['year']}-${parts['month']}-${parts['day']}T${parts['hour']}:${parts['minute']}:${parts['second']}Z`) - time + time % 1000;
}
