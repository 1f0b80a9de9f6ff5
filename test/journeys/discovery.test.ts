import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Browser, Page } from 'playwright-core';
import { testServer, type TestServer } from '../../core/testing.ts';
import { freePort } from '../../core/testing/port.ts';
import { runCommand } from '../../plugins/accounts/test/kit.ts';
import { openSite, type Site } from '../../plugins/ingest/test/site.ts';
import { DESK, follow, missingBrowser, openBrowser, pageFaults } from '../support/browser.ts';
import { htmlFaults } from '../support/validator.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const STAFF = `<html><head><title>Our staff</title></head><body><h1>Our staff</h1><p>The Riverbend Tenants Union works for renters in Gladstone.</p>
  <ul><li><h3>Maria Delgado</h3><p>Executive Director</p><a href="mailto:maria@riverbend.example">maria@riverbend.example</a></li><li><h3>Thomas Okafor</h3><p>Lead Organizer</p></li><li><h3>Susan Whitfield</h3><p>Board President</p></li></ul></body></html>`;

/** One story: each step begins where the one before ended. */
describe('A discovery run, with a browser', { skip: missingBrowser() !== null, timeout: 180_000 }, () => {
  let kit: TestServer;
  let site: Site;
  let home: string;
  let workspace: string;
  let run: string;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  before(async () => {
    const port = await freePort();
    home = `http://127.0.0.1:${port}`;
    site = await openSite({ '/staff': STAFF });
    kit = await testServer({
      listen: true, plugins: ['accounts', 'console', 'directory', 'firehose', 'reader', 'workspaces', 'discovery', 'site'],
      // At an IP address a sign-in link begins a full session, without a passkey.
      config: { public_url: home, http: { port, host: '127.0.0.1', fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { reader: { delay_seconds: 0, browser_fallback_enabled: false } } },
    });
    const { id, sign_in_link } = await runCommand(kit, 'account create', { name: 'Ada Example', plan: 'team', role: 'reviewer' }, []);
    const { key, workspace_id } = await runCommand(kit, 'key create', { account: id }, []);
    workspace = `/workspaces/${workspace_id}/discovery`;
    await kit.request('POST', '/api/entities', {
      headers: { 'x-api-key': key }, payload: { type: 'person', visibility: 'public', sources: [{ local_id: 's', url: 'https://city.example/people' }], claims: [{ property: 'name', value: 'María Delgado', source_local_id: 's' }, { property: 'email', value: 'maria@riverbend.example', source_local_id: 's' }] },
    });
    browser = await openBrowser();
    page = await browser.newPage({ viewport: DESK, locale: 'en-US' });
    page.on('console', (message) => { if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) complaints.push(message.text()); });
    page.on('pageerror', (error) => { complaints.push(error.message); });
    await page.goto(sign_in_link);
    await follow(page, page.locator('main button').first());
  });
  after(async () => {
    await browser?.close();
    await kit?.close();
    await site?.close();
  });

  const main = () => page.locator('main').innerText();
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  /** Presses a key that opens another page. */
  const press = (key: string) => Promise.all([page.waitForEvent('load'), page.keyboard.press(key)]);
  /** The page is valid, accessible, and fits a phone. */
  async function readable(path: string): Promise<void> {
    const response = (await page.goto(home + path))!;
    expect(await htmlFaults(await response.text()), path).to.equal([]);
    expect(await pageFaults(page), path).to.equal([]);
    await page.setViewportSize(DESK);
  }

  it('is started with a form that keeps what was typed', async () => {
    await readable(workspace);
    await page.getByLabel('Place', { exact: true }).fill('Springfield');
    await page.locator('.issues summary').first().click();
    await page.locator('.issues input').first().check();
    await page.getByLabel('Pages to begin with').fill(`${site.url}/staff`);
    await follow(page, button('Start the run'));
    expect(await main()).to.contain('No place has this name for certain.').and.contain('Did you mean:');
    expect(await page.evaluate('document.activeElement.id')).to.equal('location');
    expect(await pageFaults(page)).to.equal([]);
    await page.setViewportSize(DESK);
    await page.getByLabel('Place', { exact: true }).fill('Gladstone, MO');
    await button('Start the run').click();
    await page.waitForURL(/discovery\/[\w-]{36}$/);
    run = new URL(page.url()).pathname;
  });

  it('shows its candidates when it ends, without a reload by the reader', async () => {
    await page.locator('.run-state.completed').waitFor();
    expect(await main()).to.contain('Thomas Okafor').and.contain('May be the known entry María Delgado');
  });

  it('moves its bar while it runs', async () => {
    const change = (changes: object) => kit.db.write((tx) => tx('discovery_runs').update(changes));
    await change({ status: 'running', phase: 'read', done: 10, total: 40 });
    await readable(`/es${run}`);
    await page.goto(home + run);
    expect(await button('Cancel the run').isVisible()).to.be.true();
    await change({ done: 1030, total: 2000, candidates: 7 });
    await page.getByText('1,030', { exact: true }).waitFor();
    expect(await page.evaluate('[document.querySelector("progress").value, document.querySelector("progress").max]')).to.equal([1030, 2000]);
    await change({ phase: 'match' });
    await page.getByText('Comparing candidates with known entries').waitFor();
    await change({ status: 'completed' });
    await page.locator('.run-state.completed').waitFor();
  });

  it('is reviewed with keys, and each decision can be undone', async () => {
    await readable(run);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    const second = await page.evaluate('document.activeElement.textContent');
    await press('r');
    expect(await main()).to.contain('1 candidate was rejected.');
    expect(await page.locator('[data-candidate]').allInnerTexts()).to.not.contain(String(second));
    await follow(page, page.getByRole('link', { name: 'Maria Delgado', exact: true }));
    const candidate = new URL(page.url()).pathname;
    await readable(candidate);
    await readable(`/es${candidate}?find=Delgado`);
    await page.goto(home + candidate);
    await press('m');
    expect(await main()).to.contain('Maria Delgado is merged.');
    await press('u');
    expect(await main()).to.contain('The decision is undone.');
    await page.keyboard.press('e');
    await page.locator('#edit').getByLabel('Name', { exact: true }).fill('Maria R. Delgado');
    // Letters that are typed are no shortcuts.
    await page.locator('#edit').getByLabel('Value').pressSequentially('ar');
    expect(await pageFaults(page)).to.equal([]);
    await page.setViewportSize(DESK);
    await follow(page, button('Save'));
    expect(await page.locator('h1').innerText()).to.equal('Maria R. Delgado');
    const archived = await page.getByRole('link', { name: 'Archived page' }).first().getAttribute('href');
    await readable(archived!);
    await page.goto(home + candidate);
    await press('a');
    await readable(candidate);
    await readable(`${run}/sources`);
  });

  it('can be reviewed by the operator in the console', async () => {
    await readable('/console/discovery');
    await page.getByLabel('Place', { exact: true }).fill('Gladstone, MO');
    await page.locator('.issues summary').first().click();
    await page.locator('.issues input').first().check();
    await page.getByLabel('Pages to begin with').fill(`${site.url}/staff`);
    await button('Start the run').click();
    await page.locator('.run-state.completed').waitFor();
    await readable(new URL(page.url()).pathname);
    expect(complaints).to.equal([]);
  });
});
