import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { slowness } from '../../core/test/wait.ts';
import { firehoseKit, type FirehoseKit } from '../../plugins/firehose/test/kit.ts';
import { missingBrowser, openBrowser } from '../support/browser.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('The Firehose in a browser', { skip: missingBrowser() !== null, timeout: 60_000 }, () => {
  let kit: FirehoseKit;
  let browser: Browser;
  before(async () => {
    kit = await firehoseKit({ firehose: { anonymous: true } });
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await kit.close();
  });

  /** What the page's own EventSource was told, as `ready live` or the title of a signal. */
  const heard = (page: Page) => page.evaluate('heard') as Promise<string[]>;
  async function hears(page: Page, count: number): Promise<void> {
    for (const end = Date.now() + 15_000 * slowness; (await heard(page)).length < count;) {
      if (Date.now() > end) throw new Error(`Only heard ${await heard(page)}`);
      await sleep(20);
    }
  }

  it('is read without a key by EventSource, which misses nothing over a cut', async () => {
    const page = await browser.newPage();
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
