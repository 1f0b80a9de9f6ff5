import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { bulkInsert, type Database, type Position } from 'civic';
import { testDatabases, testServer, type TestServer } from 'civic/testing';
import { actorModel } from '../actors/model.ts';
import directory from '../index.ts';
import { createColumns, type Columns } from '../search/columns.ts';
import { priorOf, rankOf, tokensOf, wordsOf, type SearchDocument } from '../search/document.ts';
import { listActors, type ListRequest, type ListResult } from '../search/list.ts';
import { readQuery, wholeMatch } from '../search/match.ts';
import { mergeSearch } from '../search/merge.ts';
import { pageByWalk, pageOfFound, type Order } from '../search/query-store.ts';
import { putDocuments, removeDocuments } from '../search/store.ts';
import { isOneApart } from '../search/typo.ts';

export const lab = Lab.script();
const fail = (error: unknown): never => { throw error; };
const { describe, it, before, after } = lab;

const ACTORS = 5000;
// `npm run soak -- generated` asks four times as many.
const QUERIES = process.env.CIVIC_TEST_SOAK === '1' ? 1000 : 250;
const WORKSPACE = '0190f7c2-0000-7000-8000-00000000000a';
const OTHER = '0190f7c2-0000-7000-8000-00000000000b';
const WORDS = `housing house community council of the for transit justice water youth river garden school library market health clinic
  tenants union coalition alliance friends café École Straße naïve Øresund Ζωή 東京 2024 42nd co op o neil recycling election voters park`.split(/\s+/);
const ISSUES = ['housing_affordability', 'zoning_and_land_use', 'energy_transition', 'public_health'];
const STATES = ['mo', 'ks', 'ca', 'ny'];
const FILLERS = new Set(['of', 'the', 'for']);
const TYPES = ['person', 'organization', 'event'];

/** The same numbers in each run. */
function sequence(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * below);
  };
}

interface Made {
  document: SearchDocument;
  /** Of its name, and of everything without fillers. */
  name: string[];
  everything: string[];
  source_count: number;
  updated_at: string;
  fresh_until: number | null;
}

function makeActors(): Made[] {
  const next = sequence(3);
  // The square makes some words frequent and others rare.
  const word = () => WORDS[Math.floor((next(1000) / 1000) ** 2 * WORDS.length)]!;
  const some = (count: number) => Array.from({ length: count }, word).join(' ');
  return Array.from({ length: ACTORS }, (_, index) => {
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
    model: actorModel.version, source_count, updated_at, version: 1, fresh_until, aging_until: fresh_until && fresh_until + 30, starts_at: null, expires_at: null, body: '{}',
  };
}

async function store(db: Database, actors: Made[]): Promise<void> {
  for (let start = 0; start < actors.length; start += 1000) {
    const part = actors.slice(start, start + 1000);
    await db.write(async (tx) => {
      await bulkInsert(tx, 'directory_actors', part.map(rowOf));
      await putDocuments(tx, part.map(({ document }) => document), []);
    });
  }
}

/** What a list must answer, worked out from the actors one by one. */
function expected(actors: Made[], request: ListRequest): { keys: number[]; total: number } {
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

function makeRequests(): ListRequest[] {
  const next = sequence(11);
  const word = () => WORDS[next(WORDS.length)]!;
  return Array.from({ length: QUERIES }, () => {
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

const actors = makeActors();
const requests = makeRequests();
const right = requests.map((request) => expected(actors, request));
const answers: Record<string, string> = {};

for (const dialect of testDatabases()) {
  describe(`Search on ${dialect}`, () => {
    let kit: TestServer;
    let columns: Columns;
    before(async () => {
      kit = await testServer({ plugins: [directory], database: dialect });
      await store(kit.db, actors);
      columns = createColumns();
      await columns.load(kit.db.read, fail);
    });
    after(() => kit.close());

    const list = (request: Partial<ListRequest>): Promise<ListResult> =>
      listActors(kit.db.read, { query: null, filters: [], workspace: null, sort: 'relevance', limit: 25, after: null, ...request }, columns);

    it(`answers ${QUERIES} queries with the right actors, totals and facets`, { timeout: 60_000 }, async () => {
      const all: ListResult[] = [];
      for (let start = 0; start < requests.length; start += 20) all.push(...await Promise.all(requests.slice(start, start + 20).map(list)));
      for (const [index, request] of requests.entries()) {
        const { keys, total, corrected, facets } = all[index]!;
        if (corrected.length > 0) continue;
        expect({ keys, total }, JSON.stringify(request)).to.equal({ keys: right[index]!.keys.slice(0, request.limit), total: right[index]!.total });
        expect(facets!.entity_type.reduce((sum, { count }) => sum + count, 0), JSON.stringify(request)).to.equal(total);
      }
      answers[dialect] = JSON.stringify(all);
    });

    it('comes to the end of a list page by page, each actor once', async () => {
      for (const [index, request] of requests.entries()) {
        if (index % 25 > 0) continue;
        const keys: number[] = [];
        let after: Position | null = null;
        do {
          const page = await list({ ...request, limit: 100, after });
          if (page.corrected.length > 0) break;
          expect(page.total).to.equal(right[index]!.total);
          keys.push(...page.keys);
          after = page.next;
        } while (after);
        if (keys.length > 0) expect(keys, JSON.stringify(request)).to.equal(right[index]!.keys);
      }
    });

    it('finds the same by gathering as by walking', async () => {
      for (const request of requests.filter((_, index) => index % 10 === 0)) {
        const asked = { words: readQuery(request.query), filters: request.filters, workspace: request.workspace };
        const match = wholeMatch(asked);
        if (!match) continue;
        for (const order of ['name', 'recent', 'source_count'] as Order[]) {
          const page = { order, after: null, limit: 20, freshness: request.freshness ?? null, workspace: request.workspace };
          const walked = await pageByWalk(kit.db.read, page, request.filters, asked.words && wholeMatch({ ...asked, filters: [] }));
          expect(await pageOfFound(kit.db.read, page, match), JSON.stringify(request)).to.equal(walked);
        }
      }
    });

    it('corrects one slip in words that nobody has, and says so', async () => {
      for (const [query, to] of [['libary', 'library'], ['librarry', 'library'], ['lirbary', 'library'], ['libraty', 'library']]) {
        const { corrected, total } = await list({ query: query! });
        expect(corrected, query).to.equal([{ from: query, to }]);
        expect(total).to.equal(expected(actors, { query: to!, filters: [], workspace: null, sort: 'relevance', limit: 1, after: null }).total);
      }
      expect((await list({ query: 'communty librray' })).corrected).to.equal([{ from: 'communty', to: 'community' }, { from: 'librray', to: 'library' }]);
      for (const query of ['housing', 'hous', 'xqzzyk', 'housing xqzzyk', '2042', '42nb']) expect((await list({ query })).corrected, query).to.equal([]);
    });

    it('tells nobody of what another workspace has', async () => {
      const secret = { ...actors[0]!, document: { ...actors[0]!.document, key: 9001, name: 'Zyxomma Society', texts: [], workspace: OTHER } };
      await store(kit.db, [secret]);
      await columns.refresh(kit.db.read, [9001]);
      for (const workspace of [null, WORKSPACE]) {
        for (const query of ['zyxomma', 'zyx', 'zyxoma', 'zyxomma society']) {
          const { keys, corrected } = await list({ query, workspace });
          expect([keys.includes(9001), corrected], query).to.equal([false, []]);
        }
        expect((await list({ workspace, sort: 'recent', filters: [{ any: secret.document.tags }], limit: 5000 })).keys).to.not.include(9001);
      }
      expect((await list({ query: 'zyxomma', workspace: OTHER, facets: true })).facets!.entity_type).to.have.length(1);
      expect((await list({ query: 'zyx', workspace: OTHER })).keys).to.equal([9001]);
    });

    it('shows changes at once, and pages stay as they are while rows are added', async () => {
      const first = await list({ query: 'housing', limit: 10 });
      const actor = { ...actors[0]!, document: { ...actors[0]!.document, key: 9002, prior: 15, name: 'Housing First', texts: ['zymurgy'], workspace: null } };
      await store(kit.db, [actor]);
      await columns.refresh(kit.db.read, [9002]);
      const again = await list({ query: 'housing', limit: 10 });
      expect([again.keys[0], again.total]).to.equal([9002, first.total + 1]);
      const second = await list({ query: 'housing', limit: 10, after: first.next });
      expect(second.keys).to.equal((await list({ query: 'housing', limit: 21 })).keys.slice(11));
      expect(second.total).to.equal(first.total + 1);
      const moved = { ...actor.document, name: 'Shelter First', prior: 3 };
      await kit.db.write((tx) => putDocuments(tx, [moved], [rankOf(15, 9002)]));
      expect((await list({ query: 'housing', limit: 10 })).keys).to.equal(first.keys);
      expect((await list({ query: 'zymurgy' })).keys).to.equal([9002]);
      await kit.db.write(async (tx) => {
        await removeDocuments(tx, [rankOf(3, 9002)]);
        await tx('directory_actors').where({ key: 9002 }).delete();
      });
      columns.remove([9002]);
      expect((await list({ query: 'zymurgy' })).total).to.equal(0);
    });

    it('keeps its columns as if they were loaded anew', async () => {
      const anew = createColumns();
      await anew.load(kit.db.read, fail);
      expect(columns.facets('all')).to.equal(anew.facets('all'));
      expect([columns.size, [...columns.issueCounts()].sort()]).to.equal([anew.size, [...anew.issueCounts()].sort()]);
      expect(columns.size).to.equal(actors.filter(({ document }) => document.workspace === null).length);
    });

    it('finds the same after merging', async () => {
      const before = await list({ query: 'community', limit: 100, facets: true });
      await mergeSearch(kit.db);
      expect(await list({ query: 'community', limit: 100, facets: true })).to.equal(before);
    });

    it('takes whatever is typed as words', async () => {
      for (const query of ['"', "'", '*', ':*', 'a"b', "o'neil", '\\', 'NOT AND OR', '(', '^a', '＝housing', 's：mo', ' ', '\u0000', 'x'.repeat(3000), '😀 🏠', 'a '.repeat(200)]) {
        for (const workspace of [null, WORKSPACE]) await list({ query, workspace });
        await list({ query: null, filters: [{ any: [`s:${query}`] }, { any: ['t:person'] }] });
      }
      expect((await list({ query: '"!?"' })).total).to.equal(0);
      expect((await list({ query: 'housing', filters: [{ any: [] }] })).total).to.equal(0);
      expect((await list({ filters: [{ any: ['s:MO'] }] })).total).to.equal(0);
    });
  });
}

describe('Search', () => {
  it('answers byte for byte the same on both databases', () => {
    const [first, ...others] = Object.values(answers);
    for (const other of others) expect(other === first).to.be.true();
  });

  it('knows words that are one slip apart', () => {
    for (const [a, b] of [['abcd', 'abcd'], ['abcd', 'abc'], ['abcd', 'acbd'], ['abcd', 'abxd'], ['abcd', 'xabcd']]) expect(isOneApart(a!, b!), `${a} ${b}`).to.be.true();
    for (const [a, b] of [['abcd', 'ab'], ['abcd', 'abdx'], ['abcd', 'badc'], ['abcd', 'cbad']]) expect(isOneApart(a!, b!), `${a} ${b}`).to.be.false();
  });

  it('makes tokens that no tokenizer splits', () => {
    const document = { key: 1, prior: 0, name: 'The River’s Friends, Inc.', texts: ['For the river'], tags: ['i:zoning_and_land_use'], workspace: null };
    expect(tokensOf(document)).to.equal(['the', 'river', 's', 'friends', 'inc', 'ｔhe', 'ｒiver', 'ｓ', 'ｆriends', 'ｉnc', '＾1the', '＾2the＿river', '＾3the＿river＿s', 'i：zoning＿and＿land＿use']);
    const own = tokensOf({ ...document, workspace: WORKSPACE });
    for (const token of own) expect(token).to.match(/^＠[a-z0-9]+＿/);
  });
});
