import { gzipSync } from 'node:zlib';

/** A page that a browser was served. */
export interface WalkedPage {
  path: string;
  status: number;
  headers: Headers;
  text: string;
  /** Whether it is HTML. */
  isPage: boolean;
  /** Where its redirects end. */
  end: string;
  /** The shape of its path, such as `/actors/*`. */
  kind: string;
}

export interface Walk {
  pages: Map<string, WalkedPage>;
  /** Links that lead to no page, with the page that has the link. */
  broken: string[];
}

export interface WalkOptions {
  url: string;
  starts: string[];
  /** How many pages with one shape of path are opened, such as `/actors/{id}`. */
  each(path: string): number;
  isFollowed(path: string): boolean;
}

/** Opens pages and follows their links, breadth first, a few of each kind. */
export async function walk({ url, starts, each, isFollowed }: WalkOptions): Promise<Walk> {
  const pages = new Map<string, WalkedPage>();
  const broken: string[] = [];
  const seen = new Map<string, number>();
  const queue = starts.map((path) => ({ path, from: 'the start' }));
  const known = new Set(starts);
  for (const { path, from } of queue) {
    const shape = shapeOf(path);
    const count = seen.get(shape) ?? 0;
    if (count >= each(path)) continue;
    seen.set(shape, count + 1);
    const page = await open(url, path);
    pages.set(path, page);
    if (page.status >= 400) broken.push(`${path} (${page.status}) on ${from}`);
    for (const link of linksOf(page, url)) {
      if (known.has(link) || !isFollowed(link)) continue;
      known.add(link);
      queue.push({ path: link, from: path });
    }
  }
  return { pages, broken };
}

async function open(url: string, path: string): Promise<WalkedPage> {
  const response = await fetch(url + path, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'accept-language': 'en', 'sec-fetch-dest': 'document' } });
  const isPage = response.headers.get('content-type')?.startsWith('text/html') ?? false;
  const text = await response.text();
  return { path, status: response.status, headers: response.headers, text, isPage, end: response.url.slice(url.length), kind: shapeOf(path) };
}

/** Parts that name one thing among many: ids, keys and slugs. Parameters count by their names. */
function shapeOf(path: string): string {
  const { pathname, searchParams } = new URL(path, 'http://civic.example');
  const parts = pathname.split('/').map((part, index, all) => {
    const before = all[index - 1];
    return /[0-9a-f]{8}-|,|%2C/.test(part) || ['issues', 'domains', 'problems', 'map', 'places', 'sources', 'actors', 'entities', 'signals', 'sitemap'].includes(before ?? '') ? '*' : part;
  });
  return `${parts.join('/')}?${[...new Set(searchParams.keys())].toSorted().join('&')}`;
}

/** The addresses on this instance that a page or a sitemap links to, without fragments. */
function linksOf({ text, end }: Pick<WalkedPage, 'text' | 'end'>, url: string): string[] {
  // A sitemap has the public addresses of the instance, which is served elsewhere in a test.
  const listed = text.startsWith('<?xml') ? [...text.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, address]) => new URL(new URL(address!).pathname, url)) : [];
  const targets = [...text.matchAll(/<a\b[^>]*?\shref="([^"]*)"/g)].map(([, href]) => new URL(unescaped(href!), url + end));
  const own = [...listed, ...targets].filter(({ origin }) => origin === new URL(url).origin);
  return [...new Set(own.map(({ pathname, search }) => pathname + search))];
}

/** A page without what only machines read, so that a search finds texts between tags. */
export function textOf(text: string): string {
  return unescaped(text.replaceAll(/<script[^]*?<\/script>/g, '')).replaceAll(/>\s+/g, '>').replaceAll(/\s+</g, '<');
}

export function unescaped(text: string): string {
  return text.replaceAll('&#x3D;', '=').replaceAll('&#x27;', "'").replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** The addresses of everything that a browser loads for a page. */
export function loadedBy(text: string): string[] {
  const tags = [...text.matchAll(/<(script|img|iframe|source|video|audio|embed|link)\b[^>]*>/g)].filter(([tag, name]) => name !== 'link' || /rel="(?:stylesheet|icon|preload|modulepreload|manifest)"/.test(tag));
  return tags.flatMap(([tag]) => [...tag.matchAll(/\s(?:src|href|srcset)="([^"]*)"/g)].map(([, address]) => unescaped(address!)));
}

export const compressedSize = (text: string | Buffer): number => gzipSync(text).length;
