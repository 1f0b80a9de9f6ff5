const DAY_MS = 86_400_000;

/** Returns the next time after `now`, in milliseconds, at which it is `hour` o'clock in a time zone. */
export function nextHour(now: number, hour: number, timeZone: string): number {
  const { year, month, day } = localDate(now, timeZone);
  for (let ahead = 0; ; ahead++) {
    const at = instantOf(Date.UTC(year, month - 1, day, hour) + ahead * DAY_MS, timeZone);
    if (at > now) return at;
  }
}

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Returns the instant of a local time, which is given as if it were in UTC. A time that the change to summer time skips becomes an hour later. */
function instantOf(local: number, timeZone: string): number {
  const guess = local - offsetAt(local, timeZone);
  const instant = local - offsetAt(guess, timeZone);
  return instant + offsetAt(instant, timeZone) === local ? instant : guess;
}

function offsetAt(instant: number, timeZone: string): number {
  const { year, month, day, hour, minute } = localDate(instant, timeZone);
  return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(instant / 60_000) * 60_000;
}

function localDate(instant: number, timeZone: string): Record<'year' | 'month' | 'day' | 'hour' | 'minute', number> {
  const parts = new Intl.DateTimeFormat('en', { timeZone, calendar: 'gregory', hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' }).formatToParts(instant);
  const value = (type: string) => Number(parts.find((part) => part.type === type)!.value);
  return { year: value('year'), month: value('month'), day: value('day'), hour: value('hour'), minute: value('minute') };
}
