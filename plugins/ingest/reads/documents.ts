import type { BrowserRun, Document, Read } from 'civic/reader';
import { UnknownPlatform } from '../adapters/adapters.ts';
import type { Adapter, AdapterContext, Row } from '../adapters/types.ts';
import type { Ingest } from '../context.ts';
import type { ReadDocument } from './actors.ts';
import { cleanRow } from './clean.ts';
import { documentFault, readFault, type Fault } from './fault.ts';

const DAY_MS = 24 * 3600_000;
/** Of one source; the rest is left out, and then nothing that is missing counts as gone. */
export const MOST_ROWS = 5000;

/** What was read of a source: its rows, or why there are none. */
export interface SourceRead {
  read: Read;
  document: Document | null;
  rows: Row[];
  fault: Fault | null;
  /** The further documents that were opened. */
  opened: ReadDocument[];
  /** Which rows were left out: those after a time whose keys begin with a text. */
  leftOut: LeftOut[];
}

export interface LeftOut {
  keys: string;
  after: string;
}

export interface Wanted {
  url: string;
  adapter: Adapter;
  time_zone: string;
  signal?: AbortSignal;
  /** The hash of a content whose rows are stored already: they are not read again. */
  known_hash?: string | null;
}

/** Reads a source and the rows in it. Throws only when it is aborted. */
export async function readRows(ingest: Ingest, { url, adapter, time_zone, signal, known_hash = null }: Wanted): Promise<SourceRead> {
  const { clock } = ingest.civic;
  const browser: BrowserRun = { renders: 0 };
  const read = await ingest.reader.read({ url: adapter.request?.(url, clock.now()) ?? url, purpose: 'ingest', browser, ...(signal && { signal }) });
  const none = { read, document: null, rows: [], fault: null, opened: [], leftOut: [] };
  if (read.content === null) return { ...none, fault: readFault(read) };
  if (read.content.hash === known_hash) return none;
  const parsed = await parsedDocument(ingest, read);
  if ('code' in parsed) return { ...none, fault: parsed };
  const fault = documentFault(parsed, read);
  if (fault) return { ...none, document: parsed, fault };
  const pages = openPages(ingest, browser, signal);
  const leftOut: LeftOut[] = [];
  const rows = await rowsIn(adapter, parsed, { now: clock.now(), time_zone, open: pages.open, leaveOut: (keys, after) => { leftOut.push({ keys, after }); } });
  return { ...none, document: parsed, opened: pages.documents, leftOut, ...rows };
}

async function parsedDocument({ reader, civic }: Ingest, { final_url, content }: Read): Promise<Document | Fault> {
  try {
    return await reader.document({ url: final_url, content_type: content!.content_type, body: content!.body, window: windowAround(civic.clock.now()) });
  } catch (error) {
    return { code: 'not_understood', detail: `The page could not be understood: ${(error as Error).message}` };
  }
}

/** Recurring meetings are read for the coming year. */
function windowAround(now: number): { start: string; end: string } {
  return { start: new Date(now - 60 * DAY_MS).toISOString(), end: new Date(now + 366 * DAY_MS).toISOString() };
}

async function rowsIn(adapter: Adapter, document: Document, context: AdapterContext): Promise<{ rows: Row[]; fault: Fault | null }> {
  try {
    return { rows: withoutRepeats((await adapter.rows(document, context)).slice(0, MOST_ROWS).map(cleanRow)), fault: null };
  } catch (error) {
    if (error instanceof UnknownPlatform) return { rows: [], fault: { code: 'unknown_platform', detail: error.message } };
    return { rows: [], fault: { code: 'not_understood', detail: `The page is not what ${adapter.label} usually shows: ${(error as Error).message}` } };
  }
}

/** Keeps the first row of each key: sites list a meeting twice. */
function withoutRepeats(rows: Row[]): Row[] {
  return [...new Map(rows.toReversed().map((row) => [row.key, row])).values()].toReversed();
}

/** Opens further documents of a source, up to the limit of the operator. */
function openPages(ingest: Ingest, browser: BrowserRun, signal?: AbortSignal): { open: AdapterContext['open']; documents: ReadDocument[] } {
  const documents: ReadDocument[] = [];
  let opened = 0;
  return {
    async open(url) {
      if (opened >= ingest.civic.config.further_pages) return null;
      opened++;
      const read = await ingest.reader.read({ url, purpose: 'ingest', browser, ...(signal && { signal }) });
      if (read.content === null) return null;
      const parsed = await parsedDocument(ingest, read);
      if ('code' in parsed) return null;
      documents.push({ url: read.final_url, content_hash: read.content.hash, text: textOf(parsed) });
      return parsed;
    },
    documents,
  };
}

/** Returns the text that passages of rows are ranges of. */
export function textOf({ text, body }: Document): string {
  return text === '' ? body ?? '' : text;
}
