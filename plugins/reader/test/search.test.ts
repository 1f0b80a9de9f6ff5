import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin, newId } from 'civic';
import { testDatabases, testServer, type TestServer } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { pruneAbove, pruneUnarchived } from '../search/store.ts';
import type { ReaderService } from '../types.ts';
import { openSite, text, type Site } from './site.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

for (const database of testDatabases()) {
  describe(`the index of the archive on ${database}`, { timeout: 60_000 }, () => {
    let kit: TestServer;
    let reader: ReaderService;
    let site: Site;
    const [ours, theirs] = [newId(), newId()];

    const user = definePlugin({ name: 'listener', summary: 'Searches for tests', needs: ['reader'], register: (_server, civic) => ({ async start() { reader = civic.service('reader'); } }) });

    async function add(path: string, html: string, workspace_id: string | null, isParsed = true): Promise<string> {
      site.routes[path] = text(html);
      const { content, final_url, at } = await reader.read({ url: site.url + path, purpose: 'test' });
      const document = await reader.document({ url: final_url, content_type: 'text/html', body: content!.body });
      await kit.db.write((tx) => reader.index(tx, { workspace_id, url: final_url, content_hash: content!.hash, read_at: at, ...(isParsed && { document }) }));
      return content!.hash;
    }
    const find = async (workspace_id: string | null, ...queries: string[]) => (await reader.find(kit.db.read, { workspace_id, queries, limit: 10 })).map(({ url }) => new URL(url).pathname);

    before(async () => {
      kit = await testServer({ database, plugins: ['reader', user], config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { reader: { delay_seconds: 0 } } } });
      site = await openSite();
      await add('/union', '<title>Tenants Únion</title><main><p>Renters of Gladstone organize for fair rents.</p></main>', null);
      await add('/bakery', '<title>Bakery</title><main><p>Bread of Gladstone, every day.</p></main>', null);
      await add('/ours', '<title>Our page</title><main><p>Tenants of Gladstone.</p></main>', ours);
      await add('/theirs', '<title>Their page</title><main><p>Tenants of Gladstone.</p></main>', theirs);
    });
    after(async () => {
      await kit.close();
      await site.close();
    });

    it('finds pages that have all words of a query, those of most queries first', async () => {
      expect(await find(null, 'TENANTS union gladstone')).to.equal(['/union']);
      expect((await find(null, 'gladstone', 'tenants gladstone', 'rents')).slice(0, 2)).to.equal(['/union', '/bakery']);
      expect(await find(null, 'tenants bakery')).to.equal([]);
      expect(await find(null, '???')).to.equal([]);
    });

    it('finds pages that were read for a workspace in that workspace only', async () => {
      expect((await find(ours, 'tenants gladstone')).sort()).to.equal(['/ours', '/union']);
      expect((await find(theirs, 'tenants gladstone')).sort()).to.equal(['/theirs', '/union']);
      expect(await find(null, 'tenants gladstone')).to.equal(['/union']);
    });

    it('replaces what it has of an address, and parses what its caller did not', async () => {
      await add('/bakery', '<title>Bakery</title><main><p>Closed for good.</p></main>', null);
      expect(await find(null, 'bread')).to.equal([]);
      expect(await find(null, 'closed')).to.equal(['/bakery']);
      await add('/later', '<title>Later</title><main><p>Zucchini growers.</p></main>', null, false);
      expect(await find(null, 'zucchini')).to.equal([]);
      await kit.db.write((tx) => kit.composition.jobs.of('reader').enqueue(tx, 'reader.index', {}));
      for (let waited = 0; waited < 100 && (await find(null, 'zucchini')).length === 0; waited++) await sleep(50);
      expect(await find(null, 'zucchini')).to.equal(['/later']);
    });

    it('loses pages whose content is pruned, and the oldest above its size', async () => {
      const hash = await add('/gone', '<title>Gone</title><main><p>Vanishing act.</p></main>', null);
      await kit.db.write((tx) => tx('reader_contents').where({ hash }).delete());
      expect(await kit.db.write(pruneUnarchived)).to.equal(1);
      expect(await find(null, 'vanishing')).to.equal([]);
      await kit.db.write((tx) => tx('reader_indexed').where({ url: `${site.url}/union` }).update({ read_at: '2020-01-01T00:00:00.000Z' }));
      expect(await kit.db.write((tx) => pruneAbove(tx, 4))).to.equal(1);
      expect(await find(ours, 'tenants gladstone')).to.equal(['/ours']);
      await kit.db.write((tx) => reader.deleteIndex(tx, theirs));
      expect(await find(theirs, 'tenants gladstone')).to.equal([]);
    });
  });
}
