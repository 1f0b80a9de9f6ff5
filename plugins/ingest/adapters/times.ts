import { startOf } from '../text/zone.ts';

const TIME = /^\s*(\d{1,2})(?::(\d{2}))?\s*([ap])\.?\s*m\.?/i;
const TIME_24 = /^\s*(\d{1,2}):(\d{2})/;

/** Returns the UTC time of a date such as `2026-02-01` and a time as people write it (`1:30 PM`, `13:30`) in a time zone; the date alone when the time cannot be read, and null without a date. */
export function localTime(date: string, time: string | null, zone: string): string | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date) || Number.isNaN(Date.parse(date))) return null;
  const clock = time === null ? null : clockTime(time);
  if (clock === null) return date;
  const [year, month, day, hour, minute] = `${date}-${clock.replace(':', '-')}`.split('-').map(Number) as [number, number, number, number, number];
  return startOf({ year, month, day, hour, minute }, zone);
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
