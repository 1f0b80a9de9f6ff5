import { parseUrl, singleLine } from 'civic';
import type { Document, Feed } from 'civic/reader';
import type { NewPage } from '../runs/pages-store.ts';

/** The order in which pages are read: what a person gave, what searches found, then pages that are likely to name people and groups. */
export const rankOf = { seed: 0, known: 1, feed: 2, indexed: 3, searched: 4, sitemap: 5, entry: 6, likely: 7, other: 8 };

/** Pages of sites of groups and governments that usually name actors, in English and Spanish. */
const LIKELY = /\b(?:about|staff|team|board|council|alder(?:men|s)|commission(?:ers)?|committees?|members?|membership|leadership|people|directory|officers?|trustees?|contacts?|partners?|coalition|organi[sz]ations?|groups?|events?|calendar|meetings?|campaigns?|initiatives?|programs?|departments?|who-we-are|nosotros|equipo|consejo|junta|miembros|personal|directorio|contacto|eventos|socios)\b/i;
const NO_PAGE = /\.(?:jpe?g|png|gif|webp|svg|ico|css|js|mjs|woff2?|ttf|mp[34]|m4a|avi|mov|wmv|zip|gz|rar|exe|dmg|docx?|xlsx?|pptx?)$/i;
/** Names of parameters that are secrets: members of a workspace see the addresses of its runs. */
const SECRET = /^(?:token|access_?token|key|api_?key|auth|authorization|password|pwd|secret|sig|signature|x-amz-signature|phpsessid|sid|jwt)$/i;
const NO_VISIT = /\b(?:login|log-in|signin|sign-in|logout|register|cart|checkout|account|password|wp-admin|wp-login|share|print|feed\/|replytocom)\b/i;
const LONGEST_URL = 2000;
const LONGEST_QUERY = 200;
const MOST_LINKS = 500;
const MOST_SEGMENTS = 8;
const MOST_FEEDS = 3;
const MOST_ENTRIES = 20;
const LONGEST_TITLE = 500;

/** Returns the links of a page that are worth reading: of the same host, likely ones first. */
export function linksOf(document: Document): NewPage[] {
  const host = parseUrl(document.url)?.host;
  const found = new Map<string, NewPage>();
  for (const { url, text, rel } of document.links.slice(0, MOST_LINKS * 4)) {
    const page = pageAt(url);
    if (!page || page.host !== host || /\bnofollow\b/.test(rel) || found.has(page.url)) continue;
    found.set(page.url, { ...page, rank: LIKELY.test(`${new URL(page.url).pathname} ${text.slice(0, 200)}`) ? rankOf.likely : rankOf.other });
  }
  return [...found.values()].toSorted((one, other) => one.rank - other.rank).slice(0, MOST_LINKS);
}

/** Returns the pages that a page leads to. Only sites that were given or are watched are followed through their feeds; of a page that a search found, only likely links. */
export function pagesAfter({ rank }: { rank: number }, document: Document): NewPage[] {
  if (document.feed) return entryPages(document.feed);
  if (rank <= rankOf.known) return [...feedPages(document), ...linksOf(document)];
  const isFound = rank === rankOf.indexed || rank === rankOf.searched || rank === rankOf.entry;
  return isFound ? linksOf(document).filter((link) => link.rank === rankOf.likely) : linksOf(document);
}

/** Returns the feeds of news that a page names. */
function feedPages({ feeds }: Document): NewPage[] {
  return feeds.filter(({ url, title, type }) => /rss|atom|feed|xml/i.test(type) && !/comment/i.test(`${url} ${title ?? ''}`)).slice(0, MOST_FEEDS)
    .flatMap(({ url }) => addressAt(url) ?? []).map((page) => ({ ...page, rank: rankOf.feed }));
}

/** Returns the pages of the first entries of a feed, with their titles. */
function entryPages({ entries }: Feed): NewPage[] {
  return entries.slice(0, MOST_ENTRIES).flatMap(({ url, title }) => {
    const page = url === null ? null : pageAt(url);
    return page ? [{ ...page, rank: rankOf.entry, title: singleLine(title ?? '', LONGEST_TITLE) || null }] : [];
  });
}

/** Returns the addresses of a sitemap that are likely to name actors. An index of sitemaps is not followed further than its own list. */
export function sitemapPages(body: string, host: string): NewPage[] {
  const pages: NewPage[] = [];
  for (const [, text = ''] of body.slice(0, 5_000_000).matchAll(/<loc>\s*([^<\s]{1,2000})\s*<\/loc>/g)) {
    const page = pageAt(text.replaceAll('&amp;', '&'));
    if (page?.host === host && LIKELY.test(new URL(page.url).pathname)) pages.push({ ...page, rank: rankOf.sitemap });
    if (pages.length >= MOST_LINKS) break;
  }
  return pages;
}

/** Returns an address as one that a run can read, without its fragment; null for files, forms, endless paths and addresses with a secret. */
export function pageAt(text: string): NewPage | null {
  const page = addressAt(text);
  return page && !NO_VISIT.test(new URL(page.url).pathname) ? page : null;
}

/** Whether an address has a password or a key. */
export function hasSecret(url: URL): boolean {
  return url.username !== '' || url.password !== '' || [...url.searchParams.keys()].some((name) => SECRET.test(name));
}

function addressAt(text: string): NewPage | null {
  const url = parseUrl(text);
  if (!url || !/^https?:$/.test(url.protocol) || hasSecret(url) || url.href.length > LONGEST_URL || url.search.length > LONGEST_QUERY) return null;
  url.hash = '';
  const segments = url.pathname.split('/').filter(Boolean);
  // Calendars and broken relative links make paths that repeat without end.
  if (segments.length > MOST_SEGMENTS || new Set(segments).size < segments.length - 1 || NO_PAGE.test(url.pathname)) return null;
  return { url: url.href, host: url.host, rank: rankOf.other };
}
