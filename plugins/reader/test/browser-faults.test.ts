import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import { slowness, testServer, type TestServer } from 'civic/testing';
import { existsSync } from 'node:fs';
import { chmod, chown, lutimes, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReaderService } from '../types.ts';
import { openSite, text, type Site } from './site.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** Speaks the DevTools protocol as far as a render needs it, and does what the path of the page names. */
const PROGRAM = `#!${process.execPath}
const { createReadStream, writeSync } = require('node:fs');
const write = (data) => { for (let bytes = Buffer.from(data); bytes.length > 0;) try { bytes = bytes.subarray(writeSync(4, bytes)); } catch (error) { if (error.code !== 'EAGAIN') process.exit(); } };
const emit = (message) => write(JSON.stringify(message) + '\\0');
const PATHS = {
  '/exit': () => process.exit(1),
  '/garbage': () => write('{"id":\\0'),
  '/null': () => write('null\\0'),
  '/event': () => emit({ method: 'Fetch.requestPaused', params: null, sessionId: '1' }),
  '/frame': () => emit({ method: 'Page.frameNavigated', params: {}, sessionId: '1' }),
  '/requests': ({ searchParams }) => {
    for (let number = 0; number < 30; number++) emit({ method: 'Fetch.requestPaused', params: { requestId: String(number), resourceType: 'Fetch', frameId: '1', request: { url: searchParams.get('to') + number, method: 'GET', headers: {} } }, sessionId: '1' });
    emit({ method: 'Page.domContentEventFired', params: {}, sessionId: '1' });
  },
  '/large': () => { for (const part = Buffer.alloc(1e6, 97);;) write(part); },
  '/many': () => { for (const data = 'a'.repeat(1e6);;) emit({ method: 'Page.other', params: { data }, sessionId: '1' }); },
};
let rest = '';
createReadStream(null, { fd: 3 }).on('data', (data) => {
  const messages = (rest + data).split('\\0');
  rest = messages.pop();
  for (const { id, method, params } of messages.map(JSON.parse)) {
    emit({ id, result: { browserContextId: '1', targetId: '1', sessionId: '1', result: { value: { url: 'http://city.example/', html: '' } } } });
    if (method === 'Page.navigate') PATHS[new URL(params.url).pathname](new URL(params.url));
  }
}).on('end', () => process.exit());
`;

describe('A browser that fails', () => {
  let folder: string;
  let kit: TestServer;
  let reader: ReaderService;
  let site: Site;

  before(async () => {
    folder = await mkdtemp('/tmp/civic-fault-');
    await writeFile(join(folder, 'browser'), PROGRAM);
    await chmod(join(folder, 'browser'), 0o755);
    site = await openSite();
    const user = definePlugin({ name: 'listener', summary: 'Reads addresses for tests', needs: ['reader'], register: (_server, civic) => ({ async start() { reader = civic.service('reader'); } }) });
    kit = await testServer({
      database: 'sqlite', plugins: ['reader', user],
      config: { http: { fetch: { allow_private_addresses: true } }, plugins: { reader: { delay_seconds: 0, browser_sandbox: false, browser_path: join(folder, 'browser'), browser_seconds: 10 } } },
    });
  });
  after(async () => {
    await kit.close();
    await site.close();
    await rm(folder, { recursive: true });
  });

  function read(path: string) {
    site.routes[path] = text('<!DOCTYPE html><div></div><script src="/app.js"></script>');
    return reader.read({ url: site.url + path, purpose: 'test', browser: { renders: 0 } });
  }

  it('leaves a folder that a later one deletes, unless it is a link, a file or of another user', async () => {
    const { TMPDIR } = process.env;
    process.env.TMPDIR = folder;
    const paths = ['own', 'link', 'file', 'other'].map((name) => join(folder, `civic-browser-${name}`)) as [string, string, string, string];
    const [own, link, file, other] = paths;
    await mkdir(own);
    await symlink('/', link);
    await writeFile(file, '');
    await mkdir(other);
    for (const path of paths) await lutimes(path, 0, 0);
    const isRoot = process.getuid!() === 0;
    if (isRoot) await chown(other, 12_345, 12_345);
    await read('/exit');
    expect([own, link, file].map(existsSync)).to.equal([false, true, true]);
    expect(existsSync(other)).to.equal(isRoot);
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });

  const faults = { '/exit': 'ends', '/garbage': 'sends no JSON', '/null': 'sends no object', '/event': 'sends an event without values', '/frame': 'leaves values out', '/large': 'sends a message without end', '/many': 'sends messages without end' };
  for (const [path, name] of Object.entries(faults)) {
    it(`ends the render at once when it ${name}`, { timeout: 60_000 * slowness }, async () => {
      const started = performance.now();
      const memory = process.memoryUsage().rss;
      expect(await read(path)).to.include({ outcome: 'failed', reason: 'render_failed', via: 'browser', content: null });
      expect((process.memoryUsage().rss - memory) / 1e6).to.be.below(250);
      expect(performance.now() - started).to.be.below(8000 * slowness);
    });
  }

  it('sends twenty requests to another host at most, and none after that host asked for a pause, which other reads do not keep', async () => {
    const other = await openSite();
    const paths = () => other.requests.map(({ path }) => path).filter((path) => path !== '/robots.txt');
    for (const number of Array.from({ length: 30 }).keys()) {
      other.routes[`/${number}`] = text('{}');
      site.routes[`/to${number}`] = (_request, response) => { response.writeHead(302, { location: `${other.url}/${number}` }).end(); };
      other.routes[`/busy${number}`] = (_request, response) => { response.writeHead(429, { 'retry-after': '3600' }).end(); };
    }
    for (const to of [`${other.url}/`, `${site.url}/to`]) {
      other.requests.length = 0;
      await read(`/requests?to=${to}`);
      expect(paths()).to.have.length(20);
    }
    other.requests.length = 0;
    await read(`/requests?to=${other.url}/busy`);
    expect(paths().length).to.be.between(0, 5);
    expect(await reader.read({ url: `${other.url}/1`, purpose: 'test' })).to.include({ outcome: 'read' });
    await other.close();
  });
});
