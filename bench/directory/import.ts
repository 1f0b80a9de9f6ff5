import { bulkInsert } from 'civic';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase, type OpenDatabase } from '../../core/database/connect.ts';
import { createLogger } from '../../core/log.ts';
import { median } from '../harness.ts';
import { openDirectory } from './kit.ts';
import { benchDatabases, type BenchDatabase, type BenchOptions } from './databases.ts';

const LIMIT = 0.5;
const LIMIT_JOINING = 0.25;
const LIMIT_MEGABYTES = 400;
interface Cost {
  seconds: number;
  /** Of the process that writes: on SQLite that is all of it, on Postgres only the client's part. */
  cpu: number;
}

interface Done extends Cost { megabytes: number; batch: number }

interface Round {
  done: Done;
  plain: Cost;
  rows: number;
}

/** Tables by the column that tells which of their rows are new. */
const GROWING: Record<string, string> = {
  directory_records: 'key', directory_sources: 'key', directory_claims: 'key', directory_changes: 'key', directory_origins: 'record_key',
  directory_actors: 'key', directory_listings: 'actor_key', directory_place_sources: 'source_key', directory_blocks: 'actor_key',
};
/** Copied once, at the end. */
const WHOLE = ['directory_counts', 'directory_terms', 'directory_term_deletions'];

/** Imports generated actors through the ledger, and after each round inserts the very rows it made into a second database. */
export async function benchImport(options: BenchOptions): Promise<boolean> {
  let isInside = true;
  for (const database of await benchDatabases(options)) {
    const round = Math.max(500, Math.min(5000, options.actors / 10));
    process.stdout.write(`\nImport of ${options.actors.toLocaleString('en-US')} actors on ${database.dialect}, side by side with plain inserts of the same rows\n`);
    isInside = await measure(database, () => options.actors, round, false) && isInside;
  }
  return isInside;
}

/** The same with every new actor compared with those that are there: a tenth as many again. */
export async function benchJoining(options: BenchOptions): Promise<boolean> {
  let isInside = true;
  for (const database of await benchDatabases(options)) {
    const count = Math.max(1000, Math.min(50_000, options.actors / 10));
    isInside = await measure(database, (next) => next + count, Math.ceil(count / 5), true) && isInside;
  }
  return isInside;
}

async function measure(database: BenchDatabase, goalOf: (next: number) => number, round: number, joins: boolean): Promise<boolean> {
  // The places are loaded by whoever starts first, not by an import.
  await (await openDirectory(database)).composition.stop();
  const plain = await openPlain(database, joins);
  const child = fork(join(import.meta.dirname, '../servers/importer.js'), [database.folder, database.url ?? '', joins ? 'joins' : ''], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [{ next }] = (await once(child, 'message')) as [{ next: number }];
  const actors = goalOf(next);
  if (joins) process.stdout.write(`\nImport of ${(actors - next).toLocaleString('en-US')} more on ${database.dialect}, each compared with the ${next.toLocaleString('en-US')} that are there\n`);
  if (next >= actors) {
    process.stdout.write(`  it holds ${next.toLocaleString('en-US')} already\n`);
    await ended(child);
    await plain.drop();
    return true;
  }
  const from = await openRead(database);
  const rounds: Round[] = [];
  let copied = await highest(from);
  try {
    for (let at = next; at < actors; at += round) {
      child.send({ count: Math.min(round, actors - at) });
      const [done] = (await once(child, 'message')) as [Done];
      const until = await highest(from);
      const { cost, rows } = await copyNew(from, plain.db, copied, until, done.batch);
      copied = until;
      rounds.push({ done, plain: cost, rows });
      if (rounds.length % 10 === 0) process.stdout.write(`  ${at + round}: ${line(rounds.slice(-10))}\n`);
    }
    // What is copied whole at the end is mostly not of these actors when there were others before.
    const rest = joins ? { cost: { seconds: 0, cpu: 0 }, rows: 0 } : await copyWhole(from, plain.db);
    return report(rounds, rest, database.dialect === 'sqlite', joins ? LIMIT_JOINING : LIMIT);
  } finally {
    await ended(child);
    await from.close();
    await plain.drop();
  }
}

async function ended(child: ChildProcess): Promise<void> {
  child.disconnect();
  await once(child, 'exit');
}

async function openRead({ folder, url }: BenchDatabase): Promise<OpenDatabase> {
  return openDatabase({ url, dataDir: folder, pool: 4, log: await createLogger({ level: 'error', access: 'warn', format: 'json' }) });
}

/** The same tables, empty, or with all that is in them: rows go more slowly into large indexes. */
async function openPlain(database: BenchDatabase, isFull: boolean): Promise<{ db: OpenDatabase; drop(): Promise<void> }> {
  const folder = mkdtempSync(`${database.folder}-plain-`);
  const { url, drop } = await database.another(isFull);
  if (isFull && database.dialect === 'sqlite') copyFileSync(join(database.folder, 'civic.db'), join(folder, 'civic.db'));
  const { composition } = await openDirectory({ folder, url });
  return {
    db: composition.db,
    async drop() {
      await composition.stop();
      await drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The last key of each growing table that has keys of its own. */
type Marks = Record<string, number>;

async function highest(db: OpenDatabase): Promise<Marks> {
  const marks: Marks = {};
  for (const table of ['directory_records', 'directory_sources', 'directory_claims', 'directory_changes']) marks[table] = Number((await db.read(table).max({ last: 'key' }).first())!.last ?? 0);
  return marks;
}

function markOf(table: string, marks: Marks): number {
  if (table in marks) return marks[table]!;
  return marks[table === 'directory_place_sources' ? 'directory_sources' : 'directory_records']!;
}

/** In transactions of as many actors as the import has. */
async function copyNew(from: OpenDatabase, to: OpenDatabase, after: Marks, until: Marks, batchSize: number): Promise<{ cost: Cost; rows: number }> {
  const batches = Math.ceil((until['directory_records']! - after['directory_records']!) / batchSize);
  const cost = { seconds: 0, cpu: 0 };
  let rows = 0;
  for (let batch = 0; batch < batches; batch++) {
    const sets: { table: string; rows: Record<string, unknown>[] }[] = [];
    for (const [table, column] of Object.entries(GROWING)) {
      const [low, high] = [markOf(table, after), markOf(table, until)];
      const at = (part: number) => low + Math.floor(((high - low) * part) / batches);
      sets.push({ table, rows: await from.read(table).where(column, '>', at(batch)).where(column, '<=', at(batch + 1)) });
    }
    const ranks = sets.find(({ table }) => table === 'directory_actors')!.rows.map(({ rank }) => Number(rank));
    const documents = await searchRows(from, ranks);
    await timed(cost, () => to.write(async (tx) => {
      for (const set of sets) await bulkInsert(tx, set.table, set.rows);
      await insertSearch(tx, documents);
    }, { long: true }));
    rows += documents.length + sets.reduce((sum, set) => sum + set.rows.length, 0);
  }
  return { cost, rows };
}

async function timed(cost: Cost, work: () => Promise<unknown>): Promise<void> {
  const before = process.cpuUsage();
  const started = performance.now();
  await work();
  const { user, system } = process.cpuUsage(before);
  cost.seconds += (performance.now() - started) / 1000;
  cost.cpu += (user + system) / 1e6;
}

interface SearchRow { rank: number; tokens: string }

async function searchRows({ read, dialect }: OpenDatabase, ranks: number[]): Promise<SearchRow[]> {
  const json = JSON.stringify(ranks.sort((a, b) => a - b));
  return dialect === 'sqlite'
    ? read.raw('select rowid as rank, tokens from directory_search where rowid in (select value from json_each(?))', [json])
    : read.raw("select key as rank, array_to_string(tsvector_to_array(tokens), ' ') as tokens from directory_search where key in (select value::bigint from json_array_elements_text(?::json))", [json]);
}

async function insertSearch(tx: Parameters<typeof bulkInsert>[0], rows: SearchRow[]): Promise<void> {
  const json = JSON.stringify(rows);
  if (tx.client.dialect === 'sqlite3') await tx.raw("insert into directory_search (rowid, tokens) select value ->> 'rank', value ->> 'tokens' from json_each(?)", [json]);
  else await tx.raw("insert into directory_search (key, tokens) select rank, array_to_tsvector(string_to_array(tokens, ' ')) from json_to_recordset(?::json) as row (rank bigint, tokens text)", [json]);
}

async function copyWhole(from: OpenDatabase, to: OpenDatabase): Promise<{ cost: Cost; rows: number }> {
  const cost = { seconds: 0, cpu: 0 };
  let count = 0;
  for (const table of WHOLE) {
    const rows = await from.read(table);
    count += rows.length;
    for (let start = 0; start < rows.length; start += 10_000) {
      await timed(cost, () => to.write((tx) => bulkInsert(tx, table, rows.slice(start, start + 10_000)), { long: true }));
    }
  }
  return { cost, rows: count };
}

function sum(rounds: Round[], part: (round: Round) => number): number {
  return rounds.reduce((total, round) => total + part(round), 0);
}

function line(rounds: Round[]): string {
  const ours = sum(rounds, ({ done }) => done.seconds);
  const plain = sum(rounds, (round) => round.plain.seconds);
  const cpu = sum(rounds, (round) => round.plain.cpu) / sum(rounds, ({ done }) => done.cpu);
  const { megabytes, batch } = rounds.at(-1)!.done;
  return `${ours.toFixed(1)} s, plain ${plain.toFixed(1)} s, ${percent(plain / ours)} % (CPU ${(sum(rounds, ({ done }) => done.cpu)).toFixed(1)} s, ${percent(cpu)} %), ${Math.round(megabytes)} MB, ${batch} actors a transaction`;
}

const percent = (ratio: number) => Math.round(ratio * 100);

function report(rounds: Round[], rest: { cost: Cost; rows: number }, isByCpu: boolean, limit: number): boolean {
  const total = sum(rounds, ({ rows }) => rows) + rest.rows;
  const ours = sum(rounds, ({ done }) => done.seconds);
  const plain = sum(rounds, (round) => round.plain.seconds) + rest.cost.seconds;
  // Round by round, so that a busy moment of the machine does not decide; what was copied at the end is shared among them.
  const ratioOf = (part: keyof Cost) => median(rounds.map((round) => (round.plain[part] + rest.cost[part] / rounds.length) / round.done[part]));
  const ratio = ratioOf(isByCpu ? 'cpu' : 'seconds');
  const { megabytes } = rounds.at(-1)!.done;
  const isInside = ratio >= limit && megabytes <= LIMIT_MEGABYTES;
  const perSecond = (seconds: number) => Math.round(total / seconds).toLocaleString('en-US');
  process.stdout.write(`  ${total.toLocaleString('en-US')} rows: ${perSecond(ours)} a second, plain inserts ${perSecond(plain)}: ${percent(ratioOf('seconds'))} % by the clock, ${percent(ratioOf('cpu'))} % by CPU (limit ${limit * 100} by ${isByCpu ? 'CPU' : 'the clock'}); ${Math.round(megabytes)} MB (limit ${LIMIT_MEGABYTES})${isInside ? '' : '  MISSED'}\n`);
  return isInside;
}
