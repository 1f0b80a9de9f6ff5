import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../core/ids.ts';
import { testDatabases, testServer, type TestServer } from '../../core/testing.ts';
import type { Planted } from './site.ts';
import { openWeb, type Web } from './web.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

interface Candidate { type: string; name: string; sources: { url: string }[]; claims: { excerpt: string; locator: { start: number; end: number } }[] }
interface Page { url: string; state: string; reason: string | null }

const MOST_PAGES = 300;
const MOST_OF_HOST = 100;
const MOST_SECONDS = 120;

/** Most of the CPU goes into reading and extracting, which is the same on both databases: `npm run soak` has Postgres too. */
const databases = process.env['CIVIC_TEST_SOAK'] ? testDatabases() : ['sqlite'] as const;

for (const database of databases) {
  describe(`a run over a web of more than 200 pages on ${database}`, { timeout: 240_000 }, () => {
    let kit: TestServer;
    let web: Web;
    let run: { id: string; status: string; counts: Record<string, number> };
    let seconds: number;
    let candidates: Candidate[];
    let pages: Page[];
    const as = { account_id: newId(), workspace_id: newId(), workspace_role: 'owner' as const, scope: ['discovery:read', 'discovery:write'], capabilities: ['discovery'], plan: 'individual' as const };
    const get = async (path: string) => (await kit.request('GET', path, { as })).body;
    async function all<Row>(path: string): Promise<Row[]> {
      const rows: Row[] = [];
      for (let cursor = ''; ;) {
        const { data, next_cursor } = await get(`${path}?limit=100${cursor}`);
        rows.push(...data);
        if (next_cursor === null) return rows;
        cursor = `&cursor=${next_cursor}`;
      }
    }
    const isFound = ({ type, name, url }: Planted): boolean => candidates.some((one) => one.type === type && one.name === name && one.sources.some((source) => source.url === url));
    const planted = (by: Planted['by']) => web.planted.filter((one) => one.by === by);

    before(async () => {
      web = await openWeb({ hasTraps: true });
      kit = await testServer({
        database, plugins: ['directory', 'reader', 'accounts', 'discovery'],
        config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { reader: { delay_seconds: 0, per_host: 4, timeout_seconds: 2, browser_fallback_enabled: false } } },
      });
      const started = performance.now();
      const { body } = await kit.request('POST', '/api/discovery-runs', { as, payload: { location: 'Gladstone, MO', issue_areas: ['housing_affordability'], depth: 'deep', seeds: web.seeds } });
      do {
        await sleep(100);
        run = await get(`/api/discovery-runs/${body.id}`);
      } while (run.status === 'pending' || run.status === 'running');
      seconds = (performance.now() - started) / 1000;
      candidates = await all(`/api/discovery-runs/${run.id}/candidates`);
      pages = await all(`/api/discovery-runs/${run.id}/sources`);
    });
    after(async () => {
      await kit.close();
      await web.close();
    });

    it('ends within its limits of pages, of each host and of time', () => {
      expect(run.status).to.equal('completed');
      expect(pages.length).to.be.within(200, MOST_PAGES);
      for (const { origin, requests } of web.sites) {
        expect(pages.filter(({ url }) => url.startsWith(`${origin}/`)).length).to.be.at.most(MOST_OF_HOST);
        expect(requests.length).to.be.at.most(MOST_OF_HOST + 10);
      }
      expect(pages.filter(({ state }) => state === 'waiting')).to.equal([]);
      // A calendar without end does not use up the pages of its host.
      expect(pages.filter(({ url }) => url.includes('/months?')).length).to.be.within(5, 10);
      expect(seconds).to.be.below(MOST_SECONDS);
    });

    it('finds everybody in lists, tables and structured data, with the page as the source', () => {
      for (const by of ['list', 'table', 'structured'] as const) expect(planted(by).filter((one) => !isFound(one)), by).to.equal([]);
      expect(planted('words').filter(isFound).length).to.be.at.least(planted('words').length * 0.9);
    });

    it('invents no person, and no organization that the pages do not name', () => {
      const names = new Set(web.planted.map(({ name }) => name));
      const others = candidates.filter(({ name }) => !names.has(name));
      // The committees and departments have pages of their own.
      expect(others.filter(({ type, name }) => type !== 'organization' || !/ (?:Committee|Department)$|^(?:Traps|Busy)$/.test(name))).to.equal([]);
      for (const { claims } of candidates) for (const { excerpt, locator } of claims) expect(locator.end - locator.start).to.equal(excerpt.length);
    });

    it('requests nothing that is forbidden, and no page twice', () => {
      const { forbidden, secretNames, reasons } = web.traps!;
      const trapSite = web.sites.at(-2)!;
      expect(trapSite.requests.filter((path) => forbidden.test(path))).to.equal([]);
      for (const { requests } of web.sites) {
        expect(requests.filter((path) => path.startsWith('/internal/'))).to.equal([]);
        expect(requests.filter((path, at) => requests.indexOf(path) !== at && path !== '/robots.txt' && path !== '/circle')).to.equal([]);
      }
      expect(candidates.filter(({ name }) => secretNames.includes(name))).to.equal([]);
      const skipped = pages.filter(({ url }) => url.startsWith(`${trapSite.origin}/`)).map(({ url, reason }) => [url.slice(trapSite.origin.length), reason] as const);
      for (const [path, reason] of Object.entries(reasons)) expect(skipped.find(([one]) => one === path)?.[1], path).to.equal(reason);
    });

    it('leaves a host in peace that asks for it', () => {
      const { requests } = web.sites.at(-1)!;
      expect(requests.filter((path) => ['/about', '/staff', '/board'].includes(path)).length).to.be.within(1, 4);
    });
  });
}
