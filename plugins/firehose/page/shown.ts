import { parseUrl } from 'civic';
import type { SignalKinds } from '../signals/kinds.ts';
import type { Evidence, Family, Signal, SignalActor, SignalChange } from '../types.ts';
import { shownFacts } from './facts.ts';
import { nameWords, PLAIN_ICON } from './words.ts';

/** The labels of places, issues and types here. */
export interface Names {
  kind: SignalKinds['of'];
  place(key: string): string;
  issue(slug: string): string;
  /** Where an actor of this signal can be looked at; null when nowhere. */
  actor(id: string, signal: Signal): string | null;
}

export interface ShownDay {
  date: string;
  label: string;
  signals: ShownSignal[];
}

export type ShownSignal = ReturnType<typeof shownSignal>;

const MOST_SHOWN = 4;
const DAY_MS = 86_400_000;

/** Signals, newest first, under the days they were noticed on, in UTC like everything here. */
export function shownDays(signals: Signal[], names: Names, now: number): ShownDay[] {
  const days = new Map<string, ShownDay>();
  for (const signal of signals) {
    const date = signal.detected_at.slice(0, 10);
    if (!days.has(date)) days.set(date, { date, label: dayLabel(date, now), signals: [] });
    days.get(date)!.signals.push(shownSignal(signal, names, now));
  }
  return [...days.values()];
}

function dayLabel(date: string, now: number): string {
  const dayOf = (moment: number): string => new Date(moment).toISOString().slice(0, 10);
  if (date === dayOf(now)) return 'Today';
  return date === dayOf(now - DAY_MS) ? 'Yesterday' : longDate(date);
}

const LONG = new Intl.DateTimeFormat('en', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
const SHORT = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

function longDate(date: string): string {
  return LONG.format(new Date(date));
}

function shownSignal(signal: Signal, names: Names, now: number) {
  const kind = names.kind(signal.type);
  const { label = nameWords(signal.type), family = 'other', icon = PLAIN_ICON } = kind ?? {};
  return {
    id: signal.id, title: signal.title, summary: signal.summary, label, family, icon,
    at: signal.detected_at,
    time: signal.detected_at.slice(11, 16),
    occurs: signal.occurred_at === null ? null : { at: signal.occurred_at, words: momentWords(signal.occurred_at, family), isComing: Date.parse(signal.occurred_at) > now },
    places: signal.places.map((key) => ({ value: key, name: names.place(key) })),
    issues: signal.issues.map((slug) => ({ value: slug, name: names.issue(slug) })),
    actors: signal.actors.slice(0, MOST_SHOWN).map((actor) => shownActor(actor, signal, names)),
    moreActors: Math.max(0, signal.actors.length - MOST_SHOWN),
    facts: shownFacts(signal, kind?.facts ?? null),
    changes: signal.changes.slice(0, MOST_SHOWN).map(shownChange),
    sources: signal.evidence.slice(0, MOST_SHOWN).map(shownSource),
    from: signal.origin === null ? null : { url: signal.origin.url, host: hostOf(signal.origin.url) },
  };
}

function shownActor({ id, name, role }: SignalActor, signal: Signal, names: Names) {
  return { name, role, href: id === null ? null : names.actor(id, signal) };
}

function shownChange({ field, before, after }: SignalChange) {
  return { field: field.replaceAll('_', ' '), before: plainText(before), after: plainText(after) };
}

/** Only texts and numbers are for reading. */
function plainText(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 200) : null;
}

function shownSource({ source_url: href, title, publisher, published_at }: Evidence) {
  const host = hostOf(href).replace(/^www\./, '');
  return { href, title: title ?? host, publisher: publisher ?? (title === null ? null : host), published: published_at && SHORT.format(new Date(published_at)) };
}

/** Not everything that has the form of an address is one, such as http://256.256.256.256. */
function hostOf(url: string): string {
  return parseUrl(url)?.host ?? url;
}

/** A moment at midnight is a day. Not so where people meet: there it is an evening in America, and without its hour the wrong day. */
function momentWords(moment: string, family: Family): string {
  const time = new Date(moment).toISOString().slice(11, 16);
  return `${SHORT.format(new Date(moment))}${time === '00:00' && family !== 'decisions' ? '' : `, ${time} UTC`}`;
}
