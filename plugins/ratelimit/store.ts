import { bulkInsert, latestEnd, type Reader, type Tx } from 'civic';
import type { Counters, Window } from './windows.ts';

/** Several requests of one subject that want the same windows. */
export interface Ask {
  subject: string;
  windows: readonly Window[];
  wanted: number;
}

export interface Granted {
  counters: Counters;
  /** How many of those wanted may go on. */
  granted: number;
}

export interface DayRow {
  account_id: string;
  day: string;
  requests: number;
}

interface CounterRow {
  subject: string;
  count_1: number; ends_1: number;
  count_2: number; ends_2: number;
  count_3: number; ends_3: number;
  granted: number;
}

const COLUMNS = ['count_1', 'ends_1', 'count_2', 'ends_2', 'count_3', 'ends_3', 'granted'] as const;
const SLOTS = [1, 2, 3];

/** Each fragment three times, once a window. */
const each = (fragment: (slot: number) => string): string => SLOTS.map(fragment).join(', ');

/** A window that ends later than `latest` was counted while a clock was ahead. */
const isOpen = (slot: number): string => `held.ends_${slot} > now and held.ends_${slot} <= latest_${slot}`;

// A window that is not asked for has no limit, and `least` passes over null. Rows are locked in the order of their
// subjects, so that nodes wait for each other and never in a circle.
const TAKE = `
  with asked as (
    select * from json_to_recordset(?::json) as asked (subject text, wanted int, now bigint, ${each((n) => `limit_${n} int, ms_${n} bigint, latest_${n} bigint`)})
  )
  insert into ratelimit_counters as held (subject, ${COLUMNS.join(', ')})
  select subject, ${each((n) => `case when limit_${n} is null then 0 else given end, case when limit_${n} is null then 0 else now + ms_${n} end`)}, given
  from asked, lateral (select least(wanted, ${each((n) => `limit_${n}`)}) as given) as fresh
  order by subject collate "C"
  on conflict (subject) do update set (${COLUMNS.join(', ')}) = (
    select ${each((n) => `
      case when limit_${n} is null or given = 0 then held.count_${n} when ${isOpen(n)} then held.count_${n} + given else given end,
      case when limit_${n} is null or given = 0 or (${isOpen(n)}) then held.ends_${n} else now + ms_${n} end`)},
      given
    from asked, lateral (
      select greatest(0, least(wanted, ${each((n) => `limit_${n} - case when ${isOpen(n)} then held.count_${n} else 0 end`)})) as given
    ) as room
    where asked.subject = excluded.subject
  )
  returning *`;

/**
 * Takes for many subjects, no two alike, in one statement and one round trip, on Postgres: each gets as many as all its
 * windows have room for. It is no `db.write`, which would add two round trips, since a single statement is a transaction.
 */
export async function takeShared(db: Reader, asks: Ask[], now: number): Promise<Granted[]> {
  const asked = asks.map(({ subject, wanted, windows }) => ({
    subject, wanted, now,
    ...Object.assign({}, ...windows.map(({ slot, limit, seconds }) => ({ [`limit_${slot + 1}`]: limit, [`ms_${slot + 1}`]: seconds * 1000, [`latest_${slot + 1}`]: latestEnd(now, seconds * 1000) }))),
  }));
  const rows: CounterRow[] = await db.raw(TAKE, [JSON.stringify(asked)]);
  return rows.map((row) => ({ counters: countersOf(row), granted: row.granted }));
}

function countersOf(row: CounterRow): Counters {
  return { subject: row.subject, counts: [row.count_1, row.count_2, row.count_3], ends: [row.ends_1, row.ends_2, row.ends_3] };
}

export async function countersOfSubject(db: Reader, subject: string): Promise<Counters | null> {
  const row = await db<CounterRow>('ratelimit_counters').where({ subject }).first();
  return row ? countersOf(row as CounterRow) : null;
}

/** Those with a window that is not over, for the counters of a process that starts. */
export async function runningCounters(db: Reader, now: number, most: number): Promise<Counters[]> {
  const rows: CounterRow[] = await db('ratelimit_counters').where('ends_1', '>', now).orWhere('ends_2', '>', now).orWhere('ends_3', '>', now).limit(most);
  return rows.map(countersOf);
}

export async function saveCounters(tx: Tx, counters: Counters[]): Promise<void> {
  const rows = counters.map(({ subject, counts, ends }): CounterRow => ({
    subject, count_1: counts[0], ends_1: ends[0], count_2: counts[1], ends_2: ends[1], count_3: counts[2], ends_3: ends[2], granted: 0,
  }));
  await bulkInsert(tx, 'ratelimit_counters', rows, { onConflict: { columns: ['subject'], merge: [...COLUMNS] } });
}

export async function addDays(tx: Tx, rows: DayRow[]): Promise<void> {
  await bulkInsert(tx, 'ratelimit_days', rows, { onConflict: { columns: ['account_id', 'day'], merge: [], add: ['requests'] } });
}

export async function daysOf(db: Reader, accountId: string, since: string): Promise<DayRow[]> {
  return await db('ratelimit_days').where({ account_id: accountId }).where('day', '>=', since).orderBy('day');
}

export async function prune(tx: Tx, now: number, oldestDay: string): Promise<void> {
  await tx('ratelimit_counters').where('ends_1', '<=', now).where('ends_2', '<=', now).where('ends_3', '<=', now).del();
  await tx('ratelimit_days').where('day', '<', oldestDay).del();
}
