import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { slowness } from '../../core/test/wait.ts';
import { firehoseKit, type FirehoseKit } from '../../plugins/firehose/test/kit.ts';
import { missingBrowser, openBrowser } from '../support/browser.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('A page of another site', { skip: missingBrowser() !== null, timeout: 60_000 }, () => {
  let kit: FirehoseKit;
  let browser: Browser;
  let elsewhere: Server;
  let session: string;
  before(async () => {
    kit = await firehoseKit();
    browser = await openBrowser();
    elsewhere = createServer((_request, response) => { response.setHeader('content-type', 'text/html').end('<title>Elsewhere</title>'); }).listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    session = (await post('/api/firehose/sessions')).id;
  });
  after(async () => {
    await browser.close();
    elsewhere.close();
    await kit.close();
  });

  const post = async (path: string) => (await kit.ask('POST', path, { as: kit.reader, headers: { 'content-type': 'application/json' }, body: '{}' })).body;
  const ticket = async () => (await post(`/api/firehose/sessions/${session}/tickets`)).ticket as string;
  const address = () => `${kit.url}/api/firehose/sessions/${session}`;

  async function open(script: string): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(`http://localhost:${(elsewhere.address() as AddressInfo).port}/`);
    await page.evaluate(`globalThis.heard = []; ${script}`);
    return page;
  }
  async function hears(page: Page, ...expected: string[]): Promise<void> {
    const heard = () => page.evaluate('heard') as Promise<string[]>;
    for (const end = Date.now() + 15_000 * slowness; (await heard()).length < expected.length && Date.now() < end;) await sleep(20);
    expect(await heard()).to.equal(expected);
  }

  it('follows a session by EventSource with a ticket, also over a cut', async () => {
    const page = await open(`
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
    await page.close();
  });

  it('opens the socket with a ticket, once', async () => {
    const script = `
      globalThis.socket = new WebSocket('${address().replace('http', 'ws')}/socket?ticket=${await ticket()}', 'service.firehose.v1');
      socket.onmessage = ({ data }) => heard.push(JSON.parse(data).type);
      socket.onclose = () => heard.push('closed');
      socket.onopen = () => socket.send('{"type":"ping"}');
    `;
    const page = await open(script);
    for (const end = Date.now() + 15_000 * slowness; !(await page.evaluate('heard') as string[]).includes('pong') && Date.now() < end;) await sleep(20);
    expect(await page.evaluate('heard[0]')).to.equal('firehose.ready');
    expect(await page.evaluate('socket.protocol')).to.equal('service.firehose.v1');
    await hears(await open(script), 'closed');
    await page.close();
  });

  it('gets nothing with a key', async () => {
    const page = await open(`
      fetch('${address()}/snapshot', { headers: { 'X-API-Key': '${kit.reader.key}' } }).then(() => heard.push('read'), () => heard.push('refused'));
    `);
    await hears(page, 'refused');
    await page.close();
  });
});
