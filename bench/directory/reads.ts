import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compare, printRows, withServer, type Target } from '../harness.ts';
import { benchDatabases, type BenchDatabase, type BenchOptions } from './databases.ts';
import { subjectsOf } from './subjects.ts';

const LIMIT = 1.3;
const ROUNDS = { rounds: 40, seconds: 0.15 };

/** Reads from memory against plain hapi and bare Node that answer the same text, made before. */
export async function benchReads(options: BenchOptions): Promise<boolean> {
  let isInside = true;
  for (const database of await benchDatabases(options)) isInside = await measure(database) && isInside;
  return isInside;
}

function directoryServer({ folder, url }: BenchDatabase): Pick<Target, 'module' | 'args'> {
  return { module: join(import.meta.dirname, '../servers/directory.js'), args: [folder, url ?? '', '64'] };
}

async function measure(database: BenchDatabase): Promise<boolean> {
  const { usual, largest, actor } = await subjectsOf(database);
  const reads = {
    'place list': `/api/places/${usual}/entities`, 'largest place list': `/api/places/${largest}/entities`, 'actor detail': `/api/entities/${actor}`,
    coverage: `/api/places/${usual}/coverage`, 'issue areas': '/api/issue-areas',
  };
  const texts = await textsOf(database, Object.values(reads));
  const file = join(database.folder, 'texts.json');
  writeFileSync(file, JSON.stringify(texts));
  const text = (kind: string) => ({ module: join(import.meta.dirname, '../servers/texts.js'), args: [kind, file] });
  let isInside = true;
  for (const [name, path] of Object.entries(reads)) {
    const gzip = { 'accept-encoding': 'gzip' };
    const rows = await compare([
      { name: 'hapi, the same text', ...text('hapi'), path },
      { name: 'bare node:http', ...text('node'), path },
      { name: 'civic', ...directoryServer(database), path },
      { name: 'civic, gzip', ...directoryServer(database), path, headers: gzip },
    ], ROUNDS);
    printRows(`Warm on ${database.dialect}: ${name}, ${Buffer.byteLength(texts[path]!).toLocaleString('en-US')} bytes, CPU a request against plain hapi (limit ${LIMIT})`, rows);
    isInside &&= rows[2]!.ratio <= LIMIT && rows[3]!.ratio <= LIMIT;
  }
  return isInside;
}

async function textsOf(database: BenchDatabase, paths: string[]): Promise<Record<string, string>> {
  return withServer(directoryServer(database), async (url) => {
    const texts: Record<string, string> = {};
    for (const path of paths) texts[path] = await (await fetch(url + path)).text();
    return texts;
  });
}
