import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Position } from 'civic';
import { testDatabases, type TestServer } from 'civic/testing';
import type { Columns } from '../search/columns.ts';
import { listActors, type ListRequest, type ListResult } from '../search/list.ts';
import { readQuery, wholeMatch } from '../search/match.ts';
import { pageByKeys, pageByWalk, pageOfFound, pageOfKeys, type Order } from '../search/query-store.ts';
import { expected, makeActors, makeRequests, searchServer } from './search-oracle.ts';

export const notQuick = 'it evaluates results on many records';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

// More than the limits at which a search takes another way, such as walking an index.
const ACTORS = 5000;
// Few enough that some beginnings of two and three letters are in memory, and others are not.
const MANY_ACTORS = 500;
// `npm run soak -- generated` asks four times as many.
const QUERIES = process.env.CIVIC_TEST_SOAK === '1' ? 1000 : 250;

const actors = makeActors(ACTORS);
const requests = makeRequests(QUERIES);
const right = requests.map((request) => expected(actors, request));
const answers: Record<string, string> = {};

for (const dialect of testDatabases()) {
  describe(`Search of many actors on ${dialect}`, () => {
    let kit: TestServer;
    let columns: Columns;
    before(async () => { ({ kit, columns } = await searchServer(dialect, actors, MANY_ACTORS)); });
    after(() => kit.close());

    const list = (request: ListRequest): Promise<ListResult> => listActors(kit.db.read, request, columns);

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

    it('finds the right actors by two and three letters', async () => {
      let inMemory = 0;
      for (const query of new Set(actors.flatMap(({ everything }) => everything.flatMap((word) => [word.slice(0, 2), word.slice(0, 3)])).filter((start) => start.length > 1).slice(0, 400))) {
        if (await columns.prefixes.find(query)) inMemory += 1;
        for (const filters of [[], [{ any: ['s:mo', 's:ks'] }]]) {
          const request: ListRequest = { query, filters, workspace: null, sort: 'relevance', limit: 20, after: null, facets: true, isExact: true };
          const { keys, total, facets } = await list(request);
          const wanted = expected(actors, request);
          expect({ keys, total }, JSON.stringify(request)).to.equal({ keys: wanted.keys.slice(0, 20), total: wanted.total });
          expect(facets!.entity_type.reduce((sum, { count }) => sum + count, 0)).to.equal(total);
        }
      }
      expect(inMemory).to.be.above(5);
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
      let selected = 0;
      for (const request of requests.filter((_, index) => index % 10 === 0)) {
        const asked = { words: readQuery(request.query), filters: request.filters, workspace: request.workspace };
        const match = wholeMatch(asked);
        if (!match) continue;
        for (const order of ['name', 'recent', 'source_count'] as Order[]) {
          const page = { order, after: null, limit: 20, freshness: request.freshness ?? null, workspace: request.workspace };
          const walked = await pageByWalk(kit.db.read, page, request.filters, asked.words && wholeMatch({ ...asked, filters: [] }));
          expect(await pageOfFound(kit.db.read, page, match), JSON.stringify(request)).to.equal(walked);
          const keys = asked.words || page.workspace !== null ? null : columns.select(request.filters, page.freshness);
          if (!keys) continue;
          selected += 1;
          expect(await pageOfKeys(kit.db.read, page, keys), JSON.stringify(request)).to.equal(walked);
          if (keys.length > 0) expect(await pageByKeys(kit.db.read, page, keys, columns.size), JSON.stringify(request)).to.equal(walked);
        }
      }
      expect(selected).to.be.above(0);
    });
  });
}

describe('Search of many actors', () => {
  it('answers byte for byte the same on both databases', () => {
    const [first, ...others] = Object.values(answers);
    for (const other of others) expect(other === first).to.be.true();
  });
});
