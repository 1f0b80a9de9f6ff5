import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenDatabase } from '../../core/database/connect.ts';
import { startPostgres } from '../../core/testing/postgres.ts';
import { createColumns, type Columns } from '../../plugins/directory/search/columns.ts';
import { listActors, type ListRequest } from '../../plugins/directory/search/list.ts';
import { wordsOf } from '../../plugins/directory/search/document.ts';
import { benchGenerator, fill, openBench } from './fill.ts';
import { randomFrom, type Generator } from './generate.ts';

const LIMITS = { sqlite: { p50: 5, p99: 40, facets: 80 }, postgres: { p50: 10, p99: 120, facets: 180 } };
const IN_FLIGHT = 8;
const CROWD = 5;

export interface SearchBenchOptions {
  actors: number;
  queries: number;
  /** Where databases are kept for the next run; thrown away when null. */
  folder: string | null;
  /** A Postgres database of its own; a new cluster when null. */
  postgres: string | null;
  /** `sqlite` or `postgres`. */
  only?: string;
}

/** Search over generated actors: the mix of queries on both databases, alone and eight at once, without and with facets. */
export async function benchSearch(options: SearchBenchOptions): Promise<boolean> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'civic-bench-'));
  mkdirSync(folder, { recursive: true });
  let isInside = true;
  try {
    if (options.only !== 'postgres') isInside = await measure(await openBench(null, folder), options) && isInside;
    if (options.only === 'sqlite') return isInside;
    const postgres = options.postgres ? { url: options.postgres, stop: async () => undefined } : await startPostgres();
    if ('missing' in postgres) {
      process.stdout.write(`skipped on Postgres: ${postgres.missing}\n`);
      return isInside;
    }
    isInside = await measure(await openBench(postgres.url, folder), options) && isInside;
    await postgres.stop();
  } finally {
    if (!options.folder) rmSync(folder, { recursive: true, force: true });
  }
  return isInside;
}

async function measure(db: OpenDatabase, options: SearchBenchOptions): Promise<boolean> {
  const limits = LIMITS[db.dialect];
  try {
    await fill(db, options.actors, (text) => process.stdout.write(`  ${text}`));
    const columns = createColumns();
    const started = performance.now();
    await columns.load(db.read, (error) => { throw error; });
    process.stdout.write(`\nSearch over ${options.actors.toLocaleString('en-US')} actors on ${db.dialect} (facet columns of ${columns.size} loaded in ${Math.round(performance.now() - started)} ms)\n`);
    const requests = mix(benchGenerator(), options);
    await run(db, columns, requests.slice(0, 200), 1, false);
    let isInside = true;
    for (const facets of [false, true]) {
      for (const flight of [1, IN_FLIGHT]) {
        const times = await run(db, columns, requests, flight, facets);
        const most = (facets ? limits.facets : limits.p99) * (flight === 1 ? 1 : CROWD);
        const p50 = quantile(times.map(({ ms }) => ms), 0.5);
        const p99 = quantile(times.map(({ ms }) => ms), 0.99);
        const isKept = p99 <= most && (facets || flight > 1 || p50 <= limits.p50);
        isInside &&= isKept;
        process.stdout.write(`  ${flight} in flight${facets ? ', facets' : '        '}  ${figures(times.map(({ ms }) => ms))} ms  (limit ${most})${isKept ? '' : '  MISSED'}\n`);
        if (flight === 1) printKinds(times, db.dialect === 'sqlite');
      }
    }
    return isInside;
  } finally {
    await db.close();
  }
}

export interface Asked extends ListRequest {
  kind: string;
}

interface Timed {
  kind: string;
  ms: number;
  /** Of this process, in ms: on SQLite all there is, and steadier than the clock on a busy machine. Means nothing with several in flight. */
  cpu: number;
  query: string;
  total: number;
}

async function run(db: OpenDatabase, columns: Columns, requests: Asked[], flight: number, facets: boolean): Promise<Timed[]> {
  const times: Timed[] = [];
  let next = 0;
  await Promise.all(Array.from({ length: flight }, async () => {
    while (next < requests.length) {
      const request = requests[next++]!;
      const started = performance.now();
      const before = cpuNow();
      const { total } = await listActors(db.read, { ...request, facets }, columns);
      times.push({ kind: request.kind, ms: performance.now() - started, cpu: cpuNow() - before, query: `${request.query} ${request.filters.flatMap(({ any }) => any).join(' ')}`, total });
    }
  }));
  return times;
}

function cpuNow(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Names, two words, frequent words, prefixes and slips, each with and without a state. */
export function mix(generator: Generator, { actors, queries }: SearchBenchOptions): Asked[] {
  const random = randomFrom(99);
  const below = (count: number) => Math.floor(random() * count);
  const frequent = frequentWords(generator);
  const textOf = (property: string): string[] => {
    for (;;) {
      const claim = generator.draft(below(actors)).claims.find((claim) => claim.property === property);
      if (claim) return wordsOf(String(claim.value));
    }
  };
  const some = (words: string[]) => words[below(words.length)]!;
  const kinds: Record<string, () => string> = {
    name: () => textOf('name').join(' '),
    'two words': () => `${some(textOf('description'))} ${some(textOf(below(2) ? 'name' : 'description'))}`,
    frequent: () => some(frequent),
    prefix: () => {
      const words = textOf('name');
      const last = words.at(-1)!;
      return [...words.slice(0, -1).slice(below(3)), last.slice(0, 2 + below(4))].join(' ');
    },
    'one prefix': () => some(textOf('name')).slice(0, 3 + below(3)),
    slip: () => textOf('name').map((word, index) => (index === 0 && word.length > 4 ? slipped(word, below) : word)).join(' '),
  };
  const shares: [string, number][] = [['name', 0.3], ['two words', 0.25], ['frequent', 0.1], ['prefix', 0.15], ['one prefix', 0.1], ['slip', 0.1]];
  const states = ['mo', 'ca', 'tx', 'ny', 'ks', 'oh', 'wa', 'ga'];
  return Array.from({ length: queries }, () => {
    let wanted = random();
    const kind = shares.find(([, share]) => (wanted -= share) < 0)?.[0] ?? 'name';
    const filters = random() < 0.2 ? [{ any: [`s:${states[below(states.length)]}`] }] : [];
    return { kind: filters.length > 0 ? `${kind}, state` : kind, query: kinds[kind]!(), filters, workspace: null, sort: 'relevance' as const, limit: 25, after: null };
  });
}

function slipped(word: string, below: (count: number) => number): string {
  const at = 1 + below(word.length - 2);
  const letters = Array.from(word);
  const slip = below(4);
  if (slip === 0) letters.splice(at, 1);
  else if (slip === 1) letters.splice(at, 0, 'x');
  else if (slip === 2) letters.splice(at, 1, 'q');
  else letters.splice(at, 2, letters[at + 1]!, letters[at]!);
  return letters.join('');
}

/** The 200 words that most actors have, by a sample. */
function frequentWords(generator: Generator): string[] {
  const counts = new Map<string, number>();
  for (let index = 0; index < 5000; index++) {
    const texts = generator.draft(index * 7).claims.filter(({ property }) => property === 'name' || property === 'description').map(({ value }) => String(value));
    for (const word of new Set(texts.flatMap(wordsOf))) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, 200).map(([word]) => word);
}

function printKinds(times: Timed[], withCpu: boolean): void {
  if (withCpu) process.stdout.write(`      CPU alone            ${figures(times.map(({ cpu }) => cpu))}\n`);
  for (const kind of [...new Set(times.map((time) => time.kind))].sort()) {
    const ofKind = times.filter((time) => time.kind === kind);
    const cost = (time: Timed) => (withCpu ? time.cpu : time.ms);
    const slowest = ofKind.reduce((a, b) => (cost(a) > cost(b) ? a : b));
    process.stdout.write(`      ${kind.padEnd(18)} ${String(ofKind.length).padStart(4)}  ${figures(ofKind.map(cost))}  slowest: ${slowest.query} (${slowest.total} found)\n`);
  }
}

function figures(values: number[]): string {
  return `p50 ${quantile(values, 0.5).toFixed(1).padStart(6)}  p99 ${quantile(values, 0.99).toFixed(1).padStart(6)}`;
}

function quantile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
