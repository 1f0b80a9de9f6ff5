import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { slowness, testDatabases, testServer, type TestServer } from 'civic/testing';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { until } from '../../core/test/wait.ts';
import { listen, stop } from '../../core/http/test/loopback.ts';
import { missingBrowser } from '../support/browser.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SHELL = '<!DOCTYPE html><title>Library board</title><div id="app"></div><script src="/app.js"></script>';
const APP = 'fetch("/news.json").then((response) => response.json()).then((lines) => { app.innerHTML = lines.map((line) => `<p>${line}</p>`).join(""); });';
const admin: { role: 'admin'; scope: string[] } = { role: 'admin', scope: ['workspace:read', 'workspace:write'] };

for (const database of testDatabases()) {
  describe(`a watched page that needs a browser on ${database}`, { skip: missingBrowser() !== null, timeout: 120_000 * slowness }, () => {
    let server: Server;
    let url: string;
    let news = Array.from({ length: 12 }, (_, index) => `The library board has published its notice number ${index + 1}.`);
    let hasApp = true;

    const open = (browser: object): Promise<TestServer> => testServer({
      database, plugins: ['accounts', 'directory', 'firehose', 'reader', 'ingest'],
      config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { firehose: { anonymous: true }, reader: { delay_seconds: 0, browser_sandbox: false, browser_seconds: 120, ...browser } } },
    });
    const respond = (request: IncomingMessage, response: ServerResponse) => {
      const body = { '/page': SHELL, '/app.js': hasApp ? APP : '', '/news.json': JSON.stringify(news) }[request.url!];
      if (body === undefined) return response.writeHead(404).end();
      response.writeHead(200, { 'content-type': request.url === '/page' ? 'text/html' : request.url === '/app.js' ? 'text/javascript' : 'application/json' }).end(body);
    };

    before(async () => {
      const opened = await listen(respond);
      ({ server } = opened);
      url = `http://127.0.0.1:${opened.port}/page`;
    });
    after(() => stop(server));

    it('is watched as its scripts show it; its health and history state that, and it fails rather than report an empty page', async () => {
      const kit = await open({});
      try {
        const { status, body: created } = await kit.request('POST', '/api/watched-sources', { as: admin, payload: { url, visibility: 'public', name: 'Library board', platform: 'page', test: false } });
        expect(status, JSON.stringify(created)).to.equal(201);
        expect(created).to.include({ platform: 'page', name: 'Library board' });
        const path = `/api/watched-sources/${created.id}`;
        const get = async (more = '') => (await kit.request('GET', `${path}${more}?visibility=public`, { as: admin })).body;
        const again = async () => {
          const { total } = await get('/history');
          for (const paused of [true, false]) await kit.request('POST', `${path}/pause?visibility=public`, { as: admin, payload: { paused } });
          await until(async () => (await get('/history')).total > total);
          return (await get('/history')).data[0];
        };
        await until(async () => (await get('/history')).total === 1);
        expect((await get()).health).to.include({ status: 'healthy', reason: null, via: 'browser' });
        news = [...news, 'The library board moves to the old mill.'];
        expect(await again()).to.include({ outcome: 'read', changed: 1, via: 'browser' });
        await until(async () => (await kit.request('GET', '/api/firehose?visibility=public')).text.includes('moves to the old mill'));
        hasApp = false;
        const failed = await again();
        expect(failed).to.include({ outcome: 'failed', signals: 0, via: 'browser' });
        expect(failed.detail).to.contain('The page has almost no text, even in a browser.');
      } finally {
        hasApp = true;
        await kit.close();
      }
    });

    it('is not watched without a browser, and the reason names the fix', async () => {
      const kit = await open({ browser_fallback_enabled: false });
      try {
        const { body } = await kit.request('POST', '/api/watched-sources', { as: admin, payload: { url, visibility: 'public' } });
        expect(body).to.include({ status: 400, code: 'source_unreadable' });
        expect(body.detail).to.contain('ask the operator of this instance to install Chromium');
      } finally {
        await kit.close();
      }
    });
  });
}
