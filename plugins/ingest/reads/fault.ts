import type { Document, Read } from 'civic/reader';
import type { Row } from '../adapters/types.ts';

/** Why a read of a source brought nothing, and what its owner can do. */
export interface Fault {
  code: string;
  detail: string;
}

/** So many rows must have been there before none is an alarm. */
const MANY = 3;

/** Returns why a document cannot be what is watched, before its rows are read. */
export function documentFault(document: Document, { url, final_url, via }: Pick<Read, 'url' | 'final_url' | 'via'>): Fault | null {
  if (document.login_wall) return { code: 'login_wall', detail: `${hostOf(final_url)} asks for a sign-in instead of showing the page. Watch a public page instead.` };
  if (document.is_script_page) return { code: 'script_page', detail: `${via === 'browser' ? 'The page has almost no text, even in a browser' : 'The page has no text without its scripts, and was not read with a browser'}. Look for a calendar file, a feed or a printable version, and watch that${via === 'browser' ? '' : '; or ask the operator of this instance to install Chromium'}.` };
  const isMoved = hostOf(url) !== hostOf(final_url) && new URL(final_url).pathname === '/';
  return isMoved ? { code: 'moved', detail: `The address leads to the home page of ${hostOf(final_url)}. Find the page there, and change the address of the source.` } : null;
}

/** Returns why the rows of a read cannot be believed. */
export function rowsFault(rows: Row[], knownCount: number): Fault | null {
  if (rows.length > 0 || knownCount < MANY) return null;
  return { code: 'no_rows', detail: `The page had ${knownCount} entries before and has none now. Its layout may have changed, or it moved: open it, and test the source again.` };
}

function hostOf(url: string): string {
  return new URL(url).host;
}
