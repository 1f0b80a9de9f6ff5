import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases, testServer, type TestServer } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSite, type Site } from './site.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

for (const database of testDatabases()) {
  describe(`noise of watched sources on ${database}`, { timeout: 120_000 }, () => {
    const clock = stoppedClock('2026-02-01T12:00:00.000Z');
    const admin = { role: 'admin' as const, scope: ['workspace:read', 'workspace:write'] };
    let kit: TestServer;
    let site: Site;
    let id: string;

    const path = () => `/api/watched-sources/${id}?visibility=public`;
    const source = async () => (await kit.request('GET', path(), { as: admin })).body;
    const show = (visitors: number) => { site.pages['/park'] = `<h1>City park</h1><p>The park is open each day from dawn to dusk, and dogs are welcome.</p><p>Visitors: ${visitors}, as of May ${visitors % 28}</p>`; };
    /** Lets the next read happen, some days late. */
    async function nextRead(days = 0): Promise<void> {
      const { last_read_at, next_read_at } = await source();
      if (last_read_at !== null) clock.set(new Date(Date.parse(next_read_at) + days * 24 * 3600_000).toISOString());
      for (let waited = 0; waited < 400 && (await source()).last_read_at === last_read_at; waited++) await sleep(50);
    }

    before(async () => {
      site = await openSite();
      kit = await testServer({
        database, clock, plugins: ['accounts', 'directory', 'firehose', 'reader', 'ingest'],
        config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { reader: { delay_seconds: 0 } } },
      });
    });
    after(async () => {
      await kit.close();
      await site.close();
    });

    it('is reported when nearly every read finds a change, and when nothing selects the signals', async () => {
      show(998);
      id = (await kit.request('POST', '/api/watched-sources', { as: admin, payload: { url: `${site.url}/park`, visibility: 'public' } })).body.id;
      await nextRead();
      expect((await source()).notices).to.equal(['no_audience']);
      for (let read = 1; read <= 8; read++) {
        show(998 + read);
        await nextRead();
      }
      expect((await kit.request('PATCH', path(), { as: admin, payload: { issues: ['housing_affordability'] } })).body.notices).to.equal(['changes_often']);
    });

    it('does not come from one address that two people add at once', async () => {
      site.pages['/twice'] = '<h1>Twice</h1><p>A page that two reviewers find at the same time, and add both.</p>';
      const add = () => kit.request('POST', '/api/watched-sources', { as: admin, payload: { url: `${site.url}/twice`, visibility: 'public', test: false } });
      expect((await Promise.all([add(), add(), add(), add()])).map(({ status }) => status).toSorted()).to.equal([201, 409, 409, 409]);
    });

    it('ends when the passage is ignored, whatever its numbers', async () => {
      await kit.request('PATCH', path(), { as: admin, payload: { ignored: ['Visitors: 17, as of May 3'] } });
      const { last_change_at } = await source();
      for (const visitors of [1200, 3]) {
        show(visitors);
        await nextRead();
      }
      expect((await source()).last_change_at).to.equal(last_change_at);
      site.pages['/park'] = (site.pages['/park'] as string).replace('dogs are welcome', 'dogs stay outside');
      await nextRead();
      expect((await source()).last_change_at).to.not.equal(last_change_at);
      expect((await source()).notices).to.equal(['changes_often']);
      for (let read = 0; read < 2; read++) await nextRead();
      expect((await source()).notices).to.equal([]);
    });

    it('is not what a source repeats: posts of the past are forgotten once they are not listed, and never new again', async () => {
      const post = (name: string) => `<item><guid>${name}</guid><title>Post ${name}</title><pubDate>Tue, 20 Jan 2026 10:00:00 GMT</pubDate></item>`;
      const list = (...names: string[]) => { site.pages['/feed'] = `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>${names.map(post).join('')}</channel></rss>`; };
      const stored = async () => (await kit.db.read('ingest_rows').join('ingest_sources', 'ingest_sources.key', 'source_key').where('ingest_sources.id', id).orderBy('row_key').pluck('row_key')) as string[];
      const last = async () => (await kit.request('GET', `/api/watched-sources/${id}/history?visibility=public`, { as: admin })).body.data[0];
      list('a', 'b', 'c');
      id = (await kit.request('POST', '/api/watched-sources', { as: admin, payload: { url: `${site.url}/feed`, visibility: 'public' } })).body.id;
      await nextRead();
      for (const name of ['d', 'e']) {
        list('a', name);
        await nextRead(60);
      }
      expect(await stored()).to.equal(['a', 'd', 'e']);
      list('a', 'b', 'e');
      await nextRead();
      expect(await last()).to.include({ outcome: 'read', rows: 3, signals: 0 });
    });

    if (database !== 'sqlite') return;

    it('is not what another place changes: the times of its zone replace the former ones, and nothing is moved, new or cancelled', async () => {
      const meeting = (title: string, day: number) => ({ title, start: `2026-09-${day}T20:00:00`, location: 'City Hall' });
      const meetings = [meeting('Board', 10), meeting('Board', 17), meeting('Zoning', 12)];
      site.pages['/events.json'] = JSON.stringify(meetings);
      id = (await kit.request('POST', '/api/watched-sources', { as: admin, payload: { url: `${site.url}/events.json`, visibility: 'public' } })).body.id;
      const history = async () => (await kit.request('GET', `/api/watched-sources/${id}/history?visibility=public`, { as: admin })).body;
      const signals = async () => (await kit.request('GET', `/api/watched-sources/${id}/feed.json`)).body.items.map(({ _civic: { signal } }: { _civic: { signal: { type: string; title: string; occurred_at: string } } }) => [signal.type, signal.title, signal.occurred_at]);
      await nextRead();
      // A new meeting of the same read is published.
      site.pages['/events.json'] = JSON.stringify([...meetings, meeting('Parks', 20)]);
      expect((await kit.request('PATCH', path(), { as: admin, payload: { place: 'st-louis,missouri' } })).status).to.equal(200);
      for (let waited = 0; waited < 400 && (await history()).total < 2; waited++) await sleep(50);
      expect((await history()).data[0]).to.include({ rows: 4, added: 1, changed: 3, gone: 0, signals: 4 });
      for (let waited = 0; waited < 100 && (await signals()).length < 4; waited++) await sleep(50);
      expect((await signals()).sort()).to.equal([['public_meeting', 'Board', '2026-09-11T01:00:00.000Z'], ['public_meeting', 'Board', '2026-09-18T01:00:00.000Z'], ['public_meeting', 'Parks', '2026-09-21T01:00:00.000Z'], ['public_meeting', 'Zoning', '2026-09-13T01:00:00.000Z']]);
      await nextRead();
      expect((await history()).data[0]).to.include({ outcome: 'unchanged', added: 0, changed: 0, gone: 0 });
    });
  });
}
