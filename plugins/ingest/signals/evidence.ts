import { cutText, isWebUrl, Joi } from 'civic';
import type { SignalChange, SignalDraft } from 'civic/firehose';
import type { PageRow, Passage, Row } from '../adapters/types.ts';
import type { ReadDocument } from '../reads/actors.ts';
import { publicUrl } from '../reads/clean.ts';
import { cutLine } from '../reads/lines.ts';
import { objectsAround } from '../text/json.ts';
import type { Former, SignalContext } from './drafts.ts';
import type { RecordedVote } from './votes.ts';

export type Evidence = SignalDraft['evidence'];
type One = Evidence[number];

/** An event of Legistar has about 1,500 characters, and each name of a vote 400. */
const LONGEST_PASSAGE = 4000;
const LONGEST_VOTES = 24_000;
const LONGEST_TITLE = 300;
const MOST_QUOTES = 5;
const address = Joi.string().uri({ scheme: ['http', 'https'] }).max(2000);

/** Returns the evidence of a row: its passage in the document of this read. */
export function rowEvidence(row: Row, context: SignalContext): Evidence {
  return [quote(row, context, row.kind === 'page' ? null : passageOf(row, context.text))];
}

/** Returns the evidence of a meeting that vanished: its passage in the last content that had it, and the content that no longer has it. */
export function vanishedEvidence(row: Row, former: Former | null, context: SignalContext): Evidence {
  const now = quote(row, context, null);
  if (!former?.content_hash || !former.passage || row.kind === 'page' || !row.passage) return [now];
  const { start } = row.passage;
  return [{ ...now, captured_at: former.content_at, passage: former.passage, locator: { start, end: start + former.passage.length }, content_hash: former.content_hash }, now];
}

/** Returns the evidence of a changed page: the lines that it has now; of lines that were only removed, those in the content that had them. */
export function pageEvidence(row: PageRow, changes: SignalChange[], former: Former | null, context: SignalContext): Evidence {
  const values = (name: 'before' | 'after') => new Set(changes.filter(({ field }) => field === 'text').map((change) => change[name]).filter((value) => typeof value === 'string'));
  const added = rangesOf(context.text, row.passage ?? { start: 0, end: context.text.length }, values('after'));
  if (added.length > 0) return added.map((range) => quote(row, context, shown(context.text, range)));
  const now = quote(row, context, null);
  const old = former?.row.kind === 'page' ? former.row : null;
  if (!old?.passage || !former?.content_hash) return [now];
  const { start: offset } = old.passage;
  const removed = rangesOf(old.text, { start: 0, end: old.text.length }, values('before')).map((range) => ({ ...shown(old.text, range), start: range.start + offset }));
  return [...removed.map((passage): One => ({ ...now, captured_at: former.content_at, passage: passage.text, locator: { start: passage.start, end: passage.start + passage.text.length }, content_hash: former.content_hash })), now];
}

/** Returns evidence that has the title of each agenda item that is new or changed, from the document that lists it; null when none has. Items of one title differ by their keys. */
export function itemEvidence(row: Row, before: Row, changes: SignalChange[], context: SignalContext): Evidence | null {
  const itemsOf = (one: Row) => (one.kind === 'meeting' ? one.items ?? [] : []);
  const known = new Map(itemsOf(before).map((item) => [item.key, JSON.stringify(item)]));
  const items = itemsOf(row).filter((item) => known.get(item.key) !== JSON.stringify(item));
  const titles = new Set(changes.filter(({ field }) => field === 'items').map(({ after }) => (after as { title?: unknown } | null)?.title));
  const found = items.filter(({ title }) => titles.has(title)).slice(0, MOST_QUOTES).flatMap(({ key, title }) => textQuote(key, [{ text: title }], row, context) ?? []);
  return found.length > 0 ? found : null;
}

/** Returns evidence of a vote: the names of those who voted with how they did, and the title of what they voted on; that of the row when no document has them. */
export function voteEvidence(row: Row, { key, title, votes }: Pick<RecordedVote, 'key' | 'title' | 'votes'>, context: SignalContext): Evidence {
  const people = votes.map(({ person, value }) => ({ text: person, followedBy: value }));
  const found = [textQuote(key, people, row, context, LONGEST_VOTES), textQuote(key, [{ text: title }], row, context)].filter((one) => one !== null);
  return found.length > 0 ? found : rowEvidence(row, context);
}

/** Returns the passage of a row in a text; null for one that has no range there. */
export function passageOf(row: Exclude<Row, PageRow>, text: string): { text: string; start: number; end: number } | null {
  const passage = row.passage && shown(text, row.passage);
  return passage && passage.text.trim() !== '' ? passage : null;
}

/** A text of a record, and one that follows it soon where it has one. */
interface Wanted {
  text: string;
  followedBy?: string;
}

const SOON = 400;

/** Returns a quote from the first text to the last, with the whole objects of JSON, from the document that has them in the record of the key. */
function textQuote(key: string, texts: Wanted[], row: Row, context: SignalContext, longest = LONGEST_PASSAGE): One | null {
  const page = { url: context.source.url, content_hash: context.content_hash, text: context.text };
  for (const document of [...context.opened, page]) {
    const range = texts.length > 0 ? recordRange(document, key, texts) : null;
    if (!range) continue;
    const one = quote(row, context, shown(document.text, wholeObjects(document.text, range), longest));
    return document === page ? one : { ...one, source_url: webAddress(publicUrl(document.url)) ?? one.source_url, content_hash: document.content_hash };
  }
  return null;
}

/** Returns the range of texts in the record of a key: all of a document whose address names the record, such as `eventitems/9001/votes`, or the object that has the key as its id. */
function recordRange({ url, text }: ReadDocument, key: string, texts: Wanted[]): Passage | null {
  const record = isAddressOf(url, key) ? { start: 0, end: text.length } : recordOf(text, key);
  const found = record ? texts.map((wanted) => rangeOf(text, wanted, record)) : [null];
  if (found.some((range) => range === null)) return null;
  return { start: Math.min(...found.map((range) => range!.start)), end: Math.max(...found.map((range) => range!.end)) };
}

/** Names before an id of JSON. Others, such as `VotePersonId` and `EventItemMatterId`, can have the same number. */
const ID_NAME = /"(?:\w*item_?(?:id|guid)|id|guid|key|number)"\s*:\s*"?$/i;

function recordOf(text: string, key: string): Passage | null {
  if (!isJson(text)) {
    const at = tokenAt(text, key, () => true);
    return at < 0 ? null : { start: at, end: text.length };
  }
  const at = tokenAt(text, key, (index) => ID_NAME.test(text.slice(Math.max(0, index - 100), index)));
  return at < 0 ? null : objectsAround(text, [at]).get(at) ?? null;
}

function isAddressOf(url: string, key: string): boolean {
  return new URL(url).pathname.toLowerCase().includes(`items/${encodeURIComponent(key).toLowerCase()}/`);
}

function isJson(text: string): boolean {
  return /^\s{0,100}[[{]/.test(text);
}

/** Extends a range of JSON to the objects that it begins and ends in. */
function wholeObjects(text: string, { start, end }: Passage): Passage {
  if (!isJson(text)) return { start, end };
  const around = objectsAround(text, [start, end - 1]);
  return { start: around.get(start)?.start ?? start, end: around.get(end - 1)?.end ?? end };
}

function rangeOf(text: string, { text: wanted, followedBy = '' }: Wanted, record: Passage): Passage | null {
  // JSON has some characters escaped.
  const escaped = (value: string) => JSON.stringify(value).slice(1, -1);
  const start = text.indexOf(escaped(wanted), record.start);
  const end = start + escaped(wanted).length;
  if (start < 0 || end > record.end) return null;
  const next = text.slice(end, Math.min(end + SOON, record.end)).indexOf(escaped(followedBy));
  return next < 0 ? null : { start, end: end + next + escaped(followedBy).length };
}

/** Returns where a text has a key that is not a part of a longer one, and that is what is wanted; -1 for nowhere. */
function tokenAt(text: string, key: string, isWanted: (at: number) => boolean): number {
  for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + 1)) {
    if (!/[\w-]/.test(text[at - 1] ?? '') && !/[\w-]/.test(text[at + key.length] ?? '') && isWanted(at)) return at;
  }
  return -1;
}

/** Returns the ranges of whole lines of a text inside a range; lines that follow each other are one. */
function rangesOf(text: string, within: Passage, lines: Set<unknown>): Passage[] {
  const ranges: Passage[] = [];
  for (let start = within.start; start < within.end && ranges.length <= MOST_QUOTES;) {
    const next = text.indexOf('\n', start);
    const end = next < 0 || next > within.end ? within.end : next;
    if (lines.has(cutLine(text.slice(start, end).trim()))) {
      const last = ranges.at(-1);
      if (last && last.end + 1 === start) last.end = end;
      else ranges.push({ start, end });
    }
    start = end + 1;
  }
  return ranges.slice(0, MOST_QUOTES);
}

function shown(text: string, { start, end }: Passage, longest = LONGEST_PASSAGE): { text: string; start: number; end: number } {
  const last = Math.min(end, start + longest);
  return { text: text.slice(start, last), start, end: last };
}

function quote(row: Row, { source, now, content_hash }: SignalContext, passage: { text: string; start: number; end: number } | null): One {
  return {
    source_url: webAddress('url' in row ? row.url : null) ?? publicUrl(source.url), title: cutText(source.name, LONGEST_TITLE), captured_at: new Date(now).toISOString(),
    passage: passage && passage.text, locator: passage && { start: passage.start, end: passage.end }, content_hash,
  };
}

/** Returns an address that evidence can have; null for others, such as those of mail. */
function webAddress(url: string | null): string | null {
  return url !== null && isWebUrl(url) && address.validate(url).error === undefined ? url : null;
}
