import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { slowness } from '../../core/test/wait.ts';
import { firehoseKit, type FirehoseKit } from '../../plugins/firehose/test/kit.ts';
import { missingBrowser, openBrowser } from '../support/browser.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const isMissing = missingBrowser() !== null;
let browser: Browser;
// One context and page for all tests: each context starts processes of its own.
let context: BrowserContext;
let page: Page;
before(async () => {
  if (isMissing) return;
  browser = await openBrowser();
  context = await browser.newContext();
  page = await context.newPage();
});
after(() => browser?.close());

describe('The Firehose in a browser', { skip: isMissing, timeout: 60_000 }, () => {
  let kit: FirehoseKit;
  before(async () => { kit = await firehoseKit({ firehose: { anonymous: true } }); });
  after(async () => {
    // Ends the connection before the server closes.
    await page.goto('about:blank');
    await kit.close();
  });

  /** What the page's own EventSource was told, as `ready live` or the title of a signal. */
  const heard = (page: Page) => page.evaluate('heard') as Promise<string[]>;
  async function hears(page: Page, count: number): Promise<void> {
    for (const end = performance.now() + 15_000 * slowness; (await heard(page)).length < count;) {
      if (performance.now() > end) throw new Error(`Only heard ${await heard(page)}`);
      await sleep(20);
    }
  }

  it('is read without a key by EventSource, which misses nothing over a cut', async () => {
    await page.goto(`${kit.url}/`);
    await page.evaluate(`
      globalThis.heard = [];
      globalThis.source = new EventSource('/api/firehose?visibility=public&place=river,testland');
      source.addEventListener('firehose.ready', ({ data }) => heard.push('ready ' + JSON.parse(data).resume.status));
      source.addEventListener('firehose.signal', ({ data }) => heard.push(JSON.parse(data).signal.title));
    `);
    await hears(page, 1);
    await kit.publish({ title: 'one', places: ['river,testland'] }, { title: 'elsewhere' }, { title: 'held', places: ['river,testland'], review_state: 'held' });
    await hears(page, 2);
    kit.server.listener.closeAllConnections();
    await kit.publish({ title: 'two', places: ['river,testland'] });
    await hears(page, 4);
    await kit.publish({ title: 'three', places: ['river,testland'] });
    await hears(page, 5);
    expect(await heard(page)).to.equal(['ready live', 'one', 'ready complete', 'two', 'three']);
  });
});

describe('A page of another site', { skip: isMissing, timeout: 60_000 }, () => {
  let kit: FirehoseKit;
  let elsewhere: Server;
  let session: string;
  before(async () => {
    kit = await firehoseKit();
    elsewhere = createServer((_request, response) => { response.setHeader('content-type', 'text/html').end('<title>Elsewhere</title>'); }).listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    session = (await post('/api/firehose/sessions')).id;
  });
  after(async () => {
    // Ends the connections before the servers close.
    await page.goto('about:blank');
    elsewhere.close();
    await kit.close();
  });

  const post = async (path: string) => (await kit.ask('POST', path, { as: kit.reader, headers: { 'content-type': 'application/json' }, body: '{}' })).body;
  const ticket = async () => (await post(`/api/firehose/sessions/${session}/tickets`)).ticket as string;
  const address = () => `${kit.url}/api/firehose/sessions/${session}`;

  async function open(script: string, tab = page): Promise<void> {
    await tab.goto(`http://localhost:${(elsewhere.address() as AddressInfo).port}/`);
    await tab.evaluate(`globalThis.heard = []; ${script}`);
  }
  async function hears(tab: Page, ...expected: string[]): Promise<void> {
    const heard = () => tab.evaluate('heard') as Promise<string[]>;
    for (const end = performance.now() + 15_000 * slowness; (await heard()).length < expected.length && performance.now() < end;) await sleep(20);
    expect(await heard()).to.equal(expected);
  }

  it('follows a session by EventSource with a ticket, also over a cut', async () => {
    await open(`
      globalThis.source = new EventSource('${address()}/events?ticket=${await ticket()}');
      source.addEventListener('firehose.ready', ({ data }) => heard.push('ready'));
      source.addEventListener('firehose.signal', ({ data }) => heard.push(JSON.parse(data).signal.title));
    `);
    await hears(page, 'ready');
    await kit.publish({ title: 'one' });
    await hears(page, 'ready', 'one');
    kit.server.listener.closeAllConnections();
    await kit.publish({ title: 'two' });
    await hears(page, 'ready', 'one', 'ready', 'two');
  });

  it('opens the socket with a ticket, once', async () => {
    const script = `
      globalThis.socket = new WebSocket('${address().replace('http', 'ws')}/socket?ticket=${await ticket()}', 'service.firehose.v1');
      socket.onmessage = ({ data }) => heard.push(JSON.parse(data).type);
      socket.onclose = () => heard.push('closed');
      socket.onopen = () => socket.send('{"type":"ping"}');
    `;
    await open(script);
    for (const end = performance.now() + 15_000 * slowness; !(await page.evaluate('heard') as string[]).includes('pong') && performance.now() < end;) await sleep(20);
    expect(await page.evaluate('heard[0]')).to.equal('firehose.ready');
    expect(await page.evaluate('socket.protocol')).to.equal('service.firehose.v1');
    const second = await context.newPage();
    await open(script, second);
    await hears(second, 'closed');
    await second.close();
  });

  it('gets nothing with a key', async () => {
    await open(`
      fetch('${address()}/snapshot', { headers: { 'X-API-Key': '${kit.reader.key}' } }).then(() => heard.push('read'), () => heard.push('refused'));
    `);
    await hears(page, 'refused');
  });
});
