import type { Address } from 'civic/directory';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { createGzip, gzip as gzipOf } from 'node:zlib';

const XMLNS = 'http://www.sitemaps.org/schemas/sitemap/0.9';
const HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n';

export const compressed: (text: string) => Promise<Buffer> = promisify(gzipOf);

/** Returns a sitemap index. */
export function sitemapIndex(urls: string[]): string {
  return `${HEAD}<sitemapindex xmlns="${XMLNS}">\n${urls.map((url) => `<sitemap><loc>${escaped(url)}</loc></sitemap>\n`).join('')}</sitemapindex>\n`;
}

export interface Listed {
  url: string;
  /** When the page changed. The sitemap contains only the day. */
  changed?: string;
}

/** Compresses a sitemap while its addresses are read, so that only the compressed text is in memory. */
export async function compressedSitemap(chunks: AsyncIterable<Listed[]>): Promise<Buffer> {
  const gzip = createGzip();
  const parts: Buffer[] = [];
  gzip.on('data', (part: Buffer) => { parts.push(part); });
  const ended = once(gzip, 'end');
  const write = async (text: string): Promise<void> => { if (!gzip.write(text)) await once(gzip, 'drain'); };
  await write(`${HEAD}<urlset xmlns="${XMLNS}">\n`);
  for await (const listed of chunks) await write(listed.map(lineOf).join(''));
  gzip.end('</urlset>\n');
  await ended;
  return Buffer.concat(parts);
}

const lineOf = ({ url, changed }: Listed): string => `<url><loc>${escaped(url)}</loc>${changed ? `<lastmod>${changed.slice(0, 10)}</lastmod>` : ''}</url>\n`;

/** Converts addresses of the directory to those of pages. */
export async function* listedAt(addresses: AsyncIterable<Address[]>, urlOf: (id: string) => string): AsyncIterable<Listed[]> {
  for await (const some of addresses) yield some.map(({ id, updated_at }) => ({ url: urlOf(id), changed: updated_at }));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&apos;');
}
