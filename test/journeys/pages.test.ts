import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Browser, Page } from 'playwright-core';
import { loadAssets } from '../../core/http/assets.ts';
import { testServer, type TestServer } from '../../core/testing.ts';
import notes from '../plugins/notes/index.ts';
import pulse from '../plugins/pulse/index.ts';
import { follow, missingBrowser, openBrowser, pageFaults } from '../support/browser.ts';

export const lab = Lab.script();
const { describe, it, before, beforeEach, after } = lab;

const isMissing = missingBrowser() !== null;
const PAGES = ['/', '/es/', '/docs', '/docs/notes', '/es/docs/pulse', '/problems', '/problems/invalid_request', '/es/nowhere'];
const WIDTHS = { desk: { width: 1280, height: 900 }, phone: { width: 360, height: 740 } };

let browser: Browser;
// One page for all tests: each context starts a renderer process of its own.
let page: Page;
before(async () => {
  if (isMissing) return;
  browser = await openBrowser();
  page = await browser.newPage({ viewport: WIDTHS.desk });
});
after(() => browser?.close());

describe('The pages of core', { skip: isMissing }, () => {
  let kit: TestServer;
  let complaints: string[] = [];
  before(async () => {
    kit = await testServer({ plugins: [notes, pulse], listen: true });
    page.on('console', (message) => { if (message.type() === 'error' && !message.text().includes('404')) complaints.push(message.text()); });
    page.on('pageerror', (error) => { complaints.push(error.message); });
  });
  beforeEach(() => { complaints = []; });
  after(() => kit.close());

  for (const path of PAGES) {
    it(`is accessible, in light and dark, and fit a phone: ${path}`, async () => {
      await page.goto(kit.url + path);
      expect(await pageFaults(page)).to.equal([]);
      expect(await page.locator('h1').count()).to.equal(1);
      expect(await page.title()).to.contain('Civic');
      expect(complaints).to.equal([]);
    });
  }

  it('change to Spanish and stay there', async () => {
    await page.setViewportSize(WIDTHS.phone);
    await page.goto(`${kit.url}/problems/not_found?from=here`);
    await follow(page, page.getByRole('link', { name: 'Español' }));
    expect(page.url()).to.equal(`${kit.url}/es/problems/not_found?from=here`);
    await follow(page, page.getByRole('contentinfo').getByRole('link', { name: 'API' }));
    expect(page.url()).to.equal(`${kit.url}/es/docs`);
    await follow(page, page.getByRole('contentinfo').getByRole('link', { name: 'Códigos de error' }));
    expect(await page.textContent('h1')).to.equal('Códigos de error');
    await follow(page, page.getByRole('link', { name: 'English' }));
    expect(page.url()).to.equal(`${kit.url}/en/problems`);
    expect(complaints).to.equal([]);
  });

  it('lead from the start to an operation and its problems by keyboard alone', async () => {
    await page.setViewportSize(WIDTHS.desk);
    await page.goto(kit.url);
    await page.getByRole('link', { name: 'Read the API documentation' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs');
    await page.getByRole('link', { name: '/api/notes/{id}' }).first().focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/notes#*');
    await page.getByText('unknown_note').first().waitFor();
    await page.getByRole('link', { name: 'unknown_note' }).first().click();
    await page.waitForURL('**/problems/unknown_note');
    expect(await page.textContent('h1')).to.contain('No such note');
    expect(complaints).to.equal([]);
  });

  it('filter operations, and show the response to one that is tried, with a script', async () => {
    await page.setViewportSize(WIDTHS.phone);
    await page.goto(`${kit.url}/docs/notes`);
    const operations = page.locator('details.operation:visible');
    const all = await operations.count();
    await page.getByLabel('Filter operations').fill('get NOTES/{id}');
    expect(await operations.count()).to.equal(1);
    await page.getByLabel('Filter operations').fill('nothing like this');
    expect(await operations.count()).to.equal(0);
    await page.getByText('No operation has these words.').waitFor();
    await page.getByLabel('Filter operations').fill('');
    expect(await operations.count()).to.equal(all);

    await page.locator('summary', { hasText: 'GET /api/notes' }).first().click();
    const form = page.locator('form.try:visible');
    await form.getByLabel('limit').fill('3');
    await form.getByRole('button', { name: 'Send request' }).click();
    await form.getByText('/api/notes?limit=3').waitFor();
    expect(await form.locator('.result').textContent()).to.match(/^200 OK · \d+ ms/);
    expect(await form.locator('.result-body').textContent()).to.contain('"next_cursor": null');
    expect(page.url()).to.equal(`${kit.url}/docs/notes`);
    expect(complaints).to.equal([]);
  });

  it('lead to the response of the API without a script', async () => {
    const plain = await browser.newPage({ javaScriptEnabled: false });
    await plain.goto(`${kit.url}/docs/notes#getNotes`);
    expect(await plain.getByLabel('Filter operations').isVisible()).to.be.false();
    await plain.locator('#getNotes form.try').getByRole('button').click();
    await plain.waitForURL('**/api/notes');
    expect(await plain.textContent('body')).to.contain('"data"');
    await plain.close();
  });
});

describe('Scripts on our pages', { skip: isMissing, timeout: 60_000 }, () => {
  let kit: TestServer;
  before(async () => { kit = await testServer({ plugins: ['directory'], listen: true }); });
  after(() => kit.close());

  it('are our assets, and never the JSONP of the reconciliation service', async () => {
    await page.goto(kit.url);
    // What an attacker could do who found a way to put a tag into a page.
    const load = (path: string) => page.evaluate(`new Promise((resolve) => {
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => resolve(effectiveDirective), { once: true });
      const script = document.createElement('script');
      script.onload = () => resolve('loaded');
      script.onerror = () => setTimeout(() => resolve('failed'), 1000);
      script.src = ${JSON.stringify(path)};
      document.head.append(script);
    })`);
    await page.evaluate('globalThis.called = []');
    expect(await load(loadAssets('').get('live')!.path)).to.equal('loaded');
    for (const path of ['/reconcile?callback=called.push', '/assets/../reconcile?callback=called.push', '/reconcile/properties?callback=called.push']) expect(await load(path), path).to.equal('script-src-elem');
    expect(await page.evaluate('called')).to.equal([]);
  });
});
