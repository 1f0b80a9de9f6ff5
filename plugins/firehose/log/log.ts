import { createWaker, repeat, type Civic, type Rebuild, type Repeating, type Sequenced, type Tx } from 'civic';
import { randomBytes } from 'node:crypto';
import type { QueryFields } from './fields.ts';
import { clearStates, deleteEpoch, epochOf, deleteUpTo, lastEntryBefore, LOG_COLUMNS, project, putEpoch, type LogRow } from './store.ts';

/** A version of a signal: the fields that queries compare, and its JSON. */
export interface Version {
  fields: QueryFields;
  json: string;
}

/** An entry of the log in memory. */
export interface Entry {
  seq: number;
  /** Null when the signal was withdrawn. */
  now: Version | null;
  before: Version | null;
}

export interface Log {
  /** Appends entries in the transaction of the change. */
  append(tx: Tx, rows: Pick<LogRow, 'signal_id' | 'is_new' | 'facts' | 'signal'>[]): Promise<void>;
  /** The last entry that this node has read and passed to `onEntries`. */
  position(): number;
  /** The last entry that retention removed. */
  floor(): number;
  epoch(): string;
  /** Returns the entries after `seq` that this node has read, oldest first; without a promise when they are in memory. */
  read(seq: number, limit: number): Entry[] | Promise<Entry[]>;
  /** The last entry in the database, which this node may not have read yet. */
  head(): Promise<number>;
  /** The same as a transaction sees it. */
  headIn(tx: Tx): Promise<number>;
  onEntries(listener: (entries: Entry[]) => void): void;
  onPruned(listener: () => void): void;
  /** Reads entries up to `seq`, as far as they are stored. */
  catchUp(seq: number): Promise<void>;
  prune(): Promise<number>;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Rebuilds the current version of each signal from the log. After a restore, event ids from before are no longer valid. */
  rebuild(run: Rebuild): Promise<void>;
}

const READ_AT_ONCE = 500;
/** Limits of the newest entries that stay in memory. */
const MOST_ENTRIES = 8192;
const MOST_BYTES = 16_000_000;
const PRUNED_AT_ONCE = 500;
/** How much of the older entries stays in memory while clients replay them. */
const PAGE_ENTRIES = 128;
const MOST_PAGE_BYTES = 16_000_000;
const POLL_MS = 1000;

export function createLog(civic: Civic<{ retention_days: number }>): Log {
  const sequence = civic.sequence<LogRow>({ name: 'firehose', columns: LOG_COLUMNS, numbered: project, pruned: deleteUpTo });
  const listeners: ((entries: Entry[]) => void)[] = [];
  const pruneListeners: (() => void)[] = [];
  const reader = createWaker(readNew, (error) => civic.log.warn({ err: error }, 'Reading new signals failed'));
  const pages = new Map<number, Promise<Entry[]>>();
  const pageBytes = new Map<number, number>();
  let recent: Entry[] = [];
  let bytes = 0;
  let position = 0;
  let newest = 0;
  let floor = 0;
  let epoch = '';
  let isRunning = false;
  let forget: (() => unknown) | undefined;
  let polling: Repeating | undefined;

  async function readNew(): Promise<void> {
    while (isRunning && position < newest) {
      const rows = await sequence.after(civic.db.read, position, READ_AT_ONCE);
      if (rows.length === 0) return;
      take(rows);
    }
  }

  /** Takes entries that this process has numbered without reading them again; reads when they do not follow its position. */
  function onAdvance(seq: number, rows: Sequenced<LogRow>[] | undefined): void {
    newest = Math.max(newest, seq);
    if (rows?.[0]?.seq === position + 1) take(rows);
    else reader.wake();
  }

  function take(rows: Sequenced<LogRow>[]): void {
    // `onAdvance` may have taken some of them while they were read.
    const entries = rows.filter((row) => row.seq > position).map(entryOf);
    if (entries.length === 0) return;
    recent.push(...entries);
    for (const entry of entries) bytes += sizeOf(entry);
    position = entries.at(-1)!.seq;
    shorten();
    for (const listener of listeners) listener(entries);
  }

  /** Shortens by half, so that it does not run for every entry. */
  function shorten(): void {
    if (recent.length <= MOST_ENTRIES && bytes <= MOST_BYTES) return;
    let kept = bytes;
    let from = 0;
    while (recent.length - from > MOST_ENTRIES / 2 || kept > MOST_BYTES / 2) kept -= sizeOf(recent[from++]!);
    recent = recent.slice(from);
    bytes = kept;
  }

  function read(seq: number, limit: number): Entry[] | Promise<Entry[]> {
    const first = recent[0]?.seq ?? Infinity;
    if (seq + 1 >= first) return recent.slice(seq + 1 - first, seq + 1 - first + limit);
    return seq >= position ? [] : readOld(seq, limit);
  }

  /** Reads whole pages, which clients that replay at the same time share. */
  async function readOld(seq: number, limit: number): Promise<Entry[]> {
    const start = Math.floor(seq / PAGE_ENTRIES) * PAGE_ENTRIES;
    const entries = await (pages.get(start) ?? keepPage(start, loadPage(start)));
    return entries.filter((entry) => entry.seq > seq).slice(0, limit);
  }

  async function loadPage(start: number): Promise<Entry[]> {
    const rows = await sequence.after(civic.db.read, start, PAGE_ENTRIES);
    return rows.filter((row) => row.seq <= Math.min(position, start + PAGE_ENTRIES)).map(entryOf);
  }

  function keepPage(start: number, page: Promise<Entry[]>): Promise<Entry[]> {
    pages.set(start, page);
    page.then((entries) => {
      if (pages.get(start) !== page) return;
      // An incomplete page is read again: more entries will belong to it.
      if (entries.at(-1)?.seq !== start + PAGE_ENTRIES) return dropPage(start);
      pageBytes.set(start, entries.reduce((sum, entry) => sum + sizeOf(entry), 0));
      shortenPages();
    }, () => { if (pages.get(start) === page) dropPage(start); });
    return page;
  }

  function shortenPages(): void {
    let kept = [...pageBytes.values()].reduce((sum, size) => sum + size, 0);
    for (const [start, size] of pageBytes) {
      if (kept <= MOST_PAGE_BYTES) return;
      dropPage(start);
      kept -= size;
    }
  }

  function dropPage(start: number): void {
    pages.delete(start);
    pageBytes.delete(start);
  }

  /** Notices what another node has pruned, and reads again after the database was unavailable. */
  async function poll(): Promise<void> {
    if (civic.db.dialect === 'postgres') await head();
    if (position < newest) reader.wake();
  }

  async function head(): Promise<number> {
    const found = await sequence.head(civic.db.read);
    noticeFloor(found.floor_seq);
    return found.last_seq;
  }

  function noticeFloor(seq: number): void {
    if (seq <= floor) return;
    floor = seq;
    pages.clear();
    pageBytes.clear();
    for (const listener of pruneListeners) listener();
  }

  async function openEpoch(): Promise<string> {
    return (await epochOf(civic.db.read)) ?? civic.db.write(async (tx) => {
      const known = await epochOf(tx);
      const made = known ?? newEpoch();
      if (known === null) await putEpoch(tx, made);
      return made;
    });
  }

  async function prune(): Promise<number> {
    const moment = new Date(civic.clock.now() - civic.config.retention_days * 86_400_000).toISOString();
    let removed = 0;
    for (;;) {
      const { floor_seq } = await sequence.head(civic.db.read);
      const last = await lastEntryBefore(civic.db.read, floor_seq, moment, PRUNED_AT_ONCE);
      if (last === null) break;
      removed += await sequence.prune(last);
    }
    await head();
    return removed;
  }

  return {
    append: (tx, rows) => sequence.append(tx, rows.map((row) => ({ at: civic.clock.iso(), facts_before: null, signal_before: null, ...row }))),
    position: () => position,
    floor: () => floor,
    epoch: () => epoch,
    read,
    head,
    headIn: async (tx) => (await sequence.head(tx)).last_seq,
    onEntries: (listener) => { listeners.push(listener); },
    onPruned: (listener) => { pruneListeners.push(listener); },
    async catchUp(seq) {
      newest = Math.max(newest, seq);
      reader.wake();
      await reader.idle();
    },
    prune,
    async start() {
      epoch = await openEpoch();
      isRunning = true;
      await sequence.start();
      newest = await head();
      position = Math.max(floor, newest - READ_AT_ONCE);
      await readNew();
      forget = sequence.onAdvance(onAdvance);
      polling = repeat(POLL_MS, poll, (error) => civic.log.warn({ err: error }, 'Checking for new signals failed'));
      newest = Math.max(newest, await head());
      reader.wake();
      await reader.idle();
    },
    async stop() {
      isRunning = false;
      forget?.();
      await polling?.stop();
      await reader.idle();
      await sequence.stop();
    },
    async rebuild({ from, write, progress }) {
      await write(async (tx) => {
        // The start creates another one, so that copies of a new database do not share it.
        if (from === null) await deleteEpoch(tx);
        await clearStates(tx);
      });
      const { floor_seq, last_seq } = await sequence.head(civic.db.read);
      for (let seq = floor_seq, rows; (rows = await sequence.after(civic.db.read, seq, READ_AT_ONCE)).length > 0; seq = rows.at(-1)!.seq) {
        const page = rows;
        await write((tx) => project(tx, page));
        await progress(page.at(-1)!.seq - floor_seq, last_seq - floor_seq);
      }
    },
  };
}

function newEpoch(): string {
  return randomBytes(5).readUIntBE(0, 5).toString(36).padStart(8, '0');
}

function entryOf(row: Sequenced<LogRow>): Entry {
  return { seq: row.seq, now: versionOf(row.facts, row.signal), before: versionOf(row.facts_before, row.signal_before) };
}

function versionOf(facts: string | null, signal: string | null): Version | null {
  return facts === null || signal === null ? null : { fields: JSON.parse(facts) as QueryFields, json: signal };
}

function sizeOf({ now, before }: Entry): number {
  return 500 + (now?.json.length ?? 0) + (before?.json.length ?? 0);
}
