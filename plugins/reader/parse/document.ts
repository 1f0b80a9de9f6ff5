import type { Document, DocumentInput } from '../types.ts';
import { readCalendar } from './calendar.ts';
import { readFeed } from './feed.ts';
import { withBoundedStreams } from './inflate.ts';
import { LIMITS, type Cut } from './limits.ts';
import { createLines } from './lines.ts';
import { readPage } from './page.ts';
import { readPdf } from './pdf.ts';
import { kindOfBytes, kindOfText } from './sniff.ts';

/** The input without the body, and the charset that core found. */
export type ParseInput = Omit<DocumentInput, 'body'> & { charset: string };

const EMPTY: Omit<Document, 'url' | 'kind' | 'truncated'> = {
  title: null, language: null, site_name: null, description: null, canonical_url: null, text: '', main: null, blocks: [], tables: [], links: [], feeds: [], items: [],
  feed: null, calendar: null, pages: [], body: null, is_script_page: false, login_wall: false,
};

/** Parses a document of any kind. `reader.document` runs it in a thread. */
export async function parseDocument(input: ParseInput, given: Uint8Array): Promise<Document> {
  const cut: Cut = { truncated: given.length > LIMITS.bytes };
  const body = given.subarray(0, LIMITS.bytes);
  const { url, content_type: contentType } = input;
  const bytesKind = kindOfBytes(body, contentType);
  if (bytesKind === 'pdf') {
    const lines = createLines(cut);
    const pdf = await withBoundedStreams(cut, () => readPdf(body, lines, cut));
    return { ...EMPTY, url, kind: pdf ? 'pdf' : 'other', ...pdf, ...lines.parts(), ...cut };
  }
  if (bytesKind) return { ...EMPTY, url, kind: bytesKind, ...cut };
  return await parseText(input, new TextDecoder(input.charset).decode(body), cut);
}

async function parseText({ url, content_type: contentType, window }: ParseInput, text: string, cut: Cut): Promise<Document> {
  const kind = kindOfText(text, contentType);
  const lines = createLines(cut);
  switch (kind) {
    case 'html': return { ...EMPTY, url, kind, ...await readPage(text, url, cut), ...cut };
    case 'feed': {
      const feed = await readFeed(text, url, lines, cut);
      return { ...EMPTY, url, kind: feed ? 'feed' : text.trimStart().startsWith('<') ? 'xml' : 'json', title: feed?.title ?? null, feed, body: text, ...lines.parts(), ...cut };
    }
    case 'calendar': {
      const { title, events } = readCalendar(text, window ?? null, lines, cut);
      return { ...EMPTY, url, kind, title, calendar: events, body: text, ...lines.parts(), ...cut };
    }
    case 'text':
      if (text.length > LIMITS.text) cut.truncated = true;
      for (const paragraph of text.slice(0, LIMITS.text).split(/\n\s*\n/)) lines.add('p', paragraph);
      return { ...EMPTY, url, kind, ...lines.parts(), ...cut };
    default: return { ...EMPTY, url, kind, body: text, ...cut };
  }
}
