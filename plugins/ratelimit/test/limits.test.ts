import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases, type TestServer } from 'civic/testing';
import { limitedServer, limitHeaders } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const MINUTE = 60_000;
const DAY = 86_400_000;
const from = (address: string) => ({ 'x-forwarded-for': address });

for (const database of testDatabases()) {
  describe(`Limits on ${database}`, { timeout: 60_000 }, () => {
    const clock = stoppedClock('2026-01-01T00:00:00.000Z');
    let kit: TestServer;
    let start: number;

    before(async () => { kit = await limitedServer({ database, clock, config: { http: { port: 0, trusted_proxies: ['loopback'] }, plugins: { ratelimit: { patience_ms: 10_000 } } } }); });
    after(() => kit.close());
    // Every window of the test before has ended by then.
    beforeEach(() => {
      start = Date.parse(clock.iso().slice(0, 10)) + 10 * DAY;
      clock.set(new Date(start).toISOString());
    });
    const secondsLater = (seconds: number) => new Date(start + seconds * 1000).toISOString().replace('.000Z', 'Z');

    async function ask(times: number, method: string, path: string, headers: Record<string, string> = {}): Promise<number[]> {
      const statuses: number[] = [];
      for (let i = 0; i < times; i++) statuses.push((await kit.request(method, path, { headers, ...(method === 'POST' && { payload: {} }) })).status);
      return statuses;
    }
    const passed = (statuses: number[]): number => statuses.filter((status) => status !== 429).length;

    it('let an address read 30 times a minute, count down in the headers, and say when and how to go on [limits.public-reads, headers.ratelimit-limit, headers.ratelimit-remaining, headers.ratelimit-reset, errors.429]', async () => {
      for (let left = 29; left >= 0; left--) expect(limitHeaders(await kit.request('GET', '/api/things'))).to.equal([30, left, 60]);
      clock.advance(18_500);
      const refused = await kit.request('GET', '/api/things');
      expect([refused.status, refused.body.code]).to.equal([429, 'rate_limited']);
      expect(limitHeaders(refused)).to.equal([30, 0, 42]);
      expect(refused.headers).to.include({ 'retry-after': '42', 'x-ratelimit-limit': '30', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(start / 1000 + 60) });
      expect(refused.body.detail).to.equal(`Without an account 30 reads a minute are allowed from one address. The next is free in 42 seconds, at ${secondsLater(60)}. An API key gives more: see /api/plans.`);
      clock.advance(42_000);
      expect(limitHeaders(await kit.request('GET', '/api/things'))).to.equal([30, 29, 60]);
    });

    it('let it write 10 times a minute, beside its reads [limits.public-writes]', async () => {
      expect(passed(await ask(12, 'POST', '/api/things'))).to.equal(10);
      expect(passed(await ask(32, 'GET', '/api/things'))).to.equal(30);
    });

    it('let it ask 120 times an hour in all, and a refused request takes from no window [limits.public-total]', async () => {
      let done = 0;
      for (let minute = 0; minute < 3; minute++) {
        done += passed(await ask(35, 'GET', '/api/things')) + passed(await ask(9, 'POST', '/api/things'));
        clock.advance(MINUTE);
      }
      expect(done).to.equal(117);
      expect(limitHeaders(await kit.request('GET', '/api/things'))).to.equal([120, 2, 3420]);
      expect(passed(await ask(4, 'GET', '/api/things'))).to.equal(2);
      const refused = await kit.request('GET', '/api/things');
      expect(limitHeaders(refused)).to.equal([120, 0, 3420]);
      expect(refused.body.detail).to.include('120 requests an hour');
      clock.advance(57 * MINUTE);
      expect(limitHeaders(await kit.request('GET', '/api/things'))).to.equal([30, 29, 60]);
    });

    it('report the window with the fewest requests left, and on a tie the one that ends later', async () => {
      for (let minute = 0; minute < 3; minute++) {
        await ask(30, 'GET', '/api/things');
        clock.advance(MINUTE);
      }
      expect(limitHeaders(await kit.request('GET', '/api/things'))).to.equal([120, 29, 3420]);
    });

    it('go by what a route says of itself, and by method where it says nothing', async () => {
      expect(limitHeaders(await kit.request('POST', '/api/search', { payload: {} }))).to.equal([30, 29, 60]);
      expect(limitHeaders(await kit.request('HEAD', '/api/things'))).to.equal([30, 28, 60]);
      expect(limitHeaders(await kit.request('DELETE', '/api/things'))).to.equal([10, 9, 60]);
      expect((await kit.request('GET', '/api/free')).headers).to.not.include('ratelimit-limit');
      expect((await kit.request('OPTIONS', '/api/things')).headers).to.not.include('ratelimit-limit');
      expect((await kit.request('GET', '/health')).headers).to.not.include('ratelimit-limit');
      expect(limitHeaders(await kit.request('GET', '/api/things'))[1]).to.equal(27);
    });

    it('are in the headers of every response of /api', async () => {
      const cases: [number, string, string, Record<string, string>?][] = [
        [200, 'GET', '/api/kept'], [200, 'GET', '/api/kept'], [304, 'GET', '/api/kept', { 'if-none-match': '*' }], [200, 'GET', '/api/raw'],
        [404, 'GET', '/api/nothing'], [401, 'GET', '/api/mine'], [401, 'GET', '/api/things', { 'x-api-key': 'wrong' }], [400, 'GET', '/api/things?no=1'],
        [400, 'GET', '/api/things', { 'x-request-id': 'a b' }], [400, 'GET', '/api/things', { 'x-api-key': 'a', authorization: 'b' }], [503, 'GET', '/api/broken'], [200, 'HEAD', '/api/kept'],
      ];
      let left = 30;
      for (const [status, method, path, headers] of cases) {
        const answer = await kit.request(method, path, { headers: headers ?? {} });
        expect([answer.status, ...limitHeaders(answer)], `${method} ${path}`).to.equal([status, 30, --left, 60]);
      }
      expect((await kit.request('PUT', '/api/things')).status).to.equal(405);
      expect(limitHeaders(await kit.request('POST', '/api/things', { payload: 'x', headers: { 'content-type': 'text/plain' } }))).to.equal([10, 8, 60]);
    });

    it('hold for an IPv4 address or a /64 of IPv6, and for no other address', async () => {
      expect(passed(await ask(31, 'GET', '/api/things', from('203.0.113.7')))).to.equal(30);
      expect(passed(await ask(1, 'GET', '/api/things', from('203.0.113.8')))).to.equal(1);
      expect(passed(await ask(30, 'GET', '/api/things', from('2001:db8:1:2::1')))).to.equal(30);
      expect(passed(await ask(1, 'GET', '/api/things', from('2001:db8:1:2:ffff::9')))).to.equal(0);
      expect(passed(await ask(1, 'GET', '/api/things', from('2001:db8:1:3::1')))).to.equal(1);
    });

    it('count a refused credential against its address, and never against an account', async () => {
      const statuses = await ask(32, 'GET', '/api/things', { 'x-api-key': 'key_' });
      expect([statuses.filter((status) => status === 401).length, statuses.filter((status) => status === 429).length]).to.equal([30, 2]);
      expect(limitHeaders(await kit.request('GET', '/api/things', { headers: { 'x-api-key': 'key_ada_free_1' } }))).to.equal([60, 59, 60]);
    });

    it('go by plan for an account, all its keys together, wherever it asks from', async () => {
      const key = (name: string, address: string) => ({ 'x-api-key': `key_ada_tiny_${name}`, ...from(address) });
      expect(passed(await ask(3, 'GET', '/api/things', key('one', '203.0.113.1')))).to.equal(3);
      expect(passed(await ask(3, 'POST', '/api/things', key('two', '203.0.113.2')))).to.equal(2);
      const refused = await kit.request('GET', '/api/things', { headers: key('three', '203.0.113.3') });
      expect(refused.body.detail).to.equal(`The plan tiny allows 5 requests a minute for all keys, tokens and sessions of an account together. The next is free in 60 seconds, at ${secondsLater(60)}. A larger plan allows more: see /api/plans.`);
      clock.advance(MINUTE);
      expect(limitHeaders(await kit.request('GET', '/api/things', { headers: key('one', '203.0.113.1') }))).to.equal([8, 2, 86_340]);
      expect(passed(await ask(4, 'GET', '/api/things', key('one', '203.0.113.1')))).to.equal(2);
      expect(passed(await ask(1, 'GET', '/api/things', { 'x-api-key': 'key_bob_tiny_1' }))).to.equal(1);
    });

    it('of a class that no plan raises recommend neither an API key nor a plan', async () => {
      for (const [whom, headers] of [['one address', {}], ['an account', { 'x-api-key': 'key_ada_tiny_1' }]] as const) {
        expect(passed(await ask(3, 'POST', '/api/reports', headers))).to.equal(2);
        const { body } = await kit.request('POST', '/api/reports', { payload: {}, headers });
        expect(body.detail).to.equal(`2 requests a minute are allowed to ${whom} for reporting problems. The next is free in 60 seconds, at ${secondsLater(60)}.`);
        expect(JSON.stringify(body)).to.not.contain('API key');
      }
    });

    it('give a larger plan its room at once', async () => {
      expect(passed(await ask(6, 'GET', '/api/things', { 'x-api-key': 'key_ada_tiny_1' }))).to.equal(5);
      expect(limitHeaders(await kit.request('GET', '/api/things', { headers: { 'x-api-key': 'key_ada_free_1' } }))).to.equal([60, 54, 60]);
    });

    it('reject no request for a day because the clock was a day ahead for a moment', async () => {
      const key = { 'x-api-key': 'key_ada_tiny_1' };
      expect(passed(await ask(2, 'GET', '/api/things'))).to.equal(2);
      clock.advance(DAY);
      expect(passed(await ask(31, 'GET', '/api/things'))).to.equal(30);
      expect(passed(await ask(6, 'GET', '/api/things', key))).to.equal(5);
      clock.advance(-DAY);
      expect(limitHeaders(await kit.request('GET', '/api/things'))).to.equal([30, 29, 60]);
      expect(passed(await ask(30, 'GET', '/api/things'))).to.equal(29);
      expect(limitHeaders(await kit.request('GET', '/api/things', { headers: key }))).to.equal([5, 4, 60]);
    });

    it('are apart for pages, assets and signing in, which carry no headers until they refuse', async () => {
      await ask(31, 'GET', '/api/things');
      const page = await kit.request('GET', '/page');
      expect([page.status, page.headers['ratelimit-limit']]).to.equal([200, undefined]);
      expect(passed(await ask(32, 'POST', '/sign-in'))).to.equal(30);
      const refused = await kit.request('POST', '/sign-in', { payload: {}, headers: { accept: 'text/html' } });
      expect([refused.status, refused.headers['retry-after'], refused.headers['ratelimit-limit']]).to.equal([429, '60', '30']);
      expect(refused.text).to.include(['<html', '30 requests a minute are allowed to one address for signing in']);
      expect((await kit.request('GET', '/assets/nothing.css')).status).to.equal(404);
      expect((await kit.request('GET', '/page')).status).to.equal(200);
    });

    it('leave pages open to an account whose plan is used up', async () => {
      await ask(6, 'GET', '/api/things', { 'x-api-key': 'key_ada_tiny_1' });
      expect((await kit.request('GET', '/page', { headers: { cookie: 'session=key_ada_tiny_1' } })).status).to.equal(200);
    });
  });

  describe(`Limits of pages on ${database}`, () => {
    it('count the contracts, the reference and the metrics', async () => {
      const kit = await limitedServer({ database, clock: stoppedClock(), config: { metrics: { enabled: true }, http: { port: 0, trusted_proxies: ['loopback'] }, plugins: { ratelimit: { patience_ms: 10_000, pages: { requests_per_minute: 2 } } } } });
      try {
        for (const path of ['/openapi.json', '/asyncapi.json', '/docs', '/problems', '/metrics']) {
          const headers = from(`198.51.100.${path.length}`);
          const statuses = [];
          for (let i = 0; i < 3; i++) statuses.push((await kit.request('GET', path, { headers })).status);
          expect(statuses, path).to.equal([200, 200, 429]);
          expect((await kit.request('GET', '/health', { headers })).status).to.equal(200);
        }
      } finally {
        await kit.close();
      }
    });
  });
}
