import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Browser, Page } from 'playwright-core';
import { testServer, type TestServer } from '../../core/testing.ts';
import notes from '../plugins/notes/index.ts';
import pulse from '../plugins/pulse/index.ts';
import { missingBrowser, openBrowser, seriousFaults } from '../support/browser.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PAGES = ['/', '/docs', '/problems', '/problems/invalid_request', '/nowhere'];
const WIDTHS = { desk: { width: 1280, height: 900 }, phone: { width: 360, height: 740 } };

describe('The pages of core', { skip: missingBrowser() !== null }, () => {
  let kit: TestServer;
  let browser: Browser;
  before(async () => {
    kit = await testServer({ plugins: [notes, pulse], listen: true });
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await kit.close();
  });

  async function visit(path: string, options: object, work: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext(options);
    try {
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => { if (message.type() === 'error' && !message.text().includes('404')) complaints.push(message.text()); });
      page.on('pageerror', (error) => { complaints.push(error.message); });
      await page.goto(kit.url + path);
      await work(page);
      expect(complaints).to.equal([]);
    } finally {
      await context.close();
    }
  }

  for (const path of PAGES) {
    for (const colorScheme of ['light', 'dark'] as const) {
      it(`can be read by everybody: ${path}, ${colorScheme}`, () => visit(path, { colorScheme, viewport: WIDTHS.desk }, async (page) => {
        expect(await seriousFaults(page, colorScheme === 'light' ? 'all' : 'contrast')).to.equal([]);
        expect(await page.locator('h1').count()).to.equal(1);
        expect(await page.title()).to.contain('Civic');
      }));
    }

    it(`fit a phone: ${path}`, () => visit(path, { viewport: WIDTHS.phone }, async (page) => {
      expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).to.be.at.most(WIDTHS.phone.width);
    }));
  }

  it('lead from the start to an operation and its problems by keyboard alone', () => visit('/', { viewport: WIDTHS.desk }, async (page) => {
    await page.getByRole('link', { name: 'Read the API documentation' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs');
    const operation = page.locator('summary', { hasText: '/api/notes/{id}' }).first();
    await operation.focus();
    await page.keyboard.press('Enter');
    await page.getByText('unknown_note').first().waitFor();
    await page.getByRole('link', { name: 'unknown_note' }).first().click();
    await page.waitForURL('**/problems/unknown_note');
    expect(await page.textContent('h1')).to.contain('No such note');
  }));
});
