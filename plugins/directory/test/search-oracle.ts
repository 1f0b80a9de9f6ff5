import { bulkInsert, type Database } from 'civic';
import { testServer, type TestServer } from 'civic/testing';
import { actorModel, modelUnder } from '../actors/model.ts';
import { createFieldPolicy } from '../policy/fields.ts';
import directory from '../index.ts';
import { createColumns, type Columns } from '../search/columns.ts';
import { priorOf, rankOf, wordsOf, type SearchDocument } from '../search/document.ts';
import type { ListRequest } from '../search/list.ts';
import { putDocuments } from '../search/store.ts';

// Generated actors and requests, and a second implementation of search to compare results with.

export const WORKSPACE = '0190f7c2-0000-7000-8000-00000000000a';
export const OTHER = '0190f7c2-0000-7000-8000-00000000000b';
const WORDS = `housing house community council of the for transit justice water youth river garden school library market health clinic
  tenants union coalition alliance friends café École Straße naïve Øresund Ζωή 東京 2024 42nd co op o neil recycling election voters park`.split(/\s+/);
const ISSUES = ['housing_affordability', 'zoning_and_land_use', 'energy_transition', 'public_health'];
const STATES = ['mo', 'ks', 'ca', 'ny'];
const FILLERS = new Set(['of', 'the', 'for']);
const TYPES = ['person', 'organization', 'event'];

/** Returns a generator of the same numbers in each run. */
function sequence(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * below);
  };
}

export interface Made {
  document: SearchDocument;
  /** Of its name, and of everything without fillers. */
  name: string[];
  everything: string[];
  source_count: number;
  updated_at: string;
  fresh_until: number | null;
}

/** Returns the same actors in each run. */
export function makeActors(count: number): Made[] {
  const next = sequence(3);
  // The square makes some words frequent and others rare.
  const word = () => WORDS[Math.floor((next(1000) / 1000) ** 2 * WORDS.length)]!;
  const some = (length: number) => Array.from({ length }, word).join(' ');
  return Array.from({ length: count }, (_, index) => {
    const source_count = 1 + next(next(9) === 0 ? 40 : 3);
    const tags = [`t:${TYPES[next(3)]}`, `s:${STATES[next(4)]}`, `i:${ISSUES[next(4)]}`];
    if (next(3) === 0) tags.push(`i:${ISSUES[next(4)]}`);
    const [name, text] = [some(1 + next(4)), some(next(12))];
    return {
      name: wordsOf(name),
      everything: [...wordsOf(name), ...wordsOf(text).filter((word) => !FILLERS.has(word))],
      document: {
        key: index + 1, prior: priorOf(source_count), name, texts: [text], tags: [...new Set(tags)].sort(),
        workspace: next(20) === 0 ? WORKSPACE : next(20) === 0 ? OTHER : null,
      },
      source_count,
      updated_at: new Date(Date.UTC(2026, 0, 1 + next(200), next(24))).toISOString(),
      fresh_until: next(10) === 0 ? null : 20_000 + next(100),
    };
  });
}

function rowOf({ document, source_count, updated_at, fresh_until }: Made): Record<string, unknown> {
  return {
    key: document.key, id: `0190f7c2-0000-7000-8000-${String(document.key).padStart(12, '0')}`, slug: `a-${document.key}`, type: 'person', name_sort: wordsOf(document.name).join(' '),
    visibility: document.workspace ? 'workspace' : 'public', workspace_id: document.workspace, tags: document.tags.join(' '), sources: '1', rank: rankOf(document.prior, document.key),
    model: modelUnder(actorModel, createFieldPolicy({})).version, source_count, updated_at, version: 1, fresh_until, aging_until: fresh_until && fresh_until + 30, starts_at: null, expires_at: null, body: '{}',
  };
}

export async function store(db: Database, actors: Made[]): Promise<void> {
  for (let start = 0; start < actors.length; start += 1000) {
    const part = actors.slice(start, start + 1000);
    await db.write(async (tx) => {
      await bulkInsert(tx, 'directory_actors', part.map(rowOf));
      await putDocuments(tx, part.map(({ document }) => document), []);
    });
  }
}

/** Starts a server with generated actors, and loads the columns of their search index, with the short prefixes of more than `manyActors`. */
export async function searchServer(database: 'sqlite' | 'postgres', actors: Made[], manyActors?: number): Promise<{ kit: TestServer; columns: Columns }> {
  const kit = await testServer({ plugins: [directory], database });
  await store(kit.db, actors);
  const columns = createColumns({ manyActors });
  await columns.load(kit.db.read, throwError);
  return { kit, columns };
}

export function throwError(error: unknown): never {
  throw error;
}

/** Returns what a list must contain, computed from the actors one by one. */
export function expected(actors: Made[], request: ListRequest): { keys: number[]; total: number } {
  const asked = wordsOf(request.query ?? '');
  const isPrefix = (asked.at(-1) ?? '').length > 1 && !(asked.length > 1 && FILLERS.has(asked.at(-1)!));
  const fits = (words: string[], word: string, index: number) => words.some((each) => (isPrefix && index === asked.length - 1 ? each.startsWith(word) : each === word));
  const found = actors.flatMap(({ document, name, everything, source_count, updated_at, fresh_until }) => {
    if (document.workspace !== null && document.workspace !== request.workspace) return [];
    if (!request.filters.every(({ any }) => any.some((tag) => document.tags.includes(tag)))) return [];
    if (request.freshness && !request.freshness.statuses.includes(fresh_until === null ? 'unknown' : request.freshness.day <= fresh_until ? 'fresh' : request.freshness.day <= fresh_until + 30 ? 'aging' : 'stale')) return [];
    const telling = asked.some((word) => !FILLERS.has(word)) ? asked.map((word) => !FILLERS.has(word)) : asked.map(() => true);
    if (!asked.every((word, index) => !telling[index] || fits(everything, word, index))) return [];
    const isNamed = asked.every((word, index) => fits(name, word, index));
    const head = Math.min(asked.length, 3);
    const starts = isNamed && asked.slice(0, head).every((word, index) => (index < name.length) && fits([name[index]!], word, index));
    return [{ key: document.key, tier: starts ? 1 : isNamed ? 2 : 3, rank: rankOf(document.prior, document.key), name_sort: name.join(' '), source_count, updated_at }];
  });
  const by = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);
  const bytes = (text: string) => Buffer.from(text).toString('hex');
  const orders: Record<ListRequest['sort'], (a: typeof found[number], b: typeof found[number]) => number> = {
    relevance: (a, b) => by(a.tier, b.tier) || by(a.rank, b.rank),
    name: (a, b) => by(bytes(a.name_sort), bytes(b.name_sort)) || by(a.key, b.key),
    recent: (a, b) => by(b.updated_at, a.updated_at) || by(b.key, a.key),
    source_count: (a, b) => by(b.source_count, a.source_count) || by(b.key, a.key),
  };
  found.sort(orders[request.sort === 'relevance' && asked.length === 0 ? 'name' : request.sort]);
  return { keys: found.map(({ key }) => key), total: found.length };
}

/** Returns the same requests in each run. */
export function makeRequests(count: number): ListRequest[] {
  const next = sequence(11);
  const word = () => WORDS[next(WORDS.length)]!;
  return Array.from({ length: count }, () => {
    const words = Array.from({ length: next(12) === 0 ? 0 : 1 + next(3) }, word);
    const last = words.pop();
    const ending = last && (next(2) ? last : Array.from(last).slice(0, 1 + next(4)).join(''));
    const filters = [];
    if (next(3) === 0) filters.push({ any: [`s:${STATES[next(4)]}`] });
    if (next(4) === 0) filters.push({ any: [`i:${ISSUES[next(4)]}`, `i:${ISSUES[next(4)]}`] });
    if (next(30) === 0) filters.push({ any: ['s:nowhere'] });
    return {
      query: ending ? [...words, ending].join(next(2) ? ' ' : ', ') : null, filters, workspace: next(5) === 0 ? WORKSPACE : null,
      sort: (['relevance', 'relevance', 'relevance', 'name', 'recent', 'source_count'] as const)[next(6)]!, limit: 1 + next(30), after: null, facets: true,
      ...(next(10) === 0 && { freshness: { statuses: [(['fresh', 'aging', 'stale', 'unknown'] as const)[next(4)]!], day: 20_040 } }),
    };
  });
}
