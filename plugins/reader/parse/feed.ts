import type { Feed, FeedEntry } from '../types.ts';
import { LIMITS, type Cut } from './limits.ts';
import { spanOf, type Lines } from './lines.ts';
import { absoluteUrl, fold, foldedText, parseTree } from './tree.ts';

/** A feed of any format as feedsmith returns it. */
type Parsed = Record<string, any>;

/** Parses RSS, Atom, RDF and JSON Feed, and adds its titles and texts to the lines; null when it is none of them. */
export async function readFeed(body: string, url: string, lines: Lines, cut: Cut): Promise<Feed | null> {
  if (body.length > (body.trimStart().startsWith('<') ? 2 : 1) * LIMITS.json || countTags(body) > LIMITS.xml_tags) {
    cut.truncated = true;
    return null;
  }
  const { parseFeed } = await import('feedsmith');
  let parsed: { format: Feed['format']; feed: Parsed };
  try {
    parsed = parseFeed(withoutDoctype(body)) as typeof parsed;
  } catch {
    return null;
  }
  const { format, feed } = parsed;
  const title = plain(feed.title);
  if (title) lines.add('title', title);
  const entries: Parsed[] = feed.items ?? feed.entries ?? [];
  if (entries.length > LIMITS.feed_entries) cut.truncated = true;
  return {
    format, title,
    url: absoluteUrl(linkOf(feed) ?? undefined, url),
    description: plain(feed.description ?? feed.subtitle),
    entries: entries.slice(0, LIMITS.feed_entries).map((entry) => entryOf(entry, url, lines)),
  };
}

function entryOf(entry: Parsed, base: string, lines: Lines): FeedEntry {
  const title = plain(entry.title);
  const text = plain(entry.content_html ?? textOf(entry.content) ?? entry.content?.encoded ?? entry.content_text ?? entry.description ?? textOf(entry.summary)) ?? '';
  const range = spanOf([lines.add('h2', title ?? ''), lines.add('p', text)], lines.length);
  return {
    ...range,
    id: textOf(entry.guid?.value ?? entry.id) ?? null,
    url: absoluteUrl(linkOf(entry) ?? undefined, base),
    title, text,
    author: plain(nameOf(entry.authors?.[0] ?? entry.author ?? entry.dc?.creators?.[0] ?? entry.dc?.creator)),
    published: isoTime(entry.pubDate ?? entry.published ?? entry.date_published ?? entry.dc?.dates?.[0] ?? entry.dc?.date),
    updated: isoTime(entry.updated ?? entry.date_modified),
    categories: (entry.categories ?? entry.tags ?? []).map((one: unknown) => plain(nameOf(one))).filter((one: string | null) => one !== null).slice(0, 50),
    enclosures: enclosuresOf(entry, base),
  };
}

function enclosuresOf(entry: Parsed, base: string): FeedEntry['enclosures'] {
  const given: Parsed[] = [...(entry.enclosures ?? []), ...(entry.attachments ?? []), ...(entry.links ?? []).filter(({ rel }: Parsed) => rel === 'enclosure')];
  return given.slice(0, 20).flatMap((one) => {
    const url = absoluteUrl(one.url ?? one.href, base);
    return url ? [{ url, type: one.type ?? one.mime_type ?? null }] : [];
  });
}

function linkOf(given: Parsed): string | null {
  const alternate = (given.links as Parsed[] | undefined)?.find(({ rel }) => rel === undefined || rel === 'alternate');
  return textOf(given.link ?? given.url ?? given.home_page_url ?? alternate?.href ?? (given.guid?.isPermaLink === false ? null : /^https?:/.exec(given.guid?.value ?? '') ? given.guid.value : null));
}

function nameOf(value: any): unknown {
  return typeof value === 'object' && value !== null ? value.name ?? value.term ?? value.label ?? value.email : value;
}

function textOf(value: any): string | null {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return typeof value?.value === 'string' ? value.value : null;
}

/** Returns plain text of what may be HTML. */
function plain(value: unknown): string | null {
  const text = textOf(value);
  if (text === null) return null;
  const bare = /[<&]/.test(text) ? foldedText(parseTree(text.replace(/<(\/p|\/div|\/li|br)\b/gi, ' <$1'), { truncated: false }), 50_000) : fold(text).slice(0, 50_000);
  return bare === '' ? null : bare;
}

function isoTime(value: unknown): string | null {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/** Entities of a document type can grow without end, and feeds need none. */
function withoutDoctype(body: string): string {
  const start = body.search(/<!DOCTYPE/i);
  const close = body.indexOf('>', start);
  if (start < 0 || close < 0) return body;
  if (!body.slice(start, close).includes('[')) return body.slice(0, start) + body.slice(close + 1);
  const [end] = /\]\s*>/.exec(body.slice(start)) ?? [];
  return end === undefined ? body : body.slice(0, start) + body.slice(body.indexOf(end, start) + end.length);
}

function countTags(body: string): number {
  let tags = 0;
  for (let at = body.indexOf('<'); at >= 0; at = body.indexOf('<', at + 1)) tags++;
  return tags;
}
