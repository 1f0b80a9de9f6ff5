import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import Joi from 'joi';
import { definePlugin } from '../../plugin.ts';
import { testServer, type TestResponse, type TestServer } from '../../testing.ts';
import { formOptions } from '../forms.ts';
import { readyAnswers } from '../ready.ts';
import { pagePath } from '../state.ts';
import { sendRaw } from './fixture.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const internal = { plugins: { civic: { internal: true } } };
const BROWSER = { accept: 'text/html' };
const FORM = { ...BROWSER, 'content-type': 'application/x-www-form-urlencoded' };

const birds = definePlugin({
  name: 'birds',
  summary: 'Pages, files and a form',
  paths: { '/birds': { audience: 'people' }, '/robots.txt': { audience: 'people', languages: false }, '/feeder': { audience: 'programs' } },
  register(server, civic) {
    const cache = readyAnswers({ maxBytes: 1_000_000, now: () => civic.clock.now() });
    let made = 0;
    server.route([
      { method: 'GET', path: '/birds', options: internal, handler: (request, h) => h.view('problems', { here_is: request.path, canonical: '/birds' }) },
      { method: 'GET', path: '/birds/path', options: internal, handler: (request) => ({ path: request.path, search: request.url.search, language: request.civic.language }) },
      { method: 'POST', path: '/birds', options: formOptions(), handler: (request, h) => h.redirect(pagePath(request, `${String((request.payload as { to: string }).to)}`)).code(303) },
      { method: 'POST', path: '/birds/wrong', options: formOptions(), handler: (_request, h) => h.view('problems').code(400) },
      { method: 'GET', path: '/robots.txt', options: internal, handler: (_request, h) => h.view('problems') },
      { method: 'GET', path: '/feeder', options: internal, handler: () => 'seeds' },
      {
        method: 'GET', path: '/birds/cached', options: { ...internal, ext: { onPostAuth: { method: cache.hit } } },
        handler: (request, h) => cache.answer(request, h, 'birds', async () => ({ etag: `"${made}"`, type: 'text/plain', body: `${request.civic.language} ${made++}` })),
      },
      {
        method: 'GET', path: '/api/birds', options: { description: 'Birds', validate: { query: Joi.object({}) }, response: { schema: Joi.string() }, ext: { onPostAuth: { method: cache.hit } } },
        handler: (request, h) => cache.answer(request, h, 'birds', async () => ({ etag: `"${made}"`, body: JSON.stringify(String(made++)) })),
      },
    ]);
  },
});

for (const base of ['', '/sub']) {
  describe(`A language in the address${base && ', below a path'}`, () => {
    let kit: TestServer;
    before(async () => { kit = await testServer({ plugins: [birds], config: { public_url: `https://civic.example${base}` } }); });
    after(() => kit.close());

    const get = (path: string, headers: Record<string, string> = {}): Promise<TestResponse> => kit.request('GET', path, { headers: { ...BROWSER, ...headers } });

    it('decides, whatever the browser prefers, and caches need no Accept-Language', async () => {
      for (const path of ['/es', '/es/', '/es/problems', `${base}/es/problems`]) {
        const { headers, status, text } = await get(path, { 'accept-language': 'en' });
        expect([status, headers['content-language']], path).to.equal([200, 'es']);
        expect(text, path).to.contain('<html lang="es">');
        expect(headers['vary'], path).to.not.contain('language');
      }
      expect((await get('/en/problems', { 'accept-language': 'es' })).text).to.contain('<html lang="en">');
    });

    it('stays in links to pages, and is in no other link', async () => {
      const { text } = await get('/es/');
      expect(text).to.contain([`href="${base}/es/docs"`, `href="${base}/es/problems"`, `href="${base}/es/"`, `href="${base}/openapi.json"`, `href="${base}/health"`]);
      expect(text).to.not.match(/\/es\/(assets|openapi|asyncapi|health)/);
      expect([...text.matchAll(/(?:href|src|action)="([^"]*)"/g)].map((match) => match[1]!).filter((link) => !link.startsWith(`${base}/`) && !link.startsWith('#') && !link.startsWith('https://civic.example'))).to.equal([]);
      expect((await get('/es/docs')).text).to.contain([`href="${base}/es/docs/core"`, `href="${base}/openapi.json"`]);
      expect((await get('/es/docs/core')).text).to.contain([`href="${base}/es/problems/bad_request"`, `action="${base}/docs/try/getHealth"`]);
      expect((await get('/docs/core')).text).to.contain(`href="${base}/problems/bad_request"`);
    });

    it('is not looked for in a malformed request', async () => {
      const served = await testServer({ plugins: [birds], listen: true, config: { public_url: `https://civic.example${base}` } });
      for (const [target, host] of [['http://%25ff/birds', 'x'], ['/birds', 'a b']]) {
        const text = await sendRaw(served.server, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`);
        expect(text, target).to.startWith('HTTP/1.1 400').and.to.contain('<html');
      }
      await served.close();
    });

    it('is not part of the path that routes see, and keeps the query', async () => {
      expect((await get('/es/birds/path?a=1&b=%20')).body).to.equal({ path: '/birds/path', search: '?a=1&b=%20', language: 'es' });
      expect((await get('/birds/path?a=1', { 'accept-language': 'es' })).body).to.equal({ path: '/birds/path', search: '?a=1', language: 'es' });
    });

    it('stays when a slash at the end of the address of a page is removed', async () => {
      for (const [path, page] of [['/es/birds/', '/es/birds'], ['/birds/?a=1&b=%2F', '/birds?a=1&b=%2F'], ['/birds/path/', '/birds/path']]) {
        const { headers, status } = await get(path!);
        expect([status, headers['location'], headers['cache-control']], path).to.equal([301, base + page!, 'no-cache']);
      }
      for (const path of ['/nothing/', '/birds/nothing/', '/birds//', '//birds/', '/feeder/', '/api/birds/']) expect((await get(path)).status, path).to.equal(404);
      expect((await kit.request('DELETE', '/birds/')).status).to.equal(404);
    });

    it('is only for pages: files, the API and paths of programs are not there', async () => {
      const asset = /assets\/style[^"]+/.exec((await get('/')).text)![0];
      for (const path of ['/api/birds', '/health', '/health/ready', '/openapi.json', '/asyncapi.json', '/live', '/.well-known/x', '/feeder', '/robots.txt', `/${asset}`]) {
        expect((await get(`/es${path}`)).status, path).to.equal(404);
        expect((await get(`/en${path}`)).status, path).to.equal(404);
      }
      for (const path of ['/ES/problems', '/esproblems', '/es/es/problems', '/fr/problems', '/es//problems']) expect((await get(path)).status, path).to.equal(404);
    });

    it('is in pages about problems, and in the instance of problems', async () => {
      const page = await get('/es/nowhere');
      expect(page.status).to.equal(404);
      expect(page.text).to.contain(['<html lang="es">', `No hay nada en ${base}/es/nowhere.`, `href="${base}/es/problems/not_found"`]);
      expect((await get('/es/nowhere', { accept: 'application/json' })).body).to.include({ title: 'There is nothing here', instance: `${base}/es/nowhere` });
    });

    it('survives a form and the redirect after it, and protects against forms of other sites', async () => {
      const send = (path: string, to: string, headers: Record<string, string> = {}) => kit.request('POST', path, { payload: new URLSearchParams({ to }).toString(), headers: { ...FORM, ...headers } });
      const sent = await send('/es/birds', '/birds?a=1');
      expect([sent.status, sent.headers['location']]).to.equal([303, `${base}/es/birds?a=1`]);
      expect((await send('/birds', '/birds', { 'accept-language': 'es' })).headers['location']).to.equal(`${base}/birds`);
      expect((await send('/es/birds', '/robots.txt')).headers['location']).to.equal(`${base}/robots.txt`);
      expect((await send('/es/birds', '/birds', { 'sec-fetch-site': 'cross-site' })).status).to.equal(403);
    });

    it('is one link away: the same page in the other language, with its query', async () => {
      const other = async (path: string): Promise<string | undefined> => /<a class="language" href="([^"]*)"/.exec((await get(path)).text)?.[1];
      expect(await other('/problems?a=1&b=<')).to.equal(`${base}/es/problems?a&#x3D;1&amp;b&#x3D;%3C`);
      expect(await other('/es/problems')).to.equal(`${base}/en/problems`);
      expect(await other('/es/nowhere')).to.equal(`${base}/en/nowhere`);
      expect((await get('/')).text).to.match(/<a class="language" href="[^"]*" hreflang="es" lang="es">Español<\/a>/);
      expect(await other('/robots.txt'), 'a page without languages').to.be.undefined();
      const failed = await kit.request('POST', '/es/birds/wrong', { payload: 'a=1', headers: FORM });
      expect(failed.text, 'a page that only a form leads to').to.contain(`class="language" href="${base}/en/"`);
    });

    it('is named for search engines by pages that want to be found', async () => {
      const found = (text: string) => [...text.matchAll(/<link rel="(?:canonical|alternate)"[^>]*>/g)].map(([link]) => link);
      const url = `https://civic.example${base}`;
      const alternates = [
        `<link rel="alternate" hreflang="en" href="${url}/en/birds">`, `<link rel="alternate" hreflang="es" href="${url}/es/birds">`, `<link rel="alternate" hreflang="x-default" href="${url}/birds">`,
      ];
      expect(found((await get('/es/birds?sort=name')).text)).to.equal([`<link rel="canonical" href="${url}/es/birds">`, ...alternates]);
      expect(found((await get('/birds')).text)).to.equal([`<link rel="canonical" href="${url}/birds">`, ...alternates]);
      expect(found((await get('/docs/core')).text)[0]).to.equal(`<link rel="canonical" href="${url}/docs/core">`);
      expect(found((await get('/nowhere')).text)).to.equal([]);
    });

    it('gives each language its own entry in the response cache, and the API one for all', async () => {
      const body = async (path: string, language: string): Promise<string> => (await get(path, { 'accept-language': language })).text;
      const [english, spanish] = [await body('/birds/cached', 'en'), await body('/birds/cached', 'es')];
      expect([english.slice(0, 2), spanish.slice(0, 2)]).to.equal(['en', 'es']);
      expect([await body('/birds/cached', 'en'), await body('/birds/cached', 'es')]).to.equal([english, spanish]);
      expect(await body('/api/birds', 'es')).to.equal(await body('/api/birds', 'en'));
    });
  });
}

describe('A plugin', () => {
  it('cannot declare the path of a language', () => {
    expect(() => definePlugin({ name: 'spain', summary: 'x', paths: { '/es': { audience: 'people' } }, register: () => undefined })).to.throw(/the path "\/es" belongs to core/);
  });
});
