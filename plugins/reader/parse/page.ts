import type { Document } from '../types.ts';
import { readItems } from './items.ts';
import type { Cut } from './limits.ts';
import { mainRange } from './main.ts';
import { readTables } from './tables.ts';
import { readText } from './text.ts';
import { absoluteUrl, eachElement, fold, foldedText, parseTree, type Element } from './tree.ts';

const FEED_TYPES = /^(application\/(rss|atom|rdf|feed)\+(xml|json)|application\/json|text\/calendar|application\/x-rss\+xml|text\/xml|application\/xml)\b/i;
const LOGIN = /\b(log ?in|sign ?in|log ?on|password|iniciar sesi[oó]n|contraseña)\b/i;
/** Below this a page has almost no text. */
const LITTLE_TEXT = 250;
const LOGIN_TEXT = 1500;

export type PageParts = Pick<Document, 'title' | 'language' | 'site_name' | 'description' | 'canonical_url' | 'text' | 'main' | 'blocks' | 'tables' | 'links' | 'feeds' | 'items' | 'is_script_page' | 'login_wall'>;

/** Reads a page of HTML. */
export async function readPage(html: string, url: string, cut: Cut): Promise<PageParts> {
  const root = parseTree(html, cut);
  const elements: Element[] = [];
  eachElement(root, (element) => { elements.push(element); });
  const base = absoluteUrl(elements.find(({ tag, attributes }) => tag === 'base' && attributes.href)?.attributes.href, url) ?? url;
  const page = readText(root, base, cut);
  const items = await readItems({ root, html, base, elements, cut });
  const { text, blocks, links } = page;
  return {
    ...readHead(elements, base),
    text, main: mainRange(root, page), blocks, tables: readTables(root, page, cut), links, items,
    feeds: readFeeds(elements, base),
    is_script_page: isScriptPage(elements, text),
    login_wall: text.length < LOGIN_TEXT && LOGIN.test(text) && elements.some(({ tag, attributes }) => tag === 'input' && attributes.type?.toLowerCase() === 'password'),
  };
}

function readHead(elements: Element[], base: string): Pick<Document, 'title' | 'language' | 'site_name' | 'description' | 'canonical_url'> {
  const meta = (...names: string[]): string | null => {
    const found = elements.find(({ tag, attributes }) => tag === 'meta' && attributes.content && names.includes((attributes.property ?? attributes.name ?? attributes['http-equiv'] ?? '').toLowerCase()));
    return found ? fold(found.attributes.content!).slice(0, 2000) || null : null;
  };
  const first = (tag: string) => elements.find((element) => element.tag === tag && !isInsideSvg(element));
  const textOf = (element: Element | undefined) => (element && foldedText(element, 500)) || null;
  const language = first('html')?.attributes.lang || first('html')?.attributes['xml:lang'] || meta('content-language', 'og:locale');
  const canonical = elements.find(({ tag, attributes }) => tag === 'link' && /(^|\s)canonical(\s|$)/i.test(attributes.rel ?? ''));
  return {
    title: textOf(first('title')) ?? meta('og:title') ?? textOf(first('h1')),
    language: language?.trim().toLowerCase().replace('_', '-').slice(0, 35) || null,
    site_name: meta('og:site_name', 'application-name'),
    description: meta('description', 'og:description'),
    canonical_url: absoluteUrl(canonical?.attributes.href, base) ?? absoluteUrl(meta('og:url') ?? undefined, base),
  };
}

function isInsideSvg({ parent }: Element): boolean {
  return parent?.tag === 'svg' || parent?.tag === 'g';
}

/** Returns feeds of `<link rel="alternate">`, and links to calendars. */
function readFeeds(elements: Element[], base: string): Document['feeds'] {
  const feeds = new Map<string, Document['feeds'][number]>();
  for (const { tag, attributes, children } of elements) {
    if (feeds.size >= 100) break;
    const type = attributes.type?.toLowerCase().trim() ?? '';
    const isFeed = tag === 'link' && /(^|\s)(alternate|feed)(\s|$)/i.test(attributes.rel ?? '') && FEED_TYPES.test(type);
    const isCalendar = tag === 'a' && (type === 'text/calendar' || /^webcal:|\.ics([?#]|$)|[?&](ical|outlook-ical)=1|format=ical/i.test(attributes.href ?? ''));
    const url = isFeed || isCalendar ? absoluteUrl(attributes.href, base)?.replace(/^webcal:/, 'https:') : undefined;
    if (url && !feeds.has(url)) feeds.set(url, { url, title: fold(attributes.title ?? children.filter((child) => typeof child === 'string').join(' ')).slice(0, 300) || null, type: isCalendar ? 'text/calendar' : type.split(';')[0]! });
  }
  return [...feeds.values()];
}

function isScriptPage(elements: Element[], text: string): boolean {
  return text.length < LITTLE_TEXT && elements.some(({ tag, attributes, children }) => tag === 'script' && !/json/i.test(attributes.type ?? '') && (attributes.src !== undefined || children.join('').length > 100));
}
