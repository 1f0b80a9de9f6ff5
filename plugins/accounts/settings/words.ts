import type { Language, Texts } from 'civic';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A time as pages show it: `{{at}}`, or a value of a text. */
export interface When {
  /** Returns the `time` element, which templates and texts write as it is. */
  toHTML(): string;
}

/** The formats of a language, which the texts of every plugin have. */
export type WhenTexts = Pick<Texts, 'formatDate' | 'formatHour' | 'language'>;

// Created with the first page that shows a time: each takes memory.
const relative = new Map<Language, Intl.RelativeTimeFormat>();

/** Returns how long ago or ahead a time is; its date when that is long. */
export function when(iso: string | null, now: number, t: WhenTexts): When | null {
  if (iso === null) return null;
  const at = Date.parse(iso);
  const html = `<time datetime="${new Date(at).toISOString()}" title="${t.formatDate(at)}, ${t.formatHour(at)}">${wordsFor(at - now, at, t)}</time>`;
  return { toHTML: () => html };
}

function wordsFor(distance: number, at: number, t: WhenTexts): string {
  const far = Math.abs(distance);
  if (far > 30 * DAY) return t.formatDate(at);
  const format = relative.get(t.language) ?? new Intl.RelativeTimeFormat(t.language, { numeric: 'auto' });
  relative.set(t.language, format);
  if (far < MINUTE) return format.format(0, 'second');
  const [unit, size] = far < HOUR ? ['minute', MINUTE] as const : far < DAY ? ['hour', HOUR] as const : ['day', DAY] as const;
  return format.format(distance < 0 ? -Math.floor(far / size) : Math.round(far / size), unit);
}
