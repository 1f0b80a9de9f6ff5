import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Browser, Page } from 'playwright-core';
import { definePlugin, problem } from '../../core/index.ts';
import { EDITOR, siteKit, type SiteKit } from '../../plugins/site/test/kit.ts';
import { missingBrowser, openBrowser, pageFaults } from '../support/browser.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** More pages than these a minute are refused. */
const PAGES_A_MINUTE = 12;

const closed = definePlugin({
  name: 'closed',
  summary: 'A page that is closed to everybody, for tests',
  paths: { '/closed': { audience: 'people' } },
  problems: { closed_room: { status: 403, title: 'This room is closed', advice: 'Ask for the key.' } },
  register(server) {
    server.route({ method: 'GET', path: '/closed', options: { plugins: { civic: { internal: true } } }, handler: () => { throw problem('closed_room', { detail: 'You need the reviewer role.' }); } });
  },
});

describe('Pages that say what went wrong', { skip: missingBrowser() !== null, timeout: 120_000 }, () => {
  let kit: SiteKit;
  let browser: Browser;
  let page: Page;
  let deleted: string;
  before(async () => {
    kit = await siteKit({ listen: true, plugins: ['ratelimit', closed], config: { plugins: { ratelimit: { pages: { requests_per_minute: PAGES_A_MINUTE } } } } });
    deleted = await kit.add({ name: 'Gone Group', place: 'gladstone,missouri' });
    const { status } = await kit.request('DELETE', `/api/entities/${deleted}`, { as: EDITOR });
    expect(status).to.equal(204);
    browser = await openBrowser();
    page = await browser.newPage();
  });
  after(async () => {
    await browser?.close();
    await kit?.close();
  });

  const check = async (path: string, status: number, text: string): Promise<void> => {
    const response = await page.goto(kit.composition.server.info.uri + path);
    expect(response!.status(), path).to.equal(status);
    expect(await page.locator('main').innerText(), path).to.contain(text);
    expect(await page.locator('main a').count(), path).to.be.at.least(1);
    expect(await pageFaults(page), path).to.equal([]);
  };

  it('are accessible, and lead on', async () => {
    await check('/nowhere', 404, 'There is nothing');
    await check('/es/nowhere', 404, 'Error 404');
    await check('/places/springfeild', 404, 'Did you mean');
    await check('/closed', 403, 'You need the reviewer role.');
    await check(`/actors/${deleted}`, 410, 'This entry was deleted');
    expect(await page.locator('main').innerText()).to.not.contain('Gone Group');
  });

  it('say when too many pages were opened', async () => {
    for (let count = 0; count < PAGES_A_MINUTE; count++) await fetch(`${kit.composition.server.info.uri}/about`);
    await check('/about', 429, 'Error 429');
  });
});
