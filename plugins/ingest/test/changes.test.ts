import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { newId } from 'civic';
import { stoppedClock, testDatabases, testServer, type TestServer } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { classOf } from '../sources/class.ts';
import { openSite, type Site } from './site.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PATH = '/api/watched-sources';
const page = (name: string) => `<title>${name}</title><p>The page ${name} has a text that is long enough to be watched by the plugin.</p>`;

for (const database of testDatabases()) {
  describe(`changes of watched sources on ${database}`, { timeout: 120_000 }, () => {
    const clock = stoppedClock('2026-02-01T12:00:00.000Z');
    let kit: TestServer;
    let site: Site;

    const member = { role: 'user' as const, plan: 'team', workspace_id: newId(), scope: ['workspace:read', 'workspace:write'] };
    const reviewer = { role: 'reviewer' as const, scope: ['workspace:read', 'workspace:write'] };
    const call = (method: string, path: string, payload?: unknown, as: object = member) => kit.request(method, path, { as, ...(payload !== undefined && { payload }) });
    const add = async (input: object, as: object = member) => (await call('POST', PATH, { test: false, ...input }, as)).body as { id: string };
    async function until(condition: () => Promise<boolean>): Promise<void> {
      for (let waited = 0; !(await condition()); waited++) {
        if (waited > 200) throw new Error(`Waited in vain for: ${condition}`);
        await sleep(50);
      }
    }

    before(async () => {
      site = await openSite({ '/one': page('One'), '/two': page('Two'), '/three': page('Three') });
      kit = await testServer({
        database, clock, plugins: ['accounts', 'directory', 'firehose', 'reader', 'ingest'],
        config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { firehose: { anonymous: true }, reader: { delay_seconds: 0 } } },
      });
    });
    after(async () => {
      await kit.close();
      await site.close();
    });

    it('to another address during a read are read at once, not after a whole cadence', async () => {
      let release: () => void = () => undefined;
      let isAsked = false;
      site.pages['/slow'] = (_request, response) => {
        isAsked = true;
        release = () => {
          site.pages['/slow'] = page('Slow');
          response.writeHead(200, { 'content-type': 'text/html' }).end(page('Slow'));
        };
      };
      const { id } = await add({ url: `${site.url}/slow`, cadence_seconds: 86_400 });
      await until(async () => isAsked);
      expect((await call('PATCH', `${PATH}/${id}`, { url: `${site.url}/one`, test: false })).status).to.equal(200);
      // Until the time that the change set was taken.
      await sleep(300);
      release();
      await until(async () => (await call('GET', `${PATH}/${id}`)).body.last_success_at !== null);
      expect((await call('GET', `${PATH}/${id}`)).body).to.include({ url: `${site.url}/one`, platform: 'page', name: 'One' });
      const { data } = (await call('GET', `${PATH}/${id}/history`)).body;
      expect(data.map(({ outcome }: { outcome: string }) => outcome)).to.equal(['read']);
    });

    it('name a source without a title by its whole address, since one host has many', async () => {
      site.pages['/v1/testville/events'] = '[]';
      const { id } = await add({ url: `${site.url}/v1/testville/events` });
      expect((await call('GET', `${PATH}/${id}`)).body.name).to.equal(`${new URL(site.url).host}/v1/testville/events`);
    });

    it('to an address that another source watches are 409 with its id', async () => {
      const { id: known } = await add({ url: `${site.url}/two` });
      const { id } = await add({ url: `${site.url}/three` });
      const { status, body } = await call('PATCH', `${PATH}/${id}`, { url: `${site.url}/two` });
      expect(status).to.equal(409);
      expect(body).to.include({ code: 'source_watched', source_id: known });
      expect((await call('GET', `${PATH}/${id}`)).body.url).to.equal(`${site.url}/three`);
      // Its own address is no other one, and another workspace does not count.
      expect((await call('PATCH', `${PATH}/${id}`, { url: `${site.url}/three` })).status).to.equal(200);
      const elsewhere = { ...member, workspace_id: newId() };
      const { id: foreign } = await add({ url: `${site.url}/foreign` }, elsewhere);
      expect((await call('PATCH', `${PATH}/${foreign}`, { url: `${site.url}/two` }, elsewhere)).status).to.equal(200);
    });

    it('to an address that cannot be read are 400 as for a new source, and change nothing unless it is not to be tested', async () => {
      const { id } = await add({ url: `${site.url}/kept`, name: 'Kept' });
      const { status, body } = await call('PATCH', `${PATH}/${id}`, { url: `${site.url}/dead`, name: 'Dead' });
      expect([status, body.code, body.detail]).to.equal([400, 'source_unreadable', `${new URL(site.url).host} responded with the status 404. Find where the page is now, and watch that address.`]);
      expect((await call('GET', `${PATH}/${id}`)).body).to.include({ url: `${site.url}/kept`, name: 'Kept' });
      expect((await call('PATCH', `${PATH}/${id}`, { url: `${site.url}/dead`, test: false })).body).to.include({ url: `${site.url}/dead`, platform: null });
    });

    it('with a place that does not exist are 400, with the nearest places', async () => {
      const { id } = await add({ url: `${site.url}/place` });
      for (const { status, body } of [await call('PATCH', `${PATH}/${id}`, { place: 'St. Louis' }), await call('POST', PATH, { url: `${site.url}/other`, place: 'St. Louis', test: false })]) {
        expect(status).to.equal(400);
        expect(body.code).to.equal('invalid_request');
        expect(body.errors[0].pointer).to.equal('/place');
        expect(body.errors[0].detail).to.contain('st-louis,missouri');
      }
      const { status, body } = await call('POST', PATH, { url: `${site.url}/missing` });
      expect([status, body.code]).to.equal([400, 'source_unreadable']);
    });

    it('of the class count for later signals, and without one the platform and the address decide', async () => {
      for (const [platform, url, own, expected] of [
        ['icalendar', 'https://friends.example/a.ics', null, 'organization_update'], ['icalendar', 'https://www.city.gov/a.ics', null, 'government_agenda'], ['icalendar', 'https://city.granicus.com/a.ics', null, 'government_agenda'],
        ['feed', 'https://ci.troy.mo.us/rss', null, 'government_record'], ['feed', 'https://gov.example/rss', null, 'organization_update'], ['feed', 'https://daily.example/rss', 'news', 'news'], ['page', 'https://council.gov.uk/', null, 'government_record'],
        ['grants', 'https://data.example/grants', null, 'grant_notice'], ['legistar_api', 'https://webapi.legistar.com/v1/x/events', null, 'government_agenda'], ['legistar_api', 'https://webapi.legistar.com/v1/x/matters', null, 'government_record'],
      ] as const) expect(classOf({ platform, url, source_class: own }), url).to.equal(expected);
      const { id } = await add({ url: `${site.url}/class`, source_class: 'news' });
      expect((await call('GET', `${PATH}/${id}`)).body.source_class).to.equal('news');
      expect((await call('PATCH', `${PATH}/${id}`, { source_class: null })).body.source_class).to.be.null();
      expect((await call('PATCH', `${PATH}/${id}`, { source_class: 'directory' })).status).to.equal(400);
      site.pages['/news.xml'] = '<rss version="2.0"><channel><title>Daily</title><item><title>Library opens</title><link>https://daily.example/1</link><guid>1</guid><pubDate>Sun, 01 Feb 2026 10:00:00 GMT</pubDate></item></channel></rss>';
      await add({ url: `${site.url}/news.xml`, source_class: 'news', visibility: 'public' }, reviewer);
      const signals = async () => (await kit.request('GET', '/api/firehose?visibility=public&source_class=news')).body.signals as { title: string }[];
      await until(async () => (await signals()).length > 0);
      expect((await signals())[0]!.title).to.equal('Library opens');
    });

    it('and lists are paged with the cursor alone, which has the filters', async () => {
      for (const index of [1, 2, 3]) await add({ url: `${site.url}/public-${index}`, visibility: 'public', tags: ['paged'] }, reviewer);
      await add({ url: `${site.url}/public-4`, visibility: 'public' }, reviewer);
      const next = ({ headers }: { headers: Record<string, unknown> }) => { const url = new URL(/<(.+)>; rel="next"/.exec(String(headers['link']))![1]!); return url.pathname + url.search; };
      const first = await call('GET', `${PATH}?visibility=public&tag=paged&limit=2`, undefined, reviewer);
      expect(first.body.data).to.have.length(2);
      const second = await call('GET', next(first), undefined, reviewer);
      expect(second.status).to.equal(200);
      expect(second.body.data.map(({ url }: { url: string }) => url)).to.equal([`${site.url}/public-1`]);
      const [{ id }] = first.body.data;
      await until(async () => (await call('GET', `${PATH}/${id}/history?visibility=public`, undefined, reviewer)).body.total > 0);
      await call('POST', `${PATH}/${id}/pause?visibility=public`, { paused: true }, reviewer);
      await call('POST', `${PATH}/${id}/pause?visibility=public`, { paused: false }, reviewer);
      await until(async () => (await call('GET', `${PATH}/${id}/history?visibility=public`, undefined, reviewer)).body.total > 1);
      const reads = await call('GET', `${PATH}/${id}/history?visibility=public&limit=1`, undefined, reviewer);
      const older = await call('GET', next(reads), undefined, reviewer);
      expect(older.status).to.equal(200);
      expect(older.body.data).to.have.length(1);
    });
  });
}
