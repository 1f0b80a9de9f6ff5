const DAY = 86_400_000;
const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];
const UNITS: Record<string, number> = { SECONDLY: 1000, MINUTELY: 60_000, HOURLY: 3_600_000, DAILY: DAY, WEEKLY: 7 * DAY };

/** A recurrence rule. Times are local, in milliseconds as if they were UTC. */
export interface Rule {
  frequency: string;
  interval: number;
  count: number | null;
  until: number | null;
  weekStart: number;
  days: { weekday: number; ordinal: number }[];
  by: Record<'BYMONTH' | 'BYMONTHDAY' | 'BYYEARDAY' | 'BYWEEKNO' | 'BYSETPOS' | 'BYHOUR' | 'BYMINUTE' | 'BYSECOND', number[]>;
}

/** Parses the value of RRULE; null when it is wrong. `until` converts a time to the local one of the event. */
export function parseRule(value: string, until: (value: string) => number | null): Rule | null {
  const parts = new Map<string, string>(value.toUpperCase().split(';').map((part): [string, string] => [part.split('=')[0]!.trim(), part.split('=')[1] ?? '']));
  const frequency = parts.get('FREQ') ?? '';
  if (!Object.hasOwn(UNITS, frequency) && frequency !== 'MONTHLY' && frequency !== 'YEARLY') return null;
  const numbers = (name: string) => (parts.get(name) ?? '').split(',').map(Number).filter((number) => Number.isInteger(number)).slice(0, 400);
  const list = (name: string) => (parts.has(name) ? numbers(name) : []);
  const days = (parts.get('BYDAY') ?? '').split(',').slice(0, 400).flatMap((part) => {
    const [, ordinal, weekday] = /^([+-]?\d{1,2})?(SU|MO|TU|WE|TH|FR|SA)$/.exec(part.trim()) ?? [];
    return weekday ? [{ weekday: WEEKDAYS.indexOf(weekday), ordinal: Number(ordinal ?? 0) }] : [];
  });
  const by = Object.fromEntries(['BYMONTH', 'BYMONTHDAY', 'BYYEARDAY', 'BYWEEKNO', 'BYSETPOS', 'BYHOUR', 'BYMINUTE', 'BYSECOND'].map((name) => [name, list(name)])) as Rule['by'];
  return {
    frequency, days, by,
    interval: Math.max(1, numbers('INTERVAL')[0] || 1),
    count: parts.has('COUNT') ? numbers('COUNT')[0] ?? null : null,
    until: parts.has('UNTIL') ? until(parts.get('UNTIL')!) : null,
    weekStart: Math.max(0, WEEKDAYS.indexOf(parts.get('WKST') ?? 'MO')),
  };
}

export interface Expansion {
  times: number[];
  steps: number;
  /** Whether there are more in the window than the limits allow to find. */
  isCut: boolean;
}

/** Returns the occurrences from `from` to `to`, in order: the first ones of each day. */
export function expandRule(rule: Rule, start: number, window: { from: number; to: number }, limits: { occurrences: number; occurrences_a_day?: number; steps: number }): Expansion {
  const times: number[] = [];
  let isCut = false;
  let from = window.from;
  let counted = 0;
  let period = rule.count === null ? firstPeriod(rule, start, window.from) : 0;
  let steps = 0;
  for (; steps < limits.steps; steps++, period++) {
    const begin = periodStart(rule, start, period);
    if (begin > window.to || (rule.until !== null && begin > rule.until)) return { times, steps, isCut };
    for (const time of timesIn(rule, start, begin)) {
      if (time < start) continue;
      if ((rule.count !== null && ++counted > rule.count) || (rule.until !== null && time > rule.until) || time > window.to) return { times, steps, isCut };
      if (time < from) continue;
      if (dayOf(times.at(-(limits.occurrences_a_day ?? Infinity))) === dayOf(time)) {
        isCut = true;
        from = dayOf(time) + DAY;
        if (rule.count === null) period = Math.max(period, firstPeriod(rule, start, from) - 1);
        continue;
      }
      if (times.length >= limits.occurrences) return { times, steps, isCut: true };
      times.push(time);
    }
  }
  return { times, steps, isCut: true };
}

function dayOf(time = -Infinity): number {
  return time - (time % DAY + DAY) % DAY;
}

/** Skips periods before the window; only a rule without a count can do so. */
function firstPeriod({ frequency, interval }: Rule, start: number, from: number): number {
  if (from <= start) return 0;
  const [first, last] = [new Date(start), new Date(from)];
  const months = (last.getUTCFullYear() - first.getUTCFullYear()) * 12 + last.getUTCMonth() - first.getUTCMonth();
  const passed = frequency === 'YEARLY' ? Math.floor(months / 12) : frequency === 'MONTHLY' ? months : Math.floor((from - start) / UNITS[frequency]!);
  return Math.max(0, Math.floor(passed / interval) - 2);
}

/** Returns the beginning of the nth period: of the year, month, week or day, or the time itself for shorter ones. */
function periodStart({ frequency, interval, weekStart }: Rule, start: number, period: number): number {
  const date = new Date(start);
  if (frequency === 'YEARLY') return Date.UTC(date.getUTCFullYear() + period * interval, 0, 1);
  if (frequency === 'MONTHLY') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + period * interval, 1);
  const midnight = start - (start % DAY + DAY) % DAY;
  if (frequency === 'WEEKLY') return midnight - ((date.getUTCDay() - weekStart + 7) % 7) * DAY + period * interval * 7 * DAY;
  return (frequency === 'DAILY' ? midnight : start) + period * interval * UNITS[frequency]!;
}

function timesIn(rule: Rule, start: number, begin: number): number[] {
  const { by, frequency } = rule;
  const isShort = UNITS[frequency] !== undefined && UNITS[frequency] < DAY;
  if (isShort) return shortTimes(rule, begin);
  const days = daysIn(rule, start, begin);
  if (days.length === 0) return [];
  const at = new Date(start);
  const hours = by.BYHOUR.length > 0 ? by.BYHOUR : [at.getUTCHours()];
  const minutes = by.BYMINUTE.length > 0 ? by.BYMINUTE : [at.getUTCMinutes()];
  const seconds = by.BYSECOND.length > 0 ? by.BYSECOND : [at.getUTCSeconds()];
  const clock = hours.slice(0, 24).flatMap((hour) => minutes.slice(0, 60).flatMap((minute) => seconds.slice(0, 2).map((second) => hour * 3_600_000 + minute * 60_000 + second * 1000)));
  const sorted = [...new Set(days.flatMap((day) => clock.map((time) => day + time)))].sort((left, right) => left - right);
  if (by.BYSETPOS.length === 0) return sorted;
  return [...new Set(by.BYSETPOS.map((position) => sorted.at(position > 0 ? position - 1 : position)))].filter((time) => time !== undefined).sort((left, right) => left - right);
}

/** Hours, minutes and seconds: a filter only, except that an hour can name its minutes. */
function shortTimes(rule: Rule, time: number): number[] {
  const { by } = rule;
  const date = new Date(time);
  const isIn = (list: number[], value: number) => list.length === 0 || list.includes(value);
  const midnight = time - (time % DAY + DAY) % DAY;
  if (!isIn(by.BYHOUR, date.getUTCHours()) || !passesDay(rule, midnight)) return [];
  if (rule.frequency === 'HOURLY') return (by.BYMINUTE.length > 0 ? by.BYMINUTE : [date.getUTCMinutes()]).map((minute) => time - date.getUTCMinutes() * 60_000 + minute * 60_000).sort((left, right) => left - right);
  return isIn(by.BYMINUTE, date.getUTCMinutes()) && isIn(by.BYSECOND, date.getUTCSeconds()) ? [time] : [];
}

/** Returns midnights. */
function daysIn(rule: Rule, start: number, begin: number): number[] {
  const { frequency, days, by } = rule;
  const at = new Date(start);
  if (frequency === 'DAILY') return passesDay(rule, begin) ? [begin] : [];
  if (frequency === 'WEEKLY') {
    const weekdays = days.length > 0 ? days.map(({ weekday }) => weekday) : [at.getUTCDay()];
    return range(begin, 7).filter((day) => weekdays.includes(new Date(day).getUTCDay()) && isInMonths(rule, day));
  }
  if (frequency === 'MONTHLY') return isInMonths(rule, begin) ? monthDays(rule, begin, at.getUTCDate()) : [];
  const year = new Date(begin).getUTCFullYear();
  const all = range(begin, (Date.UTC(year + 1, 0, 1) - begin) / DAY);
  if (by.BYYEARDAY.length > 0) return all.filter((day, index) => (by.BYYEARDAY.includes(index + 1) || by.BYYEARDAY.includes(index - all.length)) && passesDay(rule, day));
  if (by.BYWEEKNO.length > 0) return weekDays(rule, year, at.getUTCDay());
  if (by.BYMONTH.length === 0 && by.BYMONTHDAY.length === 0 && days.length > 0) return withOrdinals(all, days);
  const months = by.BYMONTH.length > 0 ? by.BYMONTH : by.BYMONTHDAY.length > 0 ? range(0, 12).map((_day, index) => index + 1) : [at.getUTCMonth() + 1];
  return months.flatMap((month) => monthDays(rule, Date.UTC(year, month - 1, 1), at.getUTCDate()));
}

function monthDays({ by, days }: Rule, begin: number, own: number): number[] {
  const date = new Date(begin);
  const length = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  const all = range(begin, length);
  if (by.BYMONTHDAY.length > 0) {
    return all.filter((day, index) => (by.BYMONTHDAY.includes(index + 1) || by.BYMONTHDAY.includes(index - length)) && (days.length === 0 || days.some(({ weekday }) => weekday === new Date(day).getUTCDay())));
  }
  if (days.length > 0) return withOrdinals(all, days);
  return own <= length ? [all[own - 1]!] : [];
}

/** Returns the days of week numbers (ISO 8601 with another first day of the week). */
function weekDays({ by, days, weekStart }: Rule, year: number, own: number): number[] {
  const fourth = Date.UTC(year, 0, 4);
  const first = fourth - ((new Date(fourth).getUTCDay() - weekStart + 7) % 7) * DAY;
  const weekdays = days.length > 0 ? days.map(({ weekday }) => weekday) : [own];
  const weeks = Math.round((Date.UTC(year + 1, 0, 4) - fourth) / DAY) > 364 ? 53 : 52;
  return by.BYWEEKNO.map((week) => (week < 0 ? weeks + week + 1 : week)).sort((left, right) => left - right)
    .flatMap((week) => range(first + (week - 1) * 7 * DAY, 7).filter((day) => weekdays.includes(new Date(day).getUTCDay())));
}

/** Returns the days of these weekdays: each, or the nth from the beginning or the end. */
function withOrdinals(all: number[], days: Rule['days']): number[] {
  const chosen = days.flatMap(({ weekday, ordinal }) => {
    const same = all.filter((day) => new Date(day).getUTCDay() === weekday);
    if (ordinal === 0) return same;
    const day = same.at(ordinal > 0 ? ordinal - 1 : ordinal);
    return day === undefined ? [] : [day];
  });
  return [...new Set(chosen)].sort((left, right) => left - right);
}

function passesDay(rule: Rule, day: number): boolean {
  const { by, days } = rule;
  const date = new Date(day);
  const length = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  if (!isInMonths(rule, day)) return false;
  if (by.BYMONTHDAY.length > 0 && !by.BYMONTHDAY.includes(date.getUTCDate()) && !by.BYMONTHDAY.includes(date.getUTCDate() - length - 1)) return false;
  return days.length === 0 || days.some(({ weekday }) => weekday === date.getUTCDay());
}

function isInMonths({ by }: Rule, day: number): boolean {
  return by.BYMONTH.length === 0 || by.BYMONTH.includes(new Date(day).getUTCMonth() + 1);
}

function range(begin: number, days: number): number[] {
  return Array.from({ length: days }, (_, index) => begin + index * DAY);
}
