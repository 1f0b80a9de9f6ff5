import { createHash } from 'node:crypto';
import type { Content, Document, Read } from 'civic/reader';
import type { Ingest } from '../context.ts';
import type { LinkRow } from './store.ts';

/** What was found at an address. */
export interface FoundContent {
  /** Of the archived copy. */
  hash: string;
  text_hash: string;
  isLoginWall: boolean;
  /** The text of the page as it was and as it is; null unless its main text changed, and both could be read whole. */
  change: { from_hash: string; before: string; after: string } | null;
}

/** Returns what a read found. A page that differs only in its markup or navigation has the content that the archive has of it. */
export async function contentFound(ingest: Ingest, link: Pick<LinkRow, 'content_hash' | 'text_hash'>, { final_url, content }: Read): Promise<FoundContent | null> {
  if (!content) return null;
  const known = link.content_hash !== null && link.text_hash !== null ? { hash: link.content_hash, text_hash: link.text_hash } : null;
  if (known?.hash === content.hash) return { ...known, isLoginWall: false, change: null };
  const now = await textOf(ingest, final_url, content);
  const { isLoginWall } = now;
  const text_hash = createHash('sha256').update(now.main).digest('hex');
  if (!known) return { hash: content.hash, text_hash, isLoginWall, change: null };
  if (known.text_hash === text_hash) return { ...known, isLoginWall, change: null };
  const former = await ingest.reader.content(ingest.civic.db.read, known.hash);
  const before = former ? await textOf(ingest, final_url, former) : null;
  const change = before?.whole && now.whole ? { from_hash: known.hash, before: before.whole, after: now.whole } : null;
  return { hash: content.hash, text_hash, isLoginWall, change };
}

interface PageText {
  main: string;
  /** Null for a page that shows its text only in part, or not at all. */
  whole: string | null;
  isLoginWall: boolean;
}

async function textOf({ reader }: Ingest, url: string, { hash, content_type, body }: Content): Promise<PageText> {
  try {
    const document = await reader.document({ url, content_type, body });
    const isWhole = !document.truncated && !document.is_script_page && !document.login_wall;
    return { main: mainText(document), whole: isWhole ? plain(document.text || document.body || '') : null, isLoginWall: document.login_wall };
  } catch {
    // A file that cannot be parsed is known by its bytes.
    return { main: hash, whole: null, isLoginWall: false };
  }
}

function mainText({ text, main, body }: Document): string {
  const shown = main ? text.slice(main.start, main.end) : text || body || '';
  return plain(shown);
}

/** Returns a text with each run of white space as one space. */
export function plain(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').trim();
}
