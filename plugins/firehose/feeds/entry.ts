import { escapeMarkup, isWebUrl, parseUrl, writableText, type FeedEntry } from 'civic';
import type { Names } from '../page/names.ts';
import { recordFields } from './record.ts';
import type { PageRow } from '../snapshot/store.ts';
import type { Evidence, Signal } from '../types.ts';

/** The addresses that name the issues and places of categories. */
export interface Schemes {
  issues: string;
  places: string;
}

/** Returns a signal as an entry of a feed. It leads to the page of its first actor in the directory, else to where it was read. */
export function entryOf({ seq, born, at, signal: json }: Omit<PageRow, 'value'>, names: Names, schemes: Schemes): { entry: FeedEntry; signal: Signal } {
  const signal = JSON.parse(json) as Signal;
  const { id, title, summary, detected_at: detected, evidence } = signal;
  const entry: FeedEntry = {
    id: `urn:uuid:${id}`,
    title,
    url: pageOf(signal, names),
    published: detected,
    // A later version was not there when the signal was detected.
    updated: seq === born ? detected : at,
    summary,
    html: htmlOf(signal, names),
    text: textOf(signal, names),
    categories: [
      { term: signal.type, label: names.type(signal.type) },
      ...signal.places.map((key) => ({ term: key, scheme: schemes.places, label: names.place(key) })),
      ...signal.issues.map((slug) => ({ term: slug, scheme: schemes.issues, label: names.issue(slug) })),
    ],
    sources: evidence.map((source) => ({ url: source.source_url, title: sourceName(source) })),
  };
  return { entry, signal };
}

/** Returns the tags of a signal in a JSON Feed. */
export function tagsOf({ type, places, issues }: Signal, names: Names): string[] {
  return [type, ...places.map(names.place), ...issues];
}

function pageOf(signal: Signal, names: Names): string {
  const known = signal.actors.flatMap(({ id }) => (id === null ? [] : names.actor(id, signal) ?? []));
  return known[0] ?? signal.evidence[0]!.source_url;
}

function sourceName({ title, publisher, source_url: url }: Evidence): string {
  return [title ?? parseUrl(url)?.host ?? url, publisher].filter(Boolean).join(', ');
}

/** The facts of a signal, each as one line. */
function factsOf(signal: Signal, names: Names): string[] {
  const { type, occurred_at: occurred, places, issues, actors } = signal;
  const who = actors.map(({ name, role }) => (role ? `${name} (${role})` : name));
  return [
    [names.type(type), ...places.map(names.place), ...issues.map(names.issue)].join(' · '),
    ...(occurred ? [`Date: ${timeOf(occurred, names.timeZone(signal))}`] : []),
    ...(who.length > 0 ? [`With: ${who.join(', ')}`] : []),
  ];
}

/** Returns a time in the zone of the place, else in UTC, as people write it: `Feb 28, 2026, 12:00 PM CST`, without the narrow spaces of some versions of ICU. */
function timeOf(time: string, timeZone = 'UTC'): string {
  return new Intl.DateTimeFormat('en-US', { timeZone, year: 'numeric', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', timeZoneName: 'short' }).format(new Date(time)).replaceAll('\u202f', ' ');
}

/** Returns the quoted passage. A record of JSON is shown as its fields, one in each line. */
function quoteOf(passage: string): string {
  const fields = recordFields(passage);
  return fields.length > 0 ? `:<br>${fields.map(escapeMarkup).join('<br>')}` : `: “${escapeMarkup(passage)}”`;
}

function htmlOf(signal: Signal, names: Names): string {
  const sources = signal.evidence.map((evidence) => {
    const name = escapeMarkup(sourceName(evidence));
    const link = isWebUrl(evidence.source_url) ? `<a href="${escapeMarkup(evidence.source_url)}">${name}</a>` : name;
    return `<li>${link}${evidence.passage ? quoteOf(evidence.passage) : ''}</li>`;
  });
  return [
    signal.summary ? `<p>${escapeMarkup(signal.summary)}</p>` : '',
    ...factsOf(signal, names).map((line) => `<p>${escapeMarkup(line)}</p>`),
    `<p>Read at:</p><ul>${sources.join('')}</ul>`,
  ].join('');
}

function textOf(signal: Signal, names: Names): string {
  const sources = signal.evidence.map((evidence) => `Read at: ${sourceName(evidence)} [${evidence.source_url}]`);
  return writableText([signal.summary ?? '', ...factsOf(signal, names), ...sources].filter(Boolean).join('\n'));
}
