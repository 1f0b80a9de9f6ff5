import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { slowness, testDatabases, type TestServer } from 'civic/testing';
import { burst, count, limitedServer } from './kit.ts';

export const notQuick = 'it reaches limits with large data';
export const lab = Lab.script();
const { describe, it } = lab;

const AT_ONCE = 200;
/** This machine may be busy; that the store is given up after 50 ms has a test of its own. */
const patient = { plugins: { ratelimit: { patience_ms: 10_000 } } };

async function withServer(options: Parameters<typeof limitedServer>[0], use: (kit: TestServer) => Promise<void>): Promise<void> {
  const kit = await limitedServer({ listen: true, ...options });
  try {
    await use(kit);
  } finally {
    await kit.close();
  }
}

for (const database of testDatabases()) {
  describe(`Two hundred requests at once on ${database}`, { timeout: 60_000 }, () => {
    it('let exactly 30 through, each told another number of those left, and 60 of an account; a forged X-Forwarded-For gains nothing', () => withServer({ database, config: patient }, async ({ url }) => {
      const seen = await burst([url], AT_ONCE, '/api/things', (index) => ({ 'x-forwarded-for': `198.51.100.${index}` }));
      expect([count(seen, 200), count(seen, 429)]).to.equal([30, AT_ONCE - 30]);
      const left = seen.filter(({ status }) => status === 200).map(({ remaining }) => remaining).sort((a, b) => a - b);
      expect(left).to.equal(Array.from({ length: 30 }, (_, index) => index));
      expect(count(await burst([url], AT_ONCE, '/api/things', (index) => ({ 'x-api-key': `key_ada_free_${index}` })), 200)).to.equal(60);
    }));

    it('gain nothing by a forged X-Forwarded-For behind a trusted proxy', () => withServer({ database, config: { ...patient, http: { port: 0, trusted_proxies: ['loopback'] } } }, async ({ url }) => {
      // The proxy appends the address it saw; what stands in front of it was sent by the client.
      expect(count(await burst([url], AT_ONCE, '/api/things', (index) => ({ 'x-forwarded-for': `198.51.100.${index}, 203.0.113.9` })), 200)).to.equal(30);
    }));
  });
}

if (testDatabases().includes('postgres')) {
  describe('Three nodes on one Postgres', { timeout: 120_000 }, () => {
    async function withNodes(config: Record<string, unknown>, use: (nodes: TestServer[]) => Promise<void>): Promise<void> {
      const first = await limitedServer({ database: 'postgres', listen: true, config });
      const nodes = [first];
      try {
        const database = { url: first.composition.config.database.url };
        for (let i = 0; i < 2; i++) nodes.push(await limitedServer({ listen: true, config: { ...config, database } }));
        await use(nodes);
      } finally {
        for (const node of nodes.reverse()) await node.close();
      }
    }

    it('together let exactly 30 of 600 requests through, and 60 of an account', () => withNodes(patient, async (nodes) => {
      const urls = nodes.map(({ url }) => url);
      const seen = await burst(urls, AT_ONCE);
      expect([count(seen, 200), count(seen, 429)]).to.equal([30, 3 * AT_ONCE - 30]);
      expect(new Set(seen.filter(({ status }) => status === 200).map(({ remaining }) => remaining)).size).to.equal(30);
      expect(count(await burst(urls, 100, '/api/things', () => ({ 'x-api-key': 'key_ada_free_1' })), 200)).to.equal(60);
    }));

    it('never wait for each other in a circle, however the addresses mix', () => withNodes({ ...patient, http: { port: 0, trusted_proxies: ['loopback'] } }, async (nodes) => {
      const seen = await burst(nodes.map(({ url }) => url), AT_ONCE, '/api/things', (index) => ({ 'x-forwarded-for': `203.0.113.${index % 5}` }));
      expect([count(seen, 200), count(seen, 429)]).to.equal([150, 450]);
    }));

    it('decide each by itself when Postgres is silent for 50 ms, say so in a metric, and share again afterwards', () => withNodes({ metrics: { enabled: true } }, async (nodes) => {
      const [first] = nodes as [TestServer];
      const metric = async () => Number(/^civic_ratelimit_local_decisions_total (\d+)/m.exec((await first.request('GET', '/metrics')).text)![1]);
      await burst([first.url], 1);
      const before = await metric();
      const lock = await first.db.read.transaction();
      await lock.raw('lock table ratelimit_counters in access exclusive mode');
      const since = performance.now();
      expect(count(await burst([first.url], 10), 200)).to.equal(10);
      expect(performance.now() - since).to.be.at.least(45).and.to.be.below(3000 * slowness);
      // The request for the metrics is one of them.
      expect(await metric() - before).to.equal(11);
      expect(count(await burst([first.url], 40), 200)).to.be.between(15, 30);
      await lock.rollback();
      const isShared = async () => {
        const before = await metric();
        await burst([first.url], 1, '/api/things', () => ({ 'x-api-key': 'key_ada_free_1' }));
        return await metric() === before;
      };
      for (const end = performance.now() + 10_000; !await isShared();) expect(performance.now()).to.be.below(end);
    }));
  });
} else {
  describe('Nodes', () => {
    it('share one Postgres', { skip: true }, () => undefined);
  });
}
