import { cutText, isWebUrl, parseUrl, type Texts } from 'civic';
import type { Evidence, Family, Signal, SignalActor, SignalChange } from '../types.ts';
import { shownFacts } from './facts.ts';
import type { Names } from './names.ts';
import { isOpaque, nameWords, PLAIN_ICON } from './words.ts';

export interface ShownDay {
  label: string;
  signals: ShownSignal[];
}

export type ShownSignal = ReturnType<typeof shownSignal>;

const MOST_SHOWN = 4;
const MOST_SOURCES = 2;
const MOST_SUMMARY = 140;
const MOST_VALUE = 200;
/** What changes of signals about the directory name. Other fields are shown by their own name. */
const FIELDS = new Set(['source_count', 'freshness', 'flag', 'entity_count', 'role', 'status', 'director']);
/** A time as it is stored. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const VALUES = new Set(['fresh', 'aging', 'stale', 'accepted', 'resolved', 'scheduled', 'cancelled']);

/** Returns signals, newest first, under the days on which they were detected: in the time zone of their place, else in UTC. */
export function shownDays(signals: Signal[], names: Names, t: Texts, now: number): ShownDay[] {
  const days = new Map<string, ShownDay>();
  for (const signal of signals) {
    const label = t.formatDay(signal.detected_at, names.timeZone(signal));
    if (!days.has(label)) days.set(label, { label: label.charAt(0).toUpperCase() + label.slice(1), signals: [] });
    days.get(label)!.signals.push(shownSignal(signal, names, t, now));
  }
  return [...days.values()];
}

function shownSignal(signal: Signal, names: Names, t: Texts, now: number) {
  const kind = names.kind(signal.type);
  const { family = 'other', icon = PLAIN_ICON } = kind ?? {};
  const timeZone = names.timeZone(signal);
  // The name of a meeting is its title.
  const actors = signal.actors.filter(({ id, name }) => id === null || name !== signal.title);
  return {
    id: signal.id, title: signal.title, label: names.type(signal.type), family, icon,
    summary: signal.summary && cutText(signal.summary, MOST_SUMMARY),
    at: signal.detected_at,
    time: t.formatHour(signal.detected_at, timeZone),
    occurs: signal.occurred_at === null ? null : { at: signal.occurred_at, words: momentWords(signal.occurred_at, family, t, timeZone), isComing: Date.parse(signal.occurred_at) > now },
    places: signal.places.map((key) => ({ name: names.place(key), page: names.placePage(key), value: key })),
    issues: signal.issues.map((slug) => ({ name: names.issue(slug), page: names.issuePage(slug), value: slug })),
    actors: actors.slice(0, MOST_SHOWN).map((actor) => shownActor(actor, signal, names)),
    moreActors: Math.max(0, actors.length - MOST_SHOWN),
    facts: shownFacts(signal, kind?.facts ?? null, t, timeZone),
    changes: signal.changes.filter(isReadable).slice(0, MOST_SHOWN).map((change) => shownChange(change, t, timeZone)),
    sources: signal.evidence.slice(0, MOST_SOURCES).map((evidence) => shownSource(evidence, t)),
    moreSources: Math.max(0, signal.evidence.length - MOST_SOURCES),
    from: signal.origin === null ? null : { url: signal.origin.url, host: hostOf(signal.origin.url) },
  };
}

function shownActor({ id, name, role }: SignalActor, signal: Signal, names: Names) {
  return { name, role, href: id === null ? null : names.actor(id, signal) };
}

/** Ids and hashes tell readers nothing. */
function isReadable({ before, after }: SignalChange): boolean {
  return !isOpaque(before) && !isOpaque(after);
}

function shownChange({ field, before, after }: SignalChange, t: Texts, timeZone: string | undefined) {
  const value = (given: unknown): string | null => {
    if (typeof given === 'number') return t.formatNumber(given);
    if (typeof given !== 'string') return null;
    if (TIME.test(given)) return `${t.formatDate(given, timeZone)}, ${t.formatHour(given, timeZone)}`;
    return VALUES.has(given) ? t(`changes.values.${given}`) : cutText(given, MOST_VALUE);
  };
  return { field: FIELDS.has(field) ? t(`changes.fields.${field}`) : nameWords(field), before: value(before), after: value(after) };
}

/** Only addresses of the web become links. */
function shownSource({ source_url: url, title, publisher, published_at }: Evidence, t: Texts) {
  const host = hostOf(url).replace(/^www\./, '');
  return { href: isWebUrl(url) ? url : null, title: title ?? host, publisher: publisher ?? (title === null ? null : host), published: published_at && t.formatDate(published_at) };
}

/** Not everything that has the form of an address is one, such as http://256.256.256.256. */
function hostOf(url: string): string {
  return parseUrl(url)?.host ?? url;
}

/** A moment at midnight UTC is a day, except for meetings and decisions: there it is an evening in America. */
function momentWords(moment: string, family: Family, t: Texts, timeZone: string | undefined): string {
  if (new Date(moment).toISOString().slice(11, 16) === '00:00' && family !== 'decisions') return t.formatDate(moment);
  return `${t.formatDate(moment, timeZone)}, ${t.formatHour(moment, timeZone)}`;
}
