import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Browser, Page } from 'playwright-core';
import { testServer, type TestServer } from '../../core/testing.ts';
import { freePort } from '../../core/testing/port.ts';
import { runCommand } from '../../plugins/accounts/test/kit.ts';
import { missingBrowser, openBrowser } from '../support/browser.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('A user who keeps a list, in a browser', { skip: missingBrowser() !== null, timeout: 120_000 }, () => {
  let kit: TestServer;
  let home: string;
  let browser: Browser;
  let page: Page;
  let actor: string;

  before(async () => {
    const port = await freePort();
    home = `http://127.0.0.1:${port}`;
    // At an IP address a sign-in link begins a full session, without a passkey.
    kit = await testServer({ plugins: ['accounts', 'directory', 'site', 'workspaces'], listen: true, config: { http: { port }, public_url: home } });
    const { id, sign_in_link } = await runCommand(kit, 'account create', { name: 'Ada Example', plan: 'team', role: 'admin' }, []);
    const { key } = await runCommand(kit, 'key create', { account: id }, []);
    const claims = [{ property: 'name', value: 'River Watch', source_local_id: 's' }];
    actor = (await kit.request('POST', '/api/entities', { payload: { type: 'organization', visibility: 'public', sources: [{ local_id: 's', url: 'https://example.org/river' }], claims }, headers: { 'x-api-key': key } })).body.id;
    browser = await openBrowser();
    // The pages need no script.
    page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
    await page.goto(sign_in_link);
    await page.locator('main form button').click();
  });
  after(async () => {
    await browser?.close();
    await kit?.close();
  });

  it('saves an entry from its page, with a note', async () => {
    await page.goto(`${home}/actors/${actor}`);
    await page.getByRole('link', { name: 'Save to a list' }).click();
    await page.getByLabel('Name of a new list').fill('To call');
    await page.getByLabel('Note').fill('Ask about the hearing');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    expect(await page.getByRole('status').textContent()).to.equal('Added to this list.');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).to.equal('To call');
    expect(await page.getByLabel('Note', { exact: true }).inputValue()).to.equal('Ask about the hearing');
  });

  it('downloads the list, and finds the note in it', async () => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'CSV' }).click()]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).to.contain('River Watch,current,Ask about the hearing');
  });

  it('removes the entry and deletes the list', async () => {
    await page.getByRole('button', { name: 'Remove River Watch' }).click();
    expect(await page.getByRole('status').textContent()).to.equal('Removed from this list.');
    await page.getByText('Rename or delete').click();
    await page.getByRole('button', { name: 'Delete the list' }).click();
    expect(page.url()).to.contain('/lists?done=deleted');
    expect(await page.getByText('No lists yet.').isVisible()).to.be.true();
  });
});
