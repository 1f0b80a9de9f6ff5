const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export interface When {
  /** For the `datetime` of a time element. */
  iso: string;
  /** How long ago or ahead, as people say it; a date when that is long. */
  words: string;
  exact: string;
}

// Made when the first page is shown: what they know of calendars takes memory.
let formats: { date: Intl.DateTimeFormat; exact: Intl.DateTimeFormat } | undefined;
const format = () => (formats ??= {
  date: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' }),
  exact: new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }),
});

export function when(iso: string | null, now: number): When | null {
  if (iso === null) return null;
  const at = Date.parse(iso);
  return { iso, words: wordsFor(at - now, at), exact: `${format().exact.format(at)} UTC` };
}

function wordsFor(distance: number, at: number): string {
  const far = Math.abs(distance);
  if (far < MINUTE) return distance <= 0 ? 'just now' : 'in a moment';
  if (far > 30 * DAY) return format().date.format(at);
  const [unit, size] = far < HOUR ? ['minute', MINUTE] as const : far < DAY ? ['hour', HOUR] as const : ['day', DAY] as const;
  const count = distance < 0 ? Math.floor(far / size) : Math.round(far / size);
  const span = `${count} ${unit}${count === 1 ? '' : 's'}`;
  return distance < 0 ? `${span} ago` : `in ${span}`;
}

export function shortDate(iso: string): string {
  return format().date.format(Date.parse(iso));
}

export function number(value: number): string {
  return value.toLocaleString('en-US');
}

/** 200K: for where there is no room. */
export function shortNumber(value: number): string {
  return value.toLocaleString('en-US', { notation: 'compact' });
}

const BROWSERS: [RegExp, string][] = [[/\bEdg\//, 'Edge'], [/\bOPR\//, 'Opera'], [/\bFirefox\//, 'Firefox'], [/\bHeadlessChrome\//, 'Chromium'], [/\bChrome\//, 'Chrome'], [/\bSafari\//, 'Safari'], [/^curl\//, 'curl']];
const SYSTEMS: [RegExp, string][] = [[/\bAndroid\b/, 'Android'], [/\b(iPhone|iPad)\b/, 'iOS'], [/\bWindows\b/, 'Windows'], [/\bMac OS X\b/, 'macOS'], [/\bLinux\b/, 'Linux']];

/** What a browser calls itself, short enough to be recognised: "Firefox on Linux". */
export function device(agent: string | null): string {
  const named = (list: [RegExp, string][]): string | undefined => list.find(([pattern]) => pattern.test(agent ?? ''))?.[1];
  const [browser, system] = [named(BROWSERS), named(SYSTEMS)];
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? system ?? 'An unknown browser';
}
