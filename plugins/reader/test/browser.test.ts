import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import { slowness, testDatabases, testServer, type TestServer } from 'civic/testing';
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Read, ReadRequest } from '../fetch/types.ts';
import type { ReaderService } from '../types.ts';
import { missingChromium, openChromium, type TestChromium } from './chromium.ts';
import { openSite, text, type Site } from './site.ts';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const SECONDS = Math.min(120, 15 * slowness);
const script = (body: string) => text(body, { 'content-type': 'text/javascript' });
const shell = (code: string) => text(`<!DOCTYPE html><title>Council</title><div id="app"></div><script>${code}</script><script src="/more.js"></script>`);
/** Writes enough text for a page that is no shell. */
const SHOW = `const show = (text) => { document.getElementById('app').innerHTML = '<h1>Meetings</h1>' + ('<p>' + text + '</p>').repeat(20); };`;
const bodyOf = (read: Read) => new TextDecoder().decode(read.content!.body);
const profiles = () => readdirSync(tmpdir()).filter((name) => name.startsWith('civic-browser-'));

interface Started {
  kit: TestServer;
  reader: ReaderService;
}

async function start(database: 'sqlite' | 'postgres', options: object): Promise<Started> {
  let reader!: ReaderService;
  const user = definePlugin({ name: 'listener', summary: 'Reads addresses for tests', needs: ['reader'], register: (_server, civic) => ({ async start() { reader = civic.service('reader'); } }) });
  const kit = await testServer({
    database, plugins: ['reader', user],
    config: { http: { fetch: { allow_private_addresses: true } }, plugins: { reader: { delay_seconds: 0, longest_wait_seconds: 60, browser_sandbox: false, ...options } } },
  });
  return { kit, reader };
}

for (const database of testDatabases()) {
  describe(`pages that need a browser on ${database}`, { skip: missingChromium() !== null, timeout: 120_000 * slowness }, () => {
    let kit: TestServer;
    let chromium: TestChromium;
    let reader: ReaderService;
    let site: Site;
    const { TMPDIR } = process.env;

    const read = (path: string, more: Partial<ReadRequest> = {}, by = reader) => by.read({ url: site.url + path, purpose: 'test', browser: { renders: 0 }, ...more });
    const paths = () => site.requests.map(({ path }) => path).filter((path) => path !== '/robots.txt');

    before(async () => {
      chromium = await openChromium();
      process.env.TMPDIR = chromium.folder;
      ({ kit, reader } = await start(database, { browser_path: chromium.path, browser_seconds: SECONDS, max_browser_renders_per_run: 2 }));
    });
    after(async () => {
      await kit.close();
      expect(chromium.running()).to.equal([]);
      expect(profiles()).to.equal([]);
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
      await chromium.delete();
    });
    beforeEach(async () => {
      await site?.close();
      site = await openSite();
    });

    it('are archived as their scripts show them, and recorded', async () => {
      const stale = await mkdtemp(join(tmpdir(), 'civic-browser-'));
      await utimes(stale, 0, 0);
      site.routes['/page'] = text('<!DOCTYPE html><title>Council</title><div id="app"></div><img src="/picture.png"><link rel="stylesheet" href="/style.css"><script src="/app.js"></script>', { etag: '"1"', 'set-cookie': 'a=b' });
      site.routes['/app.js'] = script(`${SHOW} fetch('/meetings.json', { headers: { 'x-app': '1' } }).then((response) => response.json()).then(({ next }) => show(next + location.hash));`);
      site.routes['/meetings.json'] = (_request, response) => { response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ next: 'Zoning Board on May 4' })); };
      const first = await read('/page#/all');
      expect(first).to.include({ outcome: 'read', via: 'browser', status: 200, reason: null, url: `${site.url}/page`, final_url: `${site.url}/page` });
      expect(bodyOf(first)).to.contain('<p>Zoning Board on May 4#/all</p>');
      expect(paths().sort()).to.equal(['/app.js', '/meetings.json', '/page']);
      const [, , data] = site.requests.filter(({ path }) => path !== '/robots.txt');
      expect(data!.headers).to.include({ 'user-agent': site.requests[0]!.headers['user-agent'], 'x-app': '1' });
      expect(data!.headers.cookie).to.be.undefined();
      const document = await reader.document({ url: first.final_url, content_type: first.content!.content_type, body: first.content!.body });
      expect(document).to.include({ kind: 'html', title: 'Council', is_script_page: false });
      expect(document.text).to.contain('Meetings\nZoning Board on May 4');
      expect((await reader.content(kit.db.read, first.content!.hash))!.body.length).to.equal(first.content!.body.length);

      expect(profiles(), 'a profile that a killed process left').to.equal([]);

      // The page itself does not change, and is requested without a condition.
      expect(await read('/page#/all')).to.include({ outcome: 'unchanged', via: 'browser' });
      const rows = await kit.db.read('reader_fetches').where('url', `${site.url}/page`).orderBy('key').select('outcome', 'via', 'status');
      expect(rows).to.equal(['read', 'unchanged'].map((outcome) => ({ outcome, via: 'browser', status: 200 })));
    });

    if (database !== 'sqlite') return;

    it('are rendered one at a time, and so many in a run', async () => {
      for (const path of ['/1', '/2', '/3']) site.routes[path] = shell(`${SHOW} show('x');`);
      let most = 0;
      const timer = setInterval(() => { most = Math.max(most, profiles().length); }, 20);
      const run = { renders: 0 };
      const reads = await Promise.all(['/1', '/2', '/3'].map((path) => read(path, { browser: run })));
      clearInterval(timer);
      expect(reads.map(({ via }) => via).sort()).to.equal(['browser', 'browser', 'http']);
      expect(run.renders).to.equal(2);
      expect(most).to.equal(1);
    });

    it('are put off for minutes when two others wait for the browser', async () => {
      const others = await Promise.all([1, 2, 3, 4].map(() => openSite()));
      const sites = [site, ...others];
      for (const { routes } of sites) routes['/page'] = shell(`${SHOW} show('x');`);
      const reads = await Promise.all(sites.map(({ url }) => reader.read({ url: `${url}/page`, purpose: 'test', browser: { renders: 0 } })));
      for (const other of others) await other.close();
      const late = reads.filter(({ outcome }) => outcome === 'put_off');
      expect([late.length, reads.length - late.length]).to.equal([2, 3]);
      for (const { reason, retry_at } of late) expect([reason, Date.parse(retry_at!) > Date.now() + 60_000]).to.equal(['browser_busy', true]);
    });

    it('are rendered only when a page that was read has no text, and its reader asks for it', async () => {
      site.routes['/robots.txt'] = text('User-agent: *\nDisallow: /private');
      site.routes['/plain'] = text(`<p>${'The council met. '.repeat(30)}</p><script src="/app.js"></script>`);
      site.routes['/login'] = text('<form>Sign in<input type="password"></form><script src="/app.js"></script>');
      site.routes['/private'] = shell('');
      site.routes['/shell'] = shell('');
      site.routes['/gone'] = (_request, response) => { response.writeHead(404, { 'content-type': 'text/html' }).end('<div></div><script src="/app.js"></script>'); };
      site.routes['/broken'] = (_request, response) => { response.writeHead(500, { 'content-type': 'text/html' }).end('<div></div><script src="/app.js"></script>'); };
      for (const path of ['/plain', '/login', '/private', '/gone', '/broken']) expect(await read(path), path).to.include({ via: 'http' });
      expect(await read('/shell', { browser: undefined })).to.include({ via: 'http', outcome: 'read' });
      expect(paths()).to.not.include(['/app.js', '/more.js', '/private']);
    });

    it('cannot reach what robots.txt forbids, and follow their scripts to another page, whose address counts', async () => {
      site.routes['/robots.txt'] = text('User-agent: *\nDisallow: /private');
      site.routes['/away'] = (_request, response) => { response.writeHead(302, { location: '/private/b' }).end(); };
      site.routes['/page'] = shell('location.replace("/moved");');
      site.routes['/moved'] = (_request, response) => { response.writeHead(302, { location: '/new/place' }).end(); };
      site.routes['/new/place'] = shell(`${SHOW} Promise.all(['/private/a', '/away'].map((path) => fetch(path).then(() => 'read', () => 'refused'))).then((results) => show(results.join()));`);
      const found = await read('/page');
      expect(found).to.include({ via: 'browser', final_url: `${site.url}/new/place` });
      expect(bodyOf(found)).to.contain('<p>refused,refused</p>');
      expect(paths().filter((path) => path !== '/more.js')).to.equal(['/page', '/moved', '/new/place', '/away']);
    });

    it('may show dialogs, open windows and start downloads, to no effect', async () => {
      site.routes['/file'] = text('zip', { 'content-type': 'application/zip', 'content-disposition': 'attachment; filename=a.zip' });
      site.routes['/page'] = shell(`${SHOW} addEventListener('beforeunload', (event) => event.preventDefault()); alert(1); confirm(2); prompt(3); print(); const opened = window.open('/opened'); location = '/file'; setTimeout(() => show('opened: ' + opened), 200);`);
      expect(bodyOf(await read('/page'))).to.contain('<p>opened: null</p>');
      expect(paths()).to.not.include('/opened');
    });

    it('end within their limits when they are hostile', async () => {
      site.routes['/huge'] = shell('document.body.innerHTML = ("<p hidden>" + "many words ".repeat(30) + "</p>").repeat(20_000);');
      site.routes['/memory'] = shell('for (const all = []; ;) all.push(new Uint8Array(100_000_000).fill(1));');
      expect(await read('/huge')).to.include({ outcome: 'failed', reason: 'too_large', via: 'browser', status: 200, content: null });
      expect(await read('/memory')).to.include({ outcome: 'failed', via: 'browser', content: null });
      expect(chromium.running()).to.equal([]);
    });

    it('have a budget of requests', async () => {
      site.routes['/page'] = shell(`${SHOW} show('still here'); let made = 0; while (made < 300) fetch('/x' + made++); setInterval(() => fetch('/y' + made++), 10);`);
      expect(bodyOf(await read('/page'))).to.contain('<p>still here</p>');
      expect(paths()).to.have.length(101);
    });

    it('end at once when their read is aborted', async () => {
      site.routes['/page'] = shell('setInterval(() => fetch("/x"), 50);');
      const stop = new AbortController();
      const reading = read('/page', { signal: stop.signal });
      while (!paths().includes('/x')) await sleep(10);
      stop.abort(new Error('enough'));
      await expect(reading).to.reject(Error, 'enough');
      expect(chromium.running()).to.equal([]);
    });

    it('end with a server that is killed', async () => {
      const killed = await mkdtemp('/tmp/civic-killed-');
      const program = `const { startChromium } = await import(${JSON.stringify(new URL('../browser/chromium.js', import.meta.url).href)});
        const { send } = await startChromium(${JSON.stringify(chromium.path)}, { sandbox: false });
        await send('Browser.getVersion'); process.kill(process.pid, 'SIGKILL');`;
      const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'inherit', env: { ...process.env, TMPDIR: killed } });
      expect(await new Promise((resolve) => { child.once('exit', (_code, signal) => resolve(signal)); })).to.equal('SIGKILL');
      for (let waited = 0; waited < 200 * slowness && chromium.running().length > 0; waited++) await sleep(50);
      expect(chromium.running()).to.equal([]);
      await rm(killed, { recursive: true, force: true, maxRetries: 5 });
    });

    it('end when their time is over', async () => {
      const hurried = await start(database, { browser_path: chromium.path, browser_seconds: 1 });
      site.routes['/loop'] = shell('for (;;);');
      site.routes['/poll'] = shell(`${SHOW} show('already here'); fetch('/never');`);
      site.routes['/never'] = () => {};
      try {
        expect(await read('/loop', {}, hurried.reader)).to.include({ outcome: 'failed', reason: 'too_slow', via: 'browser', status: 200, content: null });
        expect(chromium.running()).to.equal([]);
        expect(bodyOf(await read('/poll', {}, hurried.reader))).to.contain('already here');
      } finally {
        await hurried.kit.close();
      }
    });
  });
}
