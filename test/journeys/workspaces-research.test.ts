import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Browser, Page } from 'playwright-core';
import { freePort } from '../../core/testing/port.ts';
import { startMailbox, type Mailbox } from '../../plugins/accounts/test/mailbox.ts';
import { watchKit, type WatchKit } from '../../plugins/workspaces/test/watch-kit.ts';
import { follow, missingBrowser, openBrowser, openDevice, pageFaults } from '../support/browser.ts';
import { htmlFaults } from '../support/validator.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const HERE = { places: ['liberty,missouri'] };

/** One story: each step begins where the one before ended. */
describe('A member of a workspace, with a browser', { skip: missingBrowser() !== null, timeout: 180_000 }, () => {
  let kit: WatchKit;
  let mailbox: Mailbox;
  let home: string;
  let workspace: string;
  let entry: { id: string };
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  before(async () => {
    const port = await freePort();
    home = `http://localhost:${port}`;
    mailbox = await startMailbox();
    kit = await watchKit('sqlite', { port, plugins: ['site', 'reader', 'ingest'], sections: { accounts: { mail: { smtp_url: mailbox.url } } } });
    const { id, sign_in_link } = await kit.run('account create', { name: 'Ada Example', email: 'ada@example.org', plan: 'team', role: 'user' });
    const { workspace_id } = await kit.run('key create', { account: id });
    workspace = `/workspaces/${workspace_id}`;
    entry = await kit.actor('River Tenants Union');
    browser = await openBrowser();
    ({ page } = await openDevice(browser, complaints));
    await page.goto(sign_in_link);
    await press('Sign in');
    await press('Add a passkey');
    await page.waitForURL(/recovery-codes/);
  });
  after(async () => {
    await browser?.close();
    await kit?.close();
    mailbox?.close();
  });

  const press = (name: string) => follow(page, page.getByRole('button', { name, exact: true }).first());
  const main = () => page.locator('main').innerText();

  /** The page is valid, accessible, fits a phone, and is never stored. */
  async function readable(path: string): Promise<void> {
    const response = (await page.goto(home + path))!;
    expect(await htmlFaults(await response.text()), path).to.equal([]);
    expect(response.headers()['cache-control'], path).to.equal('private, no-store');
    expect(await pageFaults(page), path).to.equal([]);
    await page.setViewportSize({ width: 1280, height: 900 });
  }

  it('writes a brief, and is told which line is wrong', async () => {
    await readable(`${workspace}/briefs/new`);
    await page.getByLabel('Title').fill('Rents in Liberty');
    await page.getByLabel('Findings').fill('## Who works on it\n\nThe union **meets** weekly, see [the page](https://example.org/union). <script>alert(1)</script>');
    await page.getByLabel('Places').fill('Nowhere at all');
    await press('Save');
    expect(await main()).to.contain('names no single place');
    await page.getByLabel('Places').fill('Liberty, MO');
    await page.getByLabel('Entries').fill(`${home}/actors/${entry.id}`);
    await press('Save');
    const text = await main();
    expect(text).to.contain('The brief was created.').and.to.contain('Who works on it').and.to.contain('<script>alert(1)</script>');
    expect(text).to.contain('River Tenants Union').and.to.contain('No public entry works in Liberty, MO.');
  });

  it('edits it, prints it and downloads it, with public records apart from private notes', async () => {
    const path = new URL(page.url()).pathname;
    await readable(path);
    await follow(page, page.getByRole('link', { name: 'Edit', exact: true }));
    await page.getByLabel('Title').fill('Rents in Liberty, spring');
    await press('Save');
    await readable(`${path}/print`);
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('header').first().isVisible()).to.be.false();
    expect(await page.locator('.brief-public').innerText()).to.contain('River Tenants Union').and.to.contain('https://example.org/');
    expect(await page.locator('.brief-public').innerText()).to.not.contain('Who works on it');
    await page.emulateMedia({ media: 'screen' });
    const files = await Promise.all(['json', 'csv', 'md', 'html'].map(async (format) => page.request.get(`${home}${path}/file.${format}`)));
    for (const file of files) expect(file.headers()['content-disposition']).to.match(/^attachment/);
    expect((await files[0]!.json()).brief.title).to.equal('Rents in Liberty, spring');
    expect(await files[3]!.text()).to.not.contain('<script>');
  });

  it('watches a place, gets one mail for two signals, and reads them in the digest', async () => {
    await page.goto(`${home}${workspace}/watches`);
    await page.getByLabel('Place').first().fill('Liberty, MO');
    await page.getByLabel('Mails', { exact: true }).first().selectOption('immediate');
    await press('Watch');
    expect(await main()).to.contain('the place Liberty, MO');
    await kit.publish({ title: 'Council votes on rents', ...HERE }, { title: 'Hearing on repairs', ...HERE });
    kit.clock.advance(75_000);
    expect(await mailbox.mailTo('ada@example.org', 'Hearing on repairs')).to.contain('Subject: Council votes on rents, and 1 more');
    await readable(`${workspace}/digest`);
    expect(await main()).to.contain('Council votes on rents').and.to.contain('You watch the place Liberty, MO.');
  });

  it('watches an entry from its page, once', async () => {
    await page.goto(`${home}/actors/${entry.id}`);
    await follow(page, page.getByRole('link', { name: 'Watch this entry' }));
    await press('Watch');
    expect(await main()).to.contain('The watch was added.').and.to.contain('the entry River Tenants Union');
    await page.goto(`${home}${workspace}/watches?entry=${entry.id}`);
    await press('Watch');
    expect(await main()).to.contain('You watch this already.');
  });

  it('reads the same in a private feed, until the address is revoked', async () => {
    await readable(`${workspace}/watches`);
    await press('Create an address');
    // The address has no spaces: it must break to fit a phone.
    expect(await pageFaults(page)).to.equal([]);
    const address = await page.locator('.secret code').innerText();
    const feed = await fetch(address);
    expect([feed.status, feed.headers.get('cache-control'), feed.headers.get('x-robots-tag')]).to.equal([200, 'private, no-store', 'noindex']);
    expect(await feed.text()).to.contain('Hearing on repairs');
    expect((await kit.db.read('workspaces_subscribers').first()).feed_hash).to.not.equal(new URL(address).searchParams.get('token'));
    await page.goto(`${home}${workspace}/watches`);
    expect(await main()).to.not.contain('token=');
    await press('Revoke the address');
    expect((await fetch(address)).status).to.equal(404);
  });

  it('adds watched sources, and opens one', async () => {
    await page.goto(home + workspace);
    await follow(page, page.getByRole('navigation', { name: 'Workspace' }).getByRole('link', { name: 'Watched sources' }));
    await follow(page, page.getByRole('link', { name: 'Add several sources' }));
    // Reads of private addresses are refused, so nothing is requested.
    await page.getByLabel('Addresses').fill(`http://127.0.0.1:9/${'calendar-'.repeat(20)}`);
    await press('Watch them');
    expect(await main()).to.contain('One source was added.');
    await readable(`/es${workspace}/sources`);
    await follow(page, page.getByRole('link', { name: '127.0.0.1' }));
    await readable(new URL(page.url()).pathname);
  });

  it('ends the mails with the link of a mail, in Spanish', async () => {
    const link = /List-Unsubscribe:\s*<([^>]*)>/.exec(await mailbox.mailTo('ada@example.org', 'Hearing on repairs'))![1]!;
    await readable(link.replace(home, '/es'));
    await press('Dejar de recibir correos');
    expect(await main()).to.contain('Ya no recibirá correos');
    await readable(`/es${workspace}/watches`);
    expect(await page.getByLabel('Enviarme correos').isChecked()).to.be.false();
    await readable(`/es${workspace}/briefs`);
    expect(complaints).to.equal([]);
  });
});
