import type { Document } from 'civic/reader';
import { legistarApi } from '../adapters/legistar-api.ts';
import { compareRows, completed, hashOf, type Change, type KnownRow } from '../reads/compare.ts';
import type { GoneRow } from '../reads/gone.ts';
import { byNewItemKeys } from '../reads/items.ts';
import { publishedVote } from '../signals/votes.ts';
import { signalsOf, type Former, type RowSignal, type SignalContext } from '../signals/drafts.ts';

/** One sync of a city's calendar: the events that changed since the last, and the ids of those that vanished. */
interface Sync {
  at: string;
  events: { EventId: number }[];
  removed: number[];
}

/** The records that one read sees. */
interface Step {
  now: number;
  records: object[];
}

export interface ReplayResult {
  reads: number;
  rows: number;
  /** Signals by type. */
  signals: Record<string, number>;
  changes: Record<'added' | 'changed' | 'gone', number>;
  /** Changes that a second read of the same state found: there must be none. */
  second_pass: number;
}

const LIST = 'https://webapi.legistar.com/v1/example/events';
const ZONE = 'America/New_York';

/** Replays a file through the adapter, the comparison and the drafts of signals, as reads would see it. A line is a sync of a calendar, or a matter; a matter with an id that came before is a new version of it. */
export async function replay(lines: Iterable<string>): Promise<ReplayResult> {
  const result: ReplayResult = { reads: 0, rows: 0, signals: {}, changes: { added: 0, changed: 0, gone: 0 }, second_pass: 0 };
  const known = new Map<string, KnownRow>();
  const gone = new Map<string, GoneRow>();
  const formers = new Map<string, Former>();
  let doubted = new Set<string>();
  let before = -Infinity;
  for (const { now, records } of stepsOf(lines)) {
    const document = documentOf(LIST, records.map((record) => ('EventItems' in record ? { ...record, EventItems: [] } : record)));
    const open = async (url: string) => agendaOf(url, records);
    const read = async () => (await legistarApi.rows(document, { now, time_zone: ZONE, open, leaveOut: () => undefined })).map((row) => completed(row, known.get(row.key)?.row));
    const compare = async () => compareRows(known, await read(), { now, isComplete: true, hasNoEnd: true, wasDoubted: ({ key }) => doubted.has(key), gone });
    const { changes, doubted: doubtedNow } = await compare();
    const context = contextOf(document, now, before);
    before = now;
    for (const change of changes) countChange(result, change, formers, context);
    for (const change of changes) {
      known.delete(change.type === 'changed' ? change.before.key : change.row.key);
      if (change.type === 'gone') gone.set(change.row.key, { row: change.row, wasCancelled: true });
      else known.set(change.row.key, { hash: hashOf(change.row), row: change.row });
    }
    doubted = new Set(doubtedNow.map(({ key }) => key));
    result.second_pass += (await compare()).changes.length;
    result.reads++;
  }
  result.rows = known.size;
  return result;
}

function countChange(result: ReplayResult, change: Change, formers: Map<string, Former>, context: SignalContext): void {
  const stored = formers.get(change.type === 'changed' ? change.before.key : change.row.key) ?? null;
  const former = stored && { ...stored, votes: byNewItemKeys(stored.votes, stored.row, change.row) };
  result.changes[change.type === 'returned' ? 'added' : change.type]++;
  const signals = signalsOf(change, former, context);
  for (const { draft } of signals) {
    const name = draft.id === undefined ? draft.type : `${draft.type} (new version)`;
    result.signals[name] = (result.signals[name] ?? 0) + 1;
  }
  const has = (is: RowSignal['is']) => signals.some((signal) => signal.is === is);
  const cancelled_id = has('correction') ? null : has('cancellation') ? ANY_ID : former?.cancelled_id ?? null;
  const votes = { ...former?.votes, ...Object.fromEntries(signals.flatMap(({ vote }) => (vote ? [[vote.key, publishedVote(vote, ANY_ID)]] : []))) };
  formers.set(change.row.key, { row: change.row, votes, signal_id: has('row') ? ANY_ID : former?.signal_id ?? null, cancelled_id, content_hash: null, content_at: null, passage: null });
}

function* stepsOf(lines: Iterable<string>): Iterable<Step> {
  const events = new Map<number, object>();
  let matters = new Map<number, object>();
  for (const line of lines) {
    const value = JSON.parse(line) as Sync | { MatterId: number };
    if ('MatterId' in value) {
      // What is there in a first read is not new, so an empty one comes before the matters.
      if (matters.size === 0) yield { now: 0, records: [] };
      if (matters.has(value.MatterId)) yield { now: Date.now(), records: [...matters.values()] };
      matters = new Map(matters).set(value.MatterId, value);
      continue;
    }
    for (const event of value.events) events.set(event.EventId, event);
    for (const id of value.removed) events.delete(id);
    yield { now: Date.parse(value.at), records: [...events.values()] };
  }
  if (matters.size > 0) yield { now: Date.now(), records: [...matters.values()] };
}

const ANY_ID = '00000000-0000-7000-8000-000000000000';

function contextOf({ body }: Document, now: number, last_read: number): SignalContext {
  return {
    source: { url: LIST, name: 'Replay', source_class: 'government_record', place_keys: [], issues: [], tags: [], workspace_id: null },
    isFirst: last_read === -Infinity, last_read, known_since: -Infinity, now, time_zone: ZONE, notice: { hours: 24, source: null }, content_hash: '', text: body!, opened: [],
  };
}

/** Returns the agenda of an event, which the API has at an address of its own; null for any other address. */
function agendaOf(url: string, records: object[]): Document | null {
  const id = Number(/\/events\/(\d+)\/eventitems\b/.exec(url)?.[1]);
  const event = (records as { EventId?: number; EventItems?: object[] | null }[]).find(({ EventId }) => EventId === id);
  return event?.EventItems ? documentOf(url, event.EventItems) : null;
}

function documentOf(url: string, records: object[]): Document {
  return {
    url, kind: 'json', body: JSON.stringify(records), text: '', title: null, language: null, site_name: null, description: null, canonical_url: null,
    main: null, blocks: [], tables: [], links: [], feeds: [], items: [], feed: null, calendar: null, pages: [], is_script_page: false, login_wall: false, truncated: false,
  };
}
