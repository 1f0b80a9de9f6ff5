import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { openDatabase, type OpenDatabase } from '../core/database/connect.ts';
import { bulkInsert } from '../core/database/dialect.ts';
import { createSchema } from '../core/database/schema.ts';
import { hasNodeSqlite } from '../core/database/sqlite/choose.ts';
import type { DriverName } from '../core/database/sqlite/driver.ts';
import { createBookkeeping } from '../core/database/tables.ts';
import { median } from './harness.ts';

interface Part {
  name: string;
  /** How many operations a round is. */
  count: number;
  run(db: OpenDatabase, count: number): Promise<void>;
}

interface Sample {
  cpu: number;
  wall: number;
}

const BATCH = 1000;
const note = (number: number) => ({ name: `note ${number}`, number, at: '2026-01-01T00:00:00.000Z' });
const insertNote = (db: OpenDatabase, number: number) => db.write((tx) => tx('bench_notes').insert(note(number)));

async function inParallel(count: number, workers: number, work: (number: number) => Promise<unknown>): Promise<void> {
  await Promise.all(Array.from({ length: workers }, async (_, worker) => {
    for (let number = worker; number < count; number += workers) await work(number);
  }));
}

const PARTS: Part[] = [
  { name: 'one writer', count: 400, run: (db, count) => inParallel(count, 1, (number) => insertNote(db, number)) },
  { name: '16 writers', count: 3200, run: (db, count) => inParallel(count, 16, (number) => insertNote(db, number)) },
  { name: 'a group of 100 writes', count: 4000, run: (db, count) => inParallel(count, 100, (number) => insertNote(db, number)) },
  { name: 'point read', count: 4000, run: (db, count) => inParallel(count, 1, (number) => db.read('bench_notes').where({ key: number + 1 }).first()) },
  { name: 'point read, 16 readers', count: 4000, run: (db, count) => inParallel(count, 16, (number) => db.read('bench_notes').where({ key: number + 1 }).first()) },
  { name: 'list of 50 rows', count: 1000, run: (db, count) => inParallel(count, 1, (number) => db.read('bench_notes').where('key', '>', number).orderBy('key').limit(50)) },
  { name: 'import, a row of 100,000', count: 100_000, run: importRows },
];

async function importRows(db: OpenDatabase, count: number): Promise<void> {
  for (let first = 0; first < count; first += BATCH) {
    await db.write((tx) => bulkInsert(tx, 'bench_imported', Array.from({ length: BATCH }, (_, index) => note(first + index))));
  }
  await db.write((tx) => tx('bench_imported').delete());
}

async function open(driver: DriverName, folder: string): Promise<OpenDatabase> {
  const db = await openDatabase({ url: null, dataDir: join(folder, driver), pool: 1, driver, log: pino({ level: 'error' }) });
  await db.write(async (tx) => {
    await createBookkeeping(tx);
    const schema = createSchema(tx, 'bench');
    for (const table of ['bench_notes', 'bench_imported']) await schema.createTable(table, { key: 'id', name: 'text', number: 'int', at: 'time' });
  });
  return db;
}

async function measure(part: Part, db: OpenDatabase): Promise<Sample> {
  const before = process.cpuUsage();
  const started = performance.now();
  await part.run(db, part.count);
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / part.count, wall: ((performance.now() - started) * 1000) / part.count };
}

/** The two drivers of SQLite in turn, round by round. Microseconds are of all threads of the process. */
export async function benchDrivers(options: { rounds: number }): Promise<boolean> {
  if (!hasNodeSqlite()) {
    process.stdout.write(`\nSQLite drivers: skipped, since Node ${process.versions.node} has no node:sqlite to compare with\n`);
    return true;
  }
  const folder = mkdtempSync(join(tmpdir(), 'civic-drivers-'));
  const databases = [await open('sqlite3', folder), await open('node', folder)];
  process.stdout.write(`\nSQLite drivers on Node ${process.versions.node}: CPU and wall microseconds an operation, medians\n`);
  try {
    for (const part of PARTS) {
      const samples: [Sample, Sample][] = [];
      for (const db of databases) await measure({ ...part, count: Math.ceil(part.count / 4) }, db);
      for (let round = 0; round < options.rounds; round++) samples.push([await measure(part, databases[0]!), await measure(part, databases[1]!)]);
      printPart(part, samples);
    }
  } finally {
    for (const db of databases) await db.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return true;
}

function printPart({ name }: Part, samples: [Sample, Sample][]): void {
  const figure = (driver: 0 | 1, kind: keyof Sample) => median(samples.map((pair) => pair[driver][kind])).toFixed(1).padStart(7);
  const ratio = (kind: keyof Sample) => median(samples.map(([first, second]) => second[kind] / first[kind])).toFixed(2);
  process.stdout.write(`  ${name.padEnd(26)} sqlite3 ${figure(0, 'cpu')} cpu ${figure(0, 'wall')} wall   node ${figure(1, 'cpu')} cpu ${figure(1, 'wall')} wall   node/sqlite3 ${ratio('cpu')} cpu ${ratio('wall')} wall\n`);
}
