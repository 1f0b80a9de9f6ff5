import { bulkInsert, type Columns, type Reader, type Sequenced, type Tx } from 'civic';
import type { Signal } from '../types.ts';
import type { QueryFields } from './fields.ts';

export const LOG_COLUMNS = {
  at: 'time',
  signal_id: 'uuid',
  /** Whether the id is new: there is no earlier version. */
  is_new: 'bool',
  /** The `QueryFields` as JSON; null when the signal was withdrawn. Not the `facts` of the signal, which are part of `signal`. */
  facts: 'text?',
  signal: 'text?',
  /** The version before, for subscribers who received it and may not see this one. */
  facts_before: 'text?',
  signal_before: 'text?',
} as const satisfies Columns;

/** One entry of the log: a version of a signal. */
export interface LogRow {
  at: string;
  signal_id: string;
  is_new: boolean | 0 | 1;
  facts: string | null;
  signal: string | null;
  facts_before: string | null;
  signal_before: string | null;
}

interface StateRow {
  signal_id: string;
  born: number;
  seq: number;
  type: string;
  source_class: string;
  audience: string;
  detected: number;
  occurred: number;
  relevance: number;
}

/** Raise it when the same log gives other rows in these tables. */
export const SIGNALS_VERSION = 2;

const STATE = 'firehose_signals';
const TERMS = 'firehose_terms';
const LOG = 'firehose_log';
export const SIGNAL_TABLES = [STATE, TERMS];

/** Projects new entries: stores in each the version that it replaces, and updates the tables that snapshots read. */
export async function project(tx: Tx, rows: Sequenced<LogRow>[]): Promise<void> {
  const known = await currentVersions(tx, rows.filter((row) => !row.is_new).map((row) => row.signal_id));
  const last = new Map<string, Sequenced<LogRow>>();
  const born = new Map([...known].map(([id, row]) => [id, row.born]));
  const replaced = new Set<number>();
  for (const row of rows) {
    const before = last.get(row.signal_id) ?? known.get(row.signal_id);
    if (before?.facts) await rememberBefore(tx, row, before);
    if (known.has(row.signal_id)) replaced.add(known.get(row.signal_id)!.born);
    if (!born.has(row.signal_id)) born.set(row.signal_id, row.seq);
    last.set(row.signal_id, row);
  }
  if (replaced.size > 0) await removeStates(tx, [...replaced]);
  await putStates(tx, [...last.values()].filter((row) => row.facts !== null), born);
}

async function currentVersions(tx: Tx, ids: string[]): Promise<Map<string, Sequenced<LogRow> & { born: number }>> {
  if (ids.length === 0) return new Map();
  const rows = await tx(STATE).join(LOG, `${LOG}.seq`, `${STATE}.seq`).whereIn(`${STATE}.signal_id`, [...new Set(ids)])
    .select(`${STATE}.born`, `${LOG}.seq`, `${LOG}.signal_id`, `${LOG}.facts`, `${LOG}.signal`);
  return new Map(rows.map((row) => [row.signal_id, row]));
}

async function rememberBefore(tx: Tx, row: Sequenced<LogRow>, before: Sequenced<LogRow>): Promise<void> {
  row.facts_before = before.facts;
  row.signal_before = before.signal;
  await tx(LOG).where({ seq: row.seq }).update({ facts_before: before.facts, signal_before: before.signal });
}

async function removeStates(tx: Tx, born: number[]): Promise<void> {
  await tx(TERMS).whereIn('born', born).delete();
  await tx(STATE).whereIn('born', born).delete();
}

async function putStates(tx: Tx, rows: Sequenced<LogRow>[], born: Map<string, number>): Promise<void> {
  const states = rows.map((row) => ({ row, born: born.get(row.signal_id)!, fields: JSON.parse(row.facts!) as QueryFields }));
  await bulkInsert(tx, STATE, states.map(({ row, born: first, fields }): StateRow => ({
    signal_id: row.signal_id, born: first, seq: row.seq,
    type: fields.type, source_class: fields.source_class, audience: fields.audience,
    detected: fields.detected, occurred: fields.occurred, relevance: fields.relevance,
  })));
  await bulkInsert(tx, TERMS, states.flatMap(({ row, born: first, fields }) => [...termsOf(fields), ...actorTerms(row.signal!)].map((term) => ({ term, detected: fields.detected, born: first }))));
}

/** Returns the terms by which snapshots find a signal. */
export function termsOf({ places, issues, actor_types: types }: Pick<QueryFields, 'places' | 'issues' | 'actor_types'>): string[] {
  return [...new Set([...places.map((place) => `place ${place}`), ...issues.map((issue) => `issue ${issue}`), ...types.map((type) => `actor ${type}`)])];
}

/** Returns the term of each actor that a signal is about. A relayed signal names actors of another instance. */
function actorTerms(signal: string): string[] {
  const { actors, origin } = JSON.parse(signal) as Signal;
  return origin ? [] : [...new Set(actors.flatMap(({ id }) => (id === null ? [] : [actorTerm(id)])))];
}

export function actorTerm(id: string): string {
  return `entity ${id}`;
}

/** Deletes the signals whose current version is among the pruned entries. */
export async function deleteUpTo(tx: Tx, floor: number): Promise<void> {
  const rows: { born: number }[] = await tx(STATE).where('seq', '<=', floor).select('born');
  if (rows.length > 0) await removeStates(tx, rows.map(({ born }) => born));
}

/** Returns the last of the `atOnce` oldest entries that was written before a moment, or null. */
export async function lastEntryBefore(reader: Reader, floor: number, moment: string, atOnce: number): Promise<number | null> {
  const rows: { seq: number; at: string }[] = await reader(LOG).select('seq', 'at').where('seq', '>', floor).orderBy('seq').limit(atOnce);
  const young = rows.findIndex(({ at }) => at >= moment);
  const old = young === -1 ? rows : rows.slice(0, young);
  return old.at(-1)?.seq ?? null;
}

export async function epochOf(reader: Reader): Promise<string | null> {
  return (await reader('firehose_epoch').first('epoch'))?.epoch ?? null;
}

export async function deleteEpoch(tx: Tx): Promise<void> {
  await tx('firehose_epoch').delete();
}

export async function putEpoch(tx: Tx, epoch: string): Promise<void> {
  await tx('firehose_epoch').delete();
  await tx('firehose_epoch').insert({ id: 1, epoch });
}

export async function clearStates(tx: Tx): Promise<void> {
  await tx(TERMS).delete();
  await tx(STATE).delete();
}

export interface LogStatus {
  signals: number;
  last_seq: number;
  /** Entries in the outbox of Postgres, which have no number yet. */
  waiting: number;
  waiting_since: string | null;
}

export async function logStatus(reader: Reader): Promise<LogStatus> {
  const { last_seq } = await reader('firehose_head').first('last_seq');
  const signals = await reader(STATE).count({ count: '*' }).first();
  const waiting = await reader('firehose_outbox').count({ count: '*' }).min({ since: 'at' }).first();
  return { signals: Number(signals!.count), last_seq, waiting: Number(waiting!.count), waiting_since: waiting!.since ?? null };
}
