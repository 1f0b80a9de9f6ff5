import { keysetAfter, type Position, type Reader } from 'civic';
import type { Filter } from '../query/filter.ts';
import { actorTerm } from '../log/store.ts';
import type { Sort } from '../types.ts';

/** How many signals a query finds, the newest version among them, and when the latest was detected. */
export interface Tally {
  total: number;
  last_seq: number;
  latest: number | null;
}

export interface PageRow {
  seq: number;
  born: number;
  /** When this version was published. */
  at: string;
  signal: string;
  value: number;
}

export interface PageOptions {
  sort: Sort;
  limit: number;
  /** Of the last row of the page before: its sort value and `born`. */
  after: Position | null;
  /** Signals born after this line are left out, so that pages fit together. */
  asOf: number;
}

const COLUMNS: Record<Sort, 'detected' | 'occurred' | 'relevance'> = { detected_at_desc: 'detected', occurred_at_desc: 'occurred', relevance_desc: 'relevance' };

export async function tallyOf(reader: Reader, filter: Filter): Promise<Tally> {
  const row = await found(reader, filter, null).count({ total: '*' }).max({ last_seq: 'signals.seq', latest: 'signals.detected' }).first();
  return { total: Number(row?.total ?? 0), last_seq: row?.last_seq ?? 0, latest: row?.latest ?? null };
}

/** One page, in order; one row more than asked for tells that there is another page. */
export async function pageRows(reader: Reader, filter: Filter, { sort, limit, after, asOf }: PageOptions): Promise<PageRow[]> {
  const column = COLUMNS[sort];
  const term = column === 'detected' ? onlyTerm(filter) : null;
  const from = term ? 'terms' : 'signals';
  const query = found(reader, filter, term).join('firehose_log as log', 'log.seq', 'signals.seq')
    .where(`${from}.born`, '<=', asOf)
    .select('signals.seq', 'signals.born', 'log.at', 'log.signal', { value: `signals.${column}` })
    .limit(limit + 1);
  keysetAfter(query, [{ column: `${from}.${column}`, direction: 'desc' }, { column: `${from}.born`, direction: 'desc' }], after as number[] | null);
  return query;
}

/** Returns the latest public signals about actors of this instance, given all ids that each has had. */
export async function publicSignalsAbout(reader: Reader, actorIds: string[], limit: number): Promise<string[]> {
  const found: { seq: number }[] = await reader('firehose_terms as terms').join('firehose_signals as signals', 'signals.born', 'terms.born')
    .whereIn('terms.term', actorIds.map(actorTerm)).where('signals.audience', 'public')
    .orderBy([{ column: 'terms.detected', order: 'desc' }, { column: 'terms.born', order: 'desc' }]).limit(limit).distinct('signals.seq', 'terms.detected', 'terms.born');
  const rows: { seq: number; signal: string }[] = await reader('firehose_log').whereIn('seq', found.map(({ seq }) => seq)).select('seq', 'signal');
  const bySeq = new Map(rows.map(({ seq, signal }) => [seq, signal]));
  return found.flatMap(({ seq }) => bySeq.get(seq) ?? []);
}

/** Returns the current versions of signals that are visible to one of the audiences. */
export async function visibleSignals(reader: Reader, ids: string[], audiences: string[]): Promise<{ signal_id: string; seq: number | string; signal: string }[]> {
  return reader('firehose_signals as signals').join('firehose_log as log', 'log.seq', 'signals.seq')
    .whereIn('signals.signal_id', ids).whereIn('signals.audience', audiences).select('signals.signal_id', 'signals.seq', 'log.signal');
}

/** Returns the current versions of public signals by id, the latest first. */
export async function publicRowsById(reader: Reader, ids: string[]): Promise<Omit<PageRow, 'value'>[]> {
  return reader('firehose_signals as signals').join('firehose_log as log', 'log.seq', 'signals.seq')
    .whereIn('signals.signal_id', ids).where('signals.audience', 'public').orderBy([{ column: 'signals.detected', order: 'desc' }, { column: 'signals.born', order: 'desc' }])
    .select('signals.seq', 'signals.born', 'log.at', 'log.signal');
}

/** A query about one place, or one issue, reads that one's part of the index in its order. */
function onlyTerm({ places, issues }: Filter): string | null {
  if (places.size === 1) return `place ${[...places][0]}`;
  return places.size === 0 && issues.size === 1 ? `issue ${[...issues][0]}` : null;
}

function found(reader: Reader, filter: Filter, term: string | null) {
  const query = term
    ? reader('firehose_terms as terms').join('firehose_signals as signals', 'signals.born', 'terms.born').where('terms.term', term)
    : reader('firehose_signals as signals');
  query.whereIn('signals.audience', [...filter.audiences]);
  if (filter.types.size > 0) query.whereIn('signals.type', [...filter.types]);
  if (filter.classes.size > 0) query.whereIn('signals.source_class', [...filter.classes]);
  if (filter.except) {
    const { types, classes } = filter.except;
    query.where((either) => either.whereNotIn('signals.type', [...types]).orWhereNotIn('signals.source_class', [...classes]));
  }
  if (filter.since > -Infinity) query.where(`signals.${filter.time}`, '>=', filter.since);
  if (filter.until < Infinity) query.where(`signals.${filter.time}`, '<', filter.until);
  for (const terms of [wanted('place', filter.places), wanted('issue', filter.issues), wanted('actor', filter.actorTypes)]) {
    if (terms.length > 0 && terms[0] !== term) query.whereIn('signals.born', reader('firehose_terms').select('born').whereIn('term', terms));
  }
  return query;
}

function wanted(dimension: string, words: ReadonlySet<string>): string[] {
  return [...words].map((word) => `${dimension} ${word}`);
}
