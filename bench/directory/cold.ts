import { join } from 'node:path';
import { compare, printRows } from '../harness.ts';
import { benchDatabases, type BenchDatabase, type BenchOptions } from './databases.ts';
import { subjectsOf } from './subjects.ts';

const LIMIT = 0.6;
const ROUNDS = { rounds: 20, seconds: 0.3 };

/** Reads that find nothing kept, against a hand-written route that runs the same statements on the same pool. */
export async function benchCold(options: BenchOptions): Promise<boolean> {
  let isInside = true;
  for (const database of await benchDatabases(options)) isInside = await measure(database) && isInside;
  return isInside;
}

async function measure(database: BenchDatabase): Promise<boolean> {
  const { usual, actor } = await subjectsOf(database);
  const reads = { 'place list': `/api/places/${usual}/entities`, 'actor detail': `/api/entities/${actor}`, coverage: `/api/places/${usual}/coverage` };
  const server = { module: join(import.meta.dirname, '../servers/cold.js'), args: [database.folder, database.url ?? '', ...Object.values(reads)] };
  let isInside = true;
  for (const [name, path] of Object.entries(reads)) {
    const rows = await compare([
      { name: 'hapi, the same statements', ...server, path, isBeside: true },
      { name: 'civic', ...server, path },
    ], ROUNDS);
    const share = 1 / rows[1]!.ratio;
    printRows(`Cold on ${database.dialect}: ${name}, ${Math.round(share * 100)} % of a hand-written route by CPU, ${Math.round(rows[1]!.rate * 100)} % by requests a second (limit ${LIMIT * 100})`, rows);
    isInside &&= share >= LIMIT;
  }
  return isInside;
}
