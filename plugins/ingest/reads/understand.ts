import { createHash } from 'node:crypto';
import { cutText, indexOfWords, passageAround, singleLine } from 'civic';
import type { ClaimDraft, SourceDraft } from 'civic/directory';
import type { Finding, UnderstandPage } from 'civic/discovery';
import type { Document } from 'civic/reader';
import { ADAPTERS } from '../adapters/adapters.ts';
import type { Adapter, MeetingRow, Row } from '../adapters/types.ts';
import type { Ingest } from '../context.ts';
import { actorsIn, type ActorContext } from './actors.ts';
import { cleanRow } from './clean.ts';
import { MOST_ROWS, textOf } from './documents.ts';

/** Platforms that state meetings and bodies in places of their own. The others read pages that anybody wrote, which discovery does itself. */
const PLATFORMS = new Set(['legistar_api', 'legistar_pages', 'civicplus', 'granicus', 'boarddocs', 'city_scrapers']);
const CERTAIN = 0.8;
const EVENT_SCORE = 0.9;
const MOST_EVENTS = 50;

/** Returns the bodies, people and coming meetings of a page of a known platform for discovery runs; none for other pages. */
export function understandPages(ingest: Ingest): UnderstandPage {
  return async ({ document, content_hash, retrieved_at, place }) => {
    const adapter = platformOf(document);
    if (!adapter) return [];
    const { civic } = ingest;
    const time_zone = await ingest.timeZone(civic.db.read, { place_key: place?.key ?? null });
    const rows = (await adapter.rows(document, { now: civic.clock.now(), time_zone, open: async () => null, leaveOut: () => undefined })).slice(0, MOST_ROWS).map(cleanRow);
    const name = singleLine(document.title ?? new URL(document.url).host, 500);
    const context: ActorContext = { source: { name, place, isGovernment: adapter.source_class.startsWith('government') }, documents: [{ url: document.url, content_hash, text: textOf(document) }], retrieved_at };
    return [...actorsIn(rows, context), ...comingMeetings(rows, civic.clock.iso()).flatMap((row) => eventOf(row, context) ?? [])];
  };
}

function platformOf(document: Document): Adapter | undefined {
  return ADAPTERS.find((adapter) => PLATFORMS.has(adapter.name) && adapter.recognises(document) >= CERTAIN);
}

/** Returns the next meeting of each title: a reviewer decides about an event once, not about each of its dates. */
function comingMeetings(rows: Row[], now: string): MeetingRow[] {
  const meetings = rows.flatMap((row) => (row.kind === 'meeting' && row.status !== 'cancelled' && row.passage && (row.start ?? '') >= now ? [row] : []));
  const next = new Map<string, MeetingRow>();
  for (const row of meetings.toSorted((one, other) => one.start!.localeCompare(other.start!))) if (!next.has(row.title)) next.set(row.title, row);
  return [...next.values()].slice(0, MOST_EVENTS);
}

/** A meeting whose title is not in its row of the page has no evidence, so it is left out. */
function eventOf({ title, start, location, passage }: MeetingRow, { source, documents: [document], retrieved_at }: ActorContext): Finding | null {
  const { url, content_hash, text } = document!;
  const row = text.slice(passage!.start, passage!.end);
  const rowPassage = passageAround(text, passage!.start, passage!.end);
  const quoted = (words: string) => {
    const at = indexOfWords(row, words);
    return at < 0 ? null : passageAround(text, passage!.start + at, passage!.start + at + words.length);
  };
  const name = quoted(title);
  if (!name || !rowPassage) return null;
  const cited: SourceDraft = { local_id: createHash('sha256').update(url).digest('hex').slice(0, 16), url, title: cutText(source.name, 500), ...(source.isGovernment && { kind: 'government_record' as const }), retrieved_at, content_hash };
  const claim = (property: ClaimDraft['property'], value: string, { excerpt, locator }: Pick<ClaimDraft, 'excerpt' | 'locator'>): ClaimDraft => ({ property, value, source_local_id: cited.local_id, excerpt: excerpt ?? null, locator: locator ?? null, confidence: EVENT_SCORE, method: 'structured' });
  const where = location === null ? null : quoted(location);
  return { type: 'event', score: EVENT_SCORE, sources: [cited], claims: [claim('name', title, name), claim('event_start', start!, rowPassage), ...(where ? [claim('event_location', location!, where)] : [])] };
}
