import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { siteKit, type SiteKit } from '../../plugins/site/test/kit.ts';
import { missingBrowser, openBrowser, axeFaults } from '../support/browser.ts';

export const lab = Lab.script();
const { describe, it, before, beforeEach, after } = lab;

const isMissing = missingBrowser() !== null;

describe('Search fields', { skip: isMissing }, () => {
  let browser: Browser;
  let page: Page;
  let kit: SiteKit;
  let complaints: string[] = [];
  before(async () => {
    if (isMissing) return;
    kit = await siteKit({ listen: true });
    for (const name of ['Harlan Tenants Union', 'Harlan Library']) await kit.add({ name, place: 'harlan,iowa', issue_area: 'housing_affordability', website: `https://${name.replaceAll(' ', '')}.example` });
    browser = await openBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.on('console', (message) => { if (message.type() === 'error') complaints.push(message.text()); });
    page.on('pageerror', (error) => { complaints.push(error.message); });
  });
  beforeEach(() => { complaints = []; });
  after(async () => {
    await browser?.close();
    await kit?.close();
  });

  const field = () => page.getByRole('combobox');
  const list = () => page.getByRole('listbox');

  it('suggest while a user types, and open what is chosen with the keyboard', async () => {
    await page.goto(kit.url);
    await field().pressSequentially('harl');
    await list().waitFor();
    expect(await field().getAttribute('aria-expanded')).to.equal('true');
    expect(await field().getAttribute('aria-activedescendant')).to.be.null();
    expect(await page.getByRole('status').textContent()).to.match(/^\d suggestions$/);
    expect(await list().getByRole('group').evaluateAll((groups) => groups.length)).to.be.at.least(2);
    expect(await axeFaults(page)).to.equal([]);
    await field().press('ArrowDown');
    const chosen = await field().getAttribute('aria-activedescendant');
    expect(await page.locator(`#${chosen}`).textContent()).to.contain('Harlan, IA');
    await field().press('ArrowUp');
    expect(await page.locator(`#${await field().getAttribute('aria-activedescendant')}`).textContent()).to.contain('Harlan Library');
    await Promise.all([page.waitForURL(/\/actors\//), field().press('Enter')]);
    expect(complaints).to.equal([]);
  });

  it('close with Escape, then clear; and close when the focus leaves', async () => {
    await page.goto(kit.url);
    await field().pressSequentially('harl');
    await list().waitFor();
    await field().press('Escape');
    expect([await list().isVisible(), await field().inputValue()]).to.equal([false, 'harl']);
    await field().press('Escape');
    expect(await field().inputValue()).to.equal('');
    await field().pressSequentially('harl');
    await list().waitFor();
    await field().press('Tab');
    expect(await list().isVisible()).to.be.false();
  });

  it('search with Enter when nothing is chosen, also in the header', async () => {
    await page.goto(`${kit.url}/es/issues`);
    await field().fill('harlan');
    await Promise.all([page.waitForURL(`${kit.url}/es/search?query=harlan`), field().press('Enter')]);
    expect(await page.locator('h1').textContent()).to.equal('2 fichas para “harlan”');
  });

  it('open what is clicked', async () => {
    await page.goto(kit.url);
    await field().pressSequentially('hous');
    await Promise.all([page.waitForURL(/\/issues\/housing_affordability$/), list().getByText('Housing Affordability').click()]);
  });

  it('work without a script', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const plain = await context.newPage();
    await plain.goto(kit.url);
    await plain.getByRole('textbox').fill('tenants');
    await Promise.all([plain.waitForURL(/\/search\?query=tenants$/), plain.getByRole('button', { name: 'Search' }).click()]);
    await Promise.all([plain.waitForURL(/entity_type=organization/), plain.getByRole('link', { name: 'Organization' }).click()]);
    expect(await plain.locator('h1').textContent()).to.equal('1 entry for “tenants”');
    await context.close();
  });

  it('have a small script', async () => {
    const { text } = await kit.open('/');
    const [, address] = /<script type="module" src="([^"]+)"/.exec(text)!;
    expect(gzipSync((await kit.request('GET', address!)).text).length).to.be.below(8000);
  });
});
