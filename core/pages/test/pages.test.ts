import type { Request, Server, ServerInjectResponse } from '@hapi/hapi';
import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import Joi from 'joi';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { asyncApi } from '../../contracts/asyncapi.ts';
import { openApi } from '../../contracts/openapi.ts';
import { registerPages, type Pages } from '../../http/pages.ts';
import { httpState } from '../../http/state.ts';
import { testServer } from '../../http/test/fixture.ts';
import { problemsOf, registerProblems, type ProblemKinds } from '../../problems.ts';
import { createExamples } from '../examples/registry.ts';
import { addCorePages } from '../routes.ts';

export const lab = Lab.script();
export const ownProcess = 'it registers problem codes of core with other texts';
const { describe, it, before, beforeEach, after } = lab;

const problems: ProblemKinds = {
  invalid_request: { status: 400, title: 'Bad input', advice: 'Look at `errors`.' },
  not_found: { status: 404, title: 'There is nothing here', advice: 'Look at the address.' },
};

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

describe('Pages', () => {
  let folder: string;
  let server: Server;
  let pages: Pages;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'civic-pages-'));
    for (const inner of ['templates/partials', 'assets']) mkdirSync(join(folder, 'hello', inner), { recursive: true });
    writeFileSync(join(folder, 'hello/templates/greeting.html'), '<h1>Hello, {{who}}</h1><script src="{{assets.hello.wave}}"></script>');
    writeFileSync(join(folder, 'hello/templates/partials/corner.html'), '<p>{{name}} reads {{@root.here}}</p>');
    writeFileSync(join(folder, 'hello/assets/wave.js'), 'document.title = "Hello";');
  });

  after(() => { rmSync(folder, { recursive: true }); });

  async function start({ data = join(folder, 'data'), base = '', ownsStart = false } = {}): Promise<void> {
    registerProblems(problems);
    server = testServer({ publicUrl: `https://civic.example${base}` }).server;
    const instance = { name: 'Kansas <City>', version: '1.2.3', public_url: `https://civic.example${base}`, data_dir: data, user_agent: 'civic-test', demo: false };
    pages = await registerPages(server, { instance, folders: { hello: join(folder, 'hello') }, log: pino({ level: 'silent' }), now: Date.now });
    httpState(server).problemPage = pages.problemPage;
    await server.register({ name: 'hello', register: (own: Server) => own.route([
      { method: 'GET', path: '/hello', handler: (_request: Request, h) => h.view('hello/greeting', { who: '<world>' }), options: { plugins: { civic: { internal: true } } } },
      { method: 'GET', path: '/api/hello', handler: () => ({}), options: { description: 'Says <b>hello</b>', validate: { query: Joi.object({ limit: Joi.number().integer().description('How many') }) } } },
      ...(ownsStart ? [{ method: 'GET' as const, path: '/', handler: () => 'mine' }] : []),
    ]) });
    const about = { info: { title: 'Civic', version: '1.2.3' }, publicUrl: instance.public_url, problems: problemsOf([]), isCounted: false };
    addCorePages(server, { pages, problems: problemsOf([]), plugins: [{ name: 'hello', summary: 'Greets' }], examples: createExamples(), now: Date.now, openApi: () => openApi(server, about), asyncApi: () => asyncApi(server, about) });
  }

  beforeEach(() => start());

  async function get(url: string, headers: Record<string, string> = BROWSER): Promise<ServerInjectResponse<string>> {
    return server.inject({ url, headers });
  }

  it('welcome the reader with the name of the instance and what runs', async () => {
    const { statusCode, payload } = await get('/');
    expect(statusCode).to.equal(200);
    expect(payload).to.contain(['Kansas &lt;City&gt;', '<h3>hello</h3><p>Greets</p>', 'href="/docs"']);
    expect(payload).to.not.contain('<City>');
  });

  it('leave / to a plugin that claims it', async () => {
    await start({ ownsStart: true });
    expect((await get('/')).payload).to.equal('mine');
  });

  it('of plugins lie in their own folders and share the layout', async () => {
    const { payload } = await get('/hello');
    expect(payload).to.contain(['<!doctype html>', '<h1>Hello, &lt;world&gt;</h1>', '<footer']);
  });

  it('run no inline script or style and forbid them', async () => {
    for (const url of ['/', '/docs', '/docs/hello', '/problems', '/problems/not_found', '/hello', '/nowhere']) {
      const { headers, payload } = await get(url);
      expect(headers['content-security-policy'], url).to.contain(["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]);
      expect(headers['content-security-policy'], url).to.match(/, script-src \*:\*\/assets\/$/);
      expect(payload, url).to.not.match(/<script(?! src="\/assets\/)|<style|\sstyle=|\son\w+=|https?:\/\/(?!civic\.example)/);
    }
  });

  it('show every entry of the navigation and mark where the reader is', async () => {
    pages.navigation({ label: 'Greetings', path: '/hello' }, 'hello');
    expect((await get('/hello')).payload).to.match(/<a href="\/hello" aria-current="page">Greetings<\/a>/);
    expect((await get('/')).payload).to.match(/<a href="\/hello">Greetings<\/a>/);
  });

  it('show entries of the footer there, those with a smaller order first', async () => {
    pages.navigation({ label: 'Privacy', path: '/privacy', in: 'footer' }, 'hello');
    pages.navigation({ label: 'About', path: '/about', in: 'footer', order: 10 }, 'hello');
    const [header, footer] = (await get('/')).payload.split('<main') as [string, string];
    expect(header).to.not.contain(['Privacy', 'About']);
    expect(footer).to.match(/<footer[^]*href="\/about">About<[^]*href="\/privacy">Privacy</);
  });

  it('keep the path of the public address in their links', async () => {
    await start({ base: '/sub' });
    const { payload, headers } = await get('/');
    expect(payload).to.contain(['href="/sub/docs"', 'href="/sub/assets/style.']);
    expect(headers['content-security-policy']).to.match(/, script-src \*:\*\/sub\/assets\/$/);
    expect(payload).to.not.match(/href="\/(?!sub)/);
  });

  it('load their style from an address that may be kept for ever', async () => {
    const path = pages.assets().get('style')!.path;
    const { headers, payload } = await get(path);
    expect(headers).to.include({ 'content-type': 'text/css; charset=utf-8', 'cache-control': 'public, max-age=31536000, immutable' });
    expect(payload).to.contain('prefers-color-scheme: dark');
    expect((await get('/assets/style.000000000000.css')).statusCode).to.equal(404);
    expect((await get('/assets/..%2flayout.html')).statusCode).to.equal(404);
  });

  it('of plugins bring scripts of their own, at addresses that may be kept for ever', async () => {
    const path = /<script src="([^"]+)"/.exec((await get('/hello')).payload)![1]!;
    expect(path).to.match(/^\/assets\/hello\/wave\.[0-9a-f]{12}\.js$/);
    const { headers, payload } = await get(path);
    expect(headers).to.include({ 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'public, max-age=31536000, immutable' });
    expect(payload).to.equal('document.title = "Hello";');
    for (const wrong of ['/assets/hello/wave.js', '/assets/hello/..%2ftemplates%2fgreeting.html', '/assets/hello', '/assets/']) expect((await get(wrong)).statusCode, wrong).to.equal(404);
  });

  it('show parts of plugins about the user in the header of every page, and to no other user', async () => {
    pages.header({ partial: 'hello/corner', fill: ({ headers }) => (headers['x-name'] ? { name: headers['x-name'] } : null) });
    for (const url of ['/', '/docs', '/hello', '/nowhere']) {
      expect((await get(url, { ...BROWSER, 'x-name': '<Ada>' })).payload, url).to.contain(`<p>&lt;Ada&gt; reads ${url}</p>`);
      expect((await get(url)).payload, url).to.not.contain('reads /');
      expect((await get(url, { ...BROWSER, 'x-name': 'Bob' })).payload, url).to.contain(`<p>Bob reads ${url}</p>`);
    }
  });

  it('take templates, partials and style of a theme before their own', async () => {
    const data = join(folder, 'themed');
    for (const inner of ['theme/partials', 'theme/hello']) mkdirSync(join(data, inner), { recursive: true });
    writeFileSync(join(data, 'theme/partials/footer.html'), '<footer>Ours</footer>');
    writeFileSync(join(data, 'theme/hello/greeting.html'), '<h1>Welcome</h1>');
    writeFileSync(join(data, 'theme/problems.html'), '<h1>Oh dear</h1>');
    writeFileSync(join(data, 'theme/style.css'), ':root { --accent: purple; }');
    await start({ data });
    expect((await get('/hello')).payload).to.contain(['<h1>Welcome</h1>', '<footer>Ours</footer>']);
    expect((await get('/problems')).payload).to.contain('<h1>Oh dear</h1>');
    expect((await get(pages.assets().get('style')!.path)).payload).to.contain(['prefers-color-scheme', '--accent: purple']);
  });

  describe('in the language of the reader', () => {
    const spanish = { ...BROWSER, 'accept-language': 'es-MX,es;q=0.9,en;q=0.8' };

    it('are Spanish for a browser that prefers it, and say so', async () => {
      for (const [url, text] of [['/', 'Leer la documentación de la API'], ['/problems', 'Códigos de error'], ['/problems/not_found', 'Revise la dirección'], ['/nowhere', 'No hay nada en /nowhere.'], ['/docs', 'Ir al contenido']] as const) {
        const { headers, payload } = await get(url, spanish);
        expect(payload, url).to.contain(['<html lang="es">', text]);
        expect(headers['content-language'], url).to.equal('es');
        expect(String(headers.vary), url).to.contain('accept-language');
        const english = await get(url);
        expect(english.payload, url).to.contain('<html lang="en">');
        expect(english.payload, url).to.not.contain(text);
        expect(String(english.headers.vary), url).to.contain('accept-language');
      }
    });

    it('follow the qualities of Accept-Language, and are English without a language of ours', async () => {
      const cases = {
        'es': 'es', 'es-419': 'es', 'ES-mx': 'es', 'en, es': 'en', 'es, en': 'es', 'fr, es;q=0.5': 'es', 'en;q=0.4, es;q=0.6': 'es', 'en;q=0, *': 'es',
        '': 'en', 'fr': 'en', '*': 'en', 'es;q=0': 'en', 'es;q=x': 'en', ';;,': 'en', [`es${', x'.repeat(400)}`]: 'en',
      };
      for (const [header, language] of Object.entries(cases)) expect((await get('/problems', { ...BROWSER, 'accept-language': header })).headers['content-language'], header).to.equal(language);
    });

    it('leave the API in English', async () => {
      const { headers, payload } = await get('/api/nowhere', { ...spanish, accept: 'application/json' });
      expect(JSON.parse(payload)).to.include({ title: 'There is nothing here', detail: 'There is nothing at /api/nowhere.' });
      expect(String(headers.vary)).to.not.contain('language');
    });
  });

  describe('of problems', () => {
    it('list every code and explain each', async () => {
      expect((await get('/problems')).payload).to.contain(['invalid_request', 'not_found']);
      expect((await get('/problems/invalid_request')).payload).to.contain(['Bad input', 'Look at <code>errors</code>.', '400']);
      for (const code of ['no_such_code', '__proto__', 'constructor']) expect((await get(`/problems/${code}`)).statusCode).to.equal(404);
    });

    it('show a browser the same as the JSON, with the status', async () => {
      const { statusCode, headers, payload } = await get('/nowhere');
      expect(statusCode).to.equal(404);
      expect(headers['content-type']).to.equal('text/html; charset=utf-8');
      expect(headers.vary).to.contain('accept');
      expect(payload).to.contain(['There is nothing here', String(headers['x-request-id']), 'href="/problems/not_found"']);
    });

    it('are not shown to programs, nor at paths for programs', async () => {
      for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5', '']) {
        expect((await get('/nowhere', { accept })).headers['content-type'], accept).to.equal('application/problem+json');
      }
      for (const url of ['/api/nowhere', '/.well-known/nowhere']) {
        expect((await get(url)).headers['content-type'], url).to.equal('application/problem+json');
      }
    });
  });

  describe('of the interface', () => {
    it('show operations, parameters and a call to paste, escaped', async () => {
      const { payload } = await get('/docs/hello');
      expect(payload).to.contain(['/api/hello', 'Says &lt;b&gt;hello&lt;/b&gt;', 'How many', "curl &#x27;https://civic.example/api/hello&#x27;"]);
      expect(payload).to.not.contain('<b>hello');
      expect((await get('/docs')).payload).to.contain(['href="/docs/hello#getHello"', 'Says &lt;b&gt;hello&lt;/b&gt;']);
    });

    it('leave pages out', async () => {
      const { payload } = await get('/openapi.json');
      expect(Object.keys(JSON.parse(payload).paths)).to.equal(['/api/hello', '/asyncapi.json', '/health', '/health/ready', '/openapi.json']);
    });

    it('come with both contracts, which are 304 with a current ETag', async () => {
      for (const [url, member] of [['/openapi.json', 'openapi'], ['/asyncapi.json', 'asyncapi']] as const) {
        const { headers, payload } = await get(url);
        expect(JSON.parse(payload)[member]).to.match(/^3\./);
        expect((await get(url, { 'if-none-match': String(headers.etag) })).statusCode).to.equal(304);
      }
    });
  });

  it('know no problem of a code that only JavaScript knows', async () => {
    for (const code of ['constructor', 'toString', '__proto__']) expect((await get(`/problems/${code}`)).statusCode).to.equal(404);
  });
});
