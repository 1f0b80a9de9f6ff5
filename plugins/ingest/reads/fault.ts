import type { Document, Read } from 'civic/reader';
import type { Row } from '../adapters/types.ts';
import { isUpcoming } from './compare.ts';

/** Why a read of a source brought nothing, and what its owner can do. */
export interface Fault {
  code: string;
  detail: string;
}

/** So many rows must have been there before none is an alarm. */
const MANY = 3;

/** Reasons whose details state no remedy. */
const WITHOUT_REMEDY = new Set(['bad_response', 'unreachable', 'bad_certificate', 'too_many_redirects']);
const OPEN_IT = 'Try again later. If it stays so, open the page, and report it to the publisher.';

/** Returns why a page could not be read. What to do about it depends on what the page is for, so that it is stated here. */
export function readFault({ reason, detail, status }: Pick<Read, 'reason' | 'detail' | 'status'>): Fault {
  const said = detail ?? 'The page could not be read.';
  if (reason === 'http_status' && status !== null) return { code: reason, detail: `${said} ${remedyOf(status)}` };
  return { code: reason!, detail: WITHOUT_REMEDY.has(reason!) ? `${said} ${OPEN_IT}` : said };
}

function remedyOf(status: number): string {
  if (status === 404 || status === 410) return 'Find where the page is now, and watch that address.';
  if (status === 401 || status === 403) return 'The site refuses programs, or asks for a sign-in: watch another public page, calendar or feed of it.';
  if (status === 429 || status >= 500) return OPEN_IT;
  return 'Open the page, and change the address of the source if it is elsewhere now.';
}

/** Returns why a document cannot be what is watched, before its rows are read. */
export function documentFault(document: Document, { url, final_url, via }: Pick<Read, 'url' | 'final_url' | 'via'>): Fault | null {
  if (document.login_wall) return { code: 'login_wall', detail: `${hostOf(final_url)} asks for a sign-in instead of showing the page. Watch a public page instead.` };
  if (document.is_script_page) return { code: 'script_page', detail: `${via === 'browser' ? 'The page has almost no text, even in a browser' : 'The page has no text without its scripts, and was not read with a browser'}. Look for a calendar file, a feed or a printable version, and watch that${via === 'browser' ? '' : '; or ask the operator of this instance to install Chromium'}.` };
  if (isCutOff(document)) return { code: 'cut_off', detail: 'The file ends before its last line, so a part of it is missing. Open it: if it is always cut off, its publisher has to repair it.' };
  const isMoved = hostOf(url) !== hostOf(final_url) && new URL(final_url).pathname === '/';
  return isMoved ? { code: 'moved', detail: `The address leads to the home page of ${hostOf(final_url)}. Find the page there, and change the address of the source.` } : null;
}

/** Whether a file of a calendar or of XML ends before its last line. What is left out would look cancelled, and the last entry would have half of its lines. */
function isCutOff({ kind, body, truncated }: Document): boolean {
  if (body === null || truncated) return false;
  const count = (pattern: RegExp) => body.match(pattern)?.length ?? 0;
  if (kind === 'calendar') return count(/^END:VCALENDAR\s*$/gim) < count(/^BEGIN:VCALENDAR\s*$/gim);
  return (kind === 'feed' || kind === 'xml') && isCutXml(body);
}

/** Whether XML has no end of its root element: the first one after the prolog and comments. */
function isCutXml(body: string): boolean {
  const [, root, isEmpty] = /<([\w:.-]{1,100})(?:\s[^<>]{0,5000}?)?(\/?)>/.exec(body.replaceAll(/<!--[^]*?(?:-->|$)/g, '')) ?? [];
  return body.trimStart().startsWith('<') && root !== undefined && isEmpty === '' && !body.includes(`</${root}`);
}

/** What is stored of a source before a read. */
export interface KnownState {
  rowCount: number;
  rows: Row[];
  /** Why the last read failed; null if it did not. */
  fault: string | null;
  /** Whether the row was missing in the last read as well. */
  wasDoubted(row: Row): boolean;
}

/** Returns why the rows of a read cannot be believed. */
export function rowsFault(rows: Row[], known: KnownState, now: number): Fault | null {
  if (rows.length > 0) return fewRowsFault(rows, known, now) ?? lostTextFault(rows, known);
  if (known.rowCount < MANY) return null;
  return { code: 'no_rows', detail: `The page had ${known.rowCount} entries before and has none now. Its layout may have changed, or it moved: open it, and test the source again.` };
}

/**
 * Reports a calendar that shrank to a few rows and lost nearly all meetings it had announced, such as one that was replaced by a notice. If some of them are left, the second such read is
 * believed; while none is left, the list is taken for another one.
 */
function fewRowsFault(rows: Row[], known: KnownState, now: number): Fault | null {
  const read = new Set(rows.map(({ key }) => key));
  const upcoming = known.rows.filter((row) => isUpcoming(row, now));
  const missing = upcoming.filter(({ key }) => !read.has(key));
  const left = known.rows.filter(({ key }) => read.has(key)).length;
  if (upcoming.length < MANY || left * 4 >= upcoming.length || rows.length * 2 > upcoming.length) return null;
  if (left > 0 && missing.some(known.wasDoubted)) return null;
  const still = left === 0 ? 'none' : left === 1 ? 'one' : String(left);
  return { code: 'few_rows', detail: `The calendar had announced ${upcoming.length} meetings and lists ${still} of them now. Its layout may have changed, or it moved: open it, and test the source again. Nothing is reported as cancelled.` };
}

/** A page that has a few words of a failure instead of its text, such as "Error establishing a database connection" or "Page not found". */
const FAILURE = /\b(?:error|not found|(?:temporarily |currently )?unavailable|down for maintenance|under maintenance|forbidden|access denied|bad gateway|timed? ?out|went wrong)\b/i;
const LONGEST_FAILURE = 300;
/** A page with fewer characters changes as a whole now and then. */
const LEAST_TEXT = 200;

/** Reports a page that lost nearly all of its text. The second such read is believed, unless its text is that of a failure. */
function lostTextFault([row]: Row[], known: KnownState): Fault | null {
  const before = known.rows.find(({ key }) => key === row?.key);
  if (row?.kind !== 'page' || before?.kind !== 'page') return null;
  const [text, old] = [row, before].map((one) => `${one.title ?? ''}\n${one.text}`.trim()) as [string, string];
  const isFailure = text.length <= LONGEST_FAILURE && FAILURE.test(text) && !FAILURE.test(old);
  const isLost = old.length >= LEAST_TEXT && text.length * 5 < old.length;
  if (!isFailure && (!isLost || known.fault === 'lost_text')) return null;
  return { code: 'lost_text', detail: `The page lost nearly all of its text: ${isFailure ? 'it seems to show a failure of its server' : 'it may be broken or moved'}. Open it, and change the address of the source if the page is elsewhere now.` };
}

function hostOf(url: string): string {
  return new URL(url).host;
}
