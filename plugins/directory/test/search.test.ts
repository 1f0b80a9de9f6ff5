import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases, type TestServer } from 'civic/testing';
import { createColumns, type Columns } from '../search/columns.ts';
import { rankOf, tokensOf } from '../search/document.ts';
import { listActors, type ListRequest, type ListResult } from '../search/list.ts';
import { mergeSearch } from '../search/merge.ts';
import { putDocuments, removeDocuments } from '../search/store.ts';
import { isOneApart } from '../search/typo.ts';
import { expected, makeActors, makeRequests, OTHER, searchServer, store, throwError, WORKSPACE } from './search-oracle.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const actors = makeActors(500);

for (const dialect of testDatabases()) {
  describe(`Search on ${dialect}`, () => {
    let kit: TestServer;
    let columns: Columns;
    before(async () => { ({ kit, columns } = await searchServer(dialect, actors)); });
    after(() => kit.close());

    const list = (request: Partial<ListRequest>): Promise<ListResult> =>
      listActors(kit.db.read, { query: null, filters: [], workspace: null, sort: 'relevance', limit: 25, after: null, ...request }, columns);

    it('returns the right actors and totals', async () => {
      for (const request of makeRequests(150)) {
        const { keys, total, corrected } = await list(request);
        const right = expected(actors, request);
        if (corrected.length === 0) expect({ keys, total }, JSON.stringify(request)).to.equal({ keys: right.keys.slice(0, request.limit), total: right.total });
      }
    });

    it('counts by freshness without reading every actor', async () => {
      const queries: string[] = [];
      const note = ({ sql }: { sql: string }): void => { queries.push(sql); };
      kit.db.read.on('query', note);
      for (const status of ['fresh', 'aging', 'stale', 'unknown'] as const) {
        for (const sort of ['name', 'recent', 'source_count'] as const) {
          const request: ListRequest = { query: null, filters: [], workspace: null, sort, limit: 10, after: null, freshness: { statuses: [status], day: 20_040 } };
          const right = expected(actors, request);
          const { keys, total } = await list(request);
          expect({ keys, total }, `${status} by ${sort}`).to.equal({ keys: right.keys.slice(0, 10), total: right.total });
        }
      }
      kit.db.read.removeListener('query', note);
      expect(queries.length).to.be.above(0);
      expect(queries.filter((sql) => sql.includes('count('))).to.equal([]);
    });

    it('corrects one typing error in words that no actor has, and reports it', async () => {
      for (const [query, to] of [['libary', 'library'], ['librarry', 'library'], ['lirbary', 'library'], ['libraty', 'library']]) {
        const { corrected, total } = await list({ query: query! });
        expect(corrected, query).to.equal([{ from: query, to }]);
        expect(total).to.equal(expected(actors, { query: to!, filters: [], workspace: null, sort: 'relevance', limit: 1, after: null }).total);
      }
      expect((await list({ query: 'communty librray' })).corrected).to.equal([{ from: 'communty', to: 'community' }, { from: 'librray', to: 'library' }]);
      for (const query of ['housing', 'hous', 'xqzzyk', 'housing xqzzyk', '2042', '42nb']) expect((await list({ query })).corrected, query).to.equal([]);
    });

    it('does not reveal actors of another workspace', async () => {
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
      // Counted now, and changed with the actor from now on.
      const tallied = columns.stateTallies().get('mo')!.actors;
      const actor = { ...actors[0]!, document: { ...actors[0]!.document, key: 9002, prior: 15, name: 'Housing First', texts: ['zymurgy'], workspace: null } };
      await store(kit.db, [actor]);
      await columns.refresh(kit.db.read, [9002]);
      expect(columns.stateTallies().get('mo')!.actors).to.equal(tallied + (actor.document.tags.includes('s:mo') ? 1 : 0));
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

    it('counts a changed actor by short beginnings that are in memory', async () => {
      const some = createColumns({ manyActors: 20 });
      await some.load(kit.db.read, throwError);
      const count = async (query: string) => (await listActors(kit.db.read, { query, filters: [], workspace: null, sort: 'name', limit: 5, after: null }, some)).total;
      const [actor] = actors.filter(({ document }) => document.workspace === null);
      const added = { ...actor!, document: { ...actor!.document, key: 9003, name: 'Honey Company', texts: [], prior: 1 } };
      const before = await count('ho');
      expect(await some.prefixes.find('ho')).to.not.be.null();
      await store(kit.db, [added]);
      await some.refresh(kit.db.read, [9003]);
      expect(await count('ho')).to.equal(before + 1);
      await kit.db.write((tx) => putDocuments(tx, [{ ...added.document, name: 'Zinc Company' }], [rankOf(1, 9003)]));
      await some.refresh(kit.db.read, [9003]);
      expect(await count('ho')).to.equal(before);
      await kit.db.write((tx) => putDocuments(tx, [added.document], [rankOf(1, 9003)]));
      await some.refresh(kit.db.read, [9003]);
      await kit.db.write(async (tx) => {
        await removeDocuments(tx, [rankOf(1, 9003)]);
        await tx('directory_actors').where({ key: 9003 }).delete();
      });
      some.remove([9003]);
      expect(await count('ho')).to.equal(before);
    });

    it('keeps its columns equal to those of a new load', async () => {
      const anew = createColumns();
      await anew.load(kit.db.read, throwError);
      expect(columns.facets('all')).to.equal(anew.facets('all'));
      expect([columns.size, [...columns.issueCounts()].sort()]).to.equal([anew.size, [...anew.issueCounts()].sort()]);
      expect(sortedTallies(columns)).to.equal(sortedTallies(anew));
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

function sortedTallies(columns: Columns): unknown[] {
  return [...columns.stateTallies()].map(([state, { actors: count, issues }]) => [state, count, [...issues].sort()]).sort();
}

describe('Search', () => {
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
