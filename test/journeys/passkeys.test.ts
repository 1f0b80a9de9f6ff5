import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pino from 'pino';
import type { Browser, Page } from 'playwright-core';
import { openDatabase } from '../../core/database/connect.ts';
import { DESK, follow, missingBrowser, openBrowser, openDevice, resetAuthenticator, pageFaults, type Device } from '../support/browser.ts';
import { createInstance, type Instance, type Served } from '../support/civic.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PHONE = { width: 360, height: 740 };

/** Makes all sessions of an instance forget when their account last proved who it is, as after ten minutes. */
async function forgetConfirmations(dataFolder: string): Promise<void> {
  const db = await openDatabase({ url: null, dataDir: dataFolder, pool: 1, log: pino({ level: 'silent' }) });
  await db.write((tx) => tx('accounts_sessions').update({ confirmed_at: null }));
  await db.close();
}

/** One story: each step begins where the one before ended. */
describe('An administrator, with a browser and passkeys', { skip: missingBrowser() !== null, timeout: 120_000 }, () => {
  let instance: Instance;
  let served: Served;
  let home: string;
  let browser: Browser;
  let own: Device;
  let page: Page;
  // Each profile starts processes of its own, so all other devices of the story are one, emptied before each use.
  let other: Device;
  let codes: string[];
  const complaints: string[] = [];

  before(async () => {
    instance = createInstance({ plugins: { accounts: {}, directory: {}, ratelimit: {} } }, { ready: true });
    served = await instance.serve();
    home = served.url.replace('127.0.0.1', 'localhost');
    browser = await openBrowser();
    own = await openDevice(browser, complaints);
    page = own.page;
    other = await openDevice(browser, complaints);
  });
  after(async () => {
    await browser.close();
    await served.stop();
    instance.remove();
  });

  /** Returns the page of a device that is not signed in and has no passkey. */
  async function emptyDevice(): Promise<Page> {
    await other.context.clearCookies();
    await resetAuthenticator(other.debug);
    return other.page;
  }

  async function readable(): Promise<void> {
    expect(await pageFaults(page), page.url()).to.equal([]);
    expect(await page.locator('h1').count(), page.url()).to.equal(1);
    await page.setViewportSize(DESK);
  }

  const press = (name: string | RegExp): Promise<void> => page.getByRole('button', { name }).first().click();
  /** Presses a button that leads to another page. */
  const submit = (name: string): Promise<void> => follow(page, page.getByRole('button', { name }).first());
  const signOut = async (): Promise<void> => {
    await page.locator('.visitor summary').click();
    await press('Sign out');
    await page.waitForURL(/sign-in$/);
  };
  const status = async (key: string): Promise<string> => (await promisify(execFile)('curl', ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-H', `X-API-Key: ${key}`, `${home}/api/workspaces`])).stdout;

  it('signs in with the link that the first start prints, and adds a passkey', async () => {
    const link = /http:\/\/localhost\S+/.exec(served.output().split('Become the administrator')[1]!)![0];
    await page.goto(link);
    await readable();
    await page.getByLabel('Your name').fill('Ada Example');
    await press('Create the administrator');
    await page.waitForURL(/account\/passkeys$/);
    await readable();
    await press('Add a passkey');
    await page.waitForURL(/recovery-codes/);
    await page.goto(link);
    expect(await page.textContent('h1')).to.equal('This link no longer works');
  });

  it('writes recovery codes down', async () => {
    await page.goto(`${home}/account/recovery-codes`);
    await readable();
    await follow(page, page.getByRole('button', { name: 'Create recovery codes' }));
    codes = await page.locator('ol code').allTextContents();
    expect(new Set(codes).size).to.equal(10);
    await readable();
  });

  it('signs out, and in again without typing a name', async () => {
    await signOut();
    await readable();
    await press('Sign in with a passkey');
    await page.waitForURL(/account$/);
    expect(await page.textContent('.visitor .who')).to.equal('Ada Example');
    await readable();
  });

  it('makes a key, uses it with curl, and revokes it', async () => {
    await page.goto(`${home}/account/keys`);
    await page.getByLabel('Name').fill('Nightly import');
    await submit('Create key');
    const key = (await page.textContent('#key'))!;
    await readable();
    await own.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await press('Copy');
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(key);
    expect(await status(key)).to.equal('200');
    await follow(page, page.getByRole('link', { name: 'Done' }));
    expect(await page.content()).to.not.contain(key);
    await readable();
    await follow(page, page.getByRole('link', { name: 'Revoke Nightly import' }));
    await readable();
    await press('Revoke');
    await page.getByText('The key is revoked').waitFor();
    expect(await status(key)).to.equal('401');
  });

  it('sees what the key was used for', async () => {
    await page.goto(`${home}/account/plan`);
    expect(await page.locator('.plot title').last().textContent()).to.contain(': 1 request');
    await readable();
  });

  it('has a second passkey on another device, renames and removes it', async () => {
    const { stdout } = await instance.civicInProcess('account', 'list', '--json');
    const made = JSON.parse((await instance.civicInProcess('account', 'sign-in-link', '--account', JSON.parse(stdout)[0].id, '--json')).stdout);
    const second = await emptyDevice();
    await second.goto(made.sign_in_link);
    await second.getByRole('button', { name: 'Sign in' }).click();
    await second.getByLabel('Passkey name').fill('Phone');
    await second.getByRole('button', { name: 'Add a passkey' }).click();
    await second.getByText('The passkey is added').waitFor();
    await page.goto(`${home}/account/passkeys`);
    await page.getByLabel('Rename Phone').click();
    await page.getByLabel('New name of Phone').fill('Old phone');
    await press('Save');
    await follow(page, page.getByRole('link', { name: 'Remove Old phone' }));
    await page.getByText('Your other passkeys go on working').waitFor();
    expect(await page.content()).to.not.contain('your last passkey');
    await submit('Remove');
    await page.getByText('The passkey is removed').waitFor();
    expect(await page.locator('.things h2').count()).to.equal(1);
    await follow(page, page.getByRole('link', { name: /^Remove/ }));
    await page.getByText('This is your last passkey').waitFor();
    await readable();
  });

  it('without any device signs in with a recovery code and adds a new passkey', async () => {
    const fresh = await emptyDevice();
    await fresh.goto(`${home}/sign-in/code`);
    await fresh.getByLabel('Recovery code').fill(codes[3]!.toLowerCase());
    await fresh.getByRole('button', { name: 'Sign in' }).click();
    await fresh.waitForURL(/account\/passkeys$/);
    await fresh.goto(`${home}/account/keys`);
    expect(new URL(fresh.url()).pathname, 'nothing else is open yet').to.equal('/account/passkeys');
    await fresh.getByRole('button', { name: 'Add a passkey' }).click();
    await fresh.waitForURL(/account\/keys$/);
  });

  it('finds every page readable, in light and dark and on a phone', async () => {
    await page.goto(`${home}/account/workspaces`);
    await page.getByLabel('Name').fill('Harlow Ferry Watch, a group with quite a long name');
    await press('Create workspace');
    await follow(page, page.getByRole('button', { name: 'Create link' }));
    await readable();
    const invitation = (await page.textContent('#invitation'))!;
    await page.locator('.visitor summary').click();
    await readable();
    for (const path of ['/account/passkeys', '/account/sessions', '/account/workspaces', '/sign-in/code', '/invitations?token=none', invitation.slice(home.length)]) {
      await page.goto(home + path);
      await readable();
    }
  });

  it('with a name, keys and workspaces that have long names, finds nothing beside the page', async () => {
    const long = `Wilhelmina-Alexandrina of Harlow Ferry ${'w'.repeat(60)}`;
    await page.goto(`${home}/account`);
    await page.getByLabel('Name').fill(long);
    await follow(page, page.getByRole('button', { name: 'Save' }).first());
    await page.goto(`${home}/account/workspaces`);
    await page.getByLabel('Name', { exact: true }).fill(long);
    await press('Create workspace');
    await page.waitForURL(/done=made/);
    await page.goto(`${home}/account/keys`);
    await page.getByLabel('Name').fill(long);
    await follow(page, page.getByRole('button', { name: 'Create key' }));
    for (const path of ['/account', '/account/keys', '/account/workspaces', '/account/plan', '/account/sessions']) {
      await page.goto(home + path);
      await page.evaluate('document.querySelector(".visitor").open = true');
      for (const size of [DESK, PHONE]) {
        await page.setViewportSize(size);
        const { left, right, width } = await page.evaluate(`(({ left, right }) => ({ left, right, width: document.documentElement.scrollWidth }))(document.querySelector('.visitor .menu').getBoundingClientRect())`) as { left: number; right: number; width: number };
        expect(left >= 0 && right > left && right <= size.width, `the menu of ${path} at ${size.width}`).to.be.true();
        expect(width, `${path} at ${size.width}`).to.be.at.most(size.width);
      }
    }
    await page.setViewportSize(DESK);
  });

  it('without JavaScript makes a key all the same, and is offered nothing that does not work', async () => {
    await own.debug.send('Emulation.setScriptExecutionDisabled', { value: true });
    await page.goto(`${home}/account/keys`);
    await page.getByLabel('Name').fill('Without a script');
    await submit('Create key');
    expect(await page.textContent('#key')).to.match(/^civic_/);
    expect(await page.getByRole('button', { name: 'Copy' }).count()).to.equal(0);
    await own.debug.send('Emulation.setScriptExecutionDisabled', { value: false });
  });

  it('confirms who it is for a change, a while after signing in, and the form is not lost', async () => {
    await page.goto(`${home}/account/keys`);
    await page.getByLabel('Name').fill('Kept over the question');
    await forgetConfirmations(join(instance.folder, 'data'));
    await submit('Create key');
    await page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor();
    await readable();
    await press('Confirm with a passkey');
    await page.locator('#key').waitFor();
    await page.goto(`${home}/account`);
    await page.getByText('The API key “Kept over the question” was created.').first().waitFor();
    await readable();
    await forgetConfirmations(join(instance.folder, 'data'));
    await page.goto(`${home}/account/passkeys`);
    await press('Add a passkey');
    await press('Confirm with a passkey');
    await page.getByText('Now add the passkey').waitFor();
    for (const path of ['/console', '/console/accounts']) {
      await page.goto(home + path);
      await readable();
    }
  });

  it('who cancels goes on where they were', async () => {
    const fresh = await emptyDevice();
    await fresh.goto(`${home}/sign-in`);
    await fresh.getByRole('button', { name: 'Sign in with a passkey' }).focus();
    await fresh.keyboard.press('Enter');
    await fresh.getByText('Nothing was done').waitFor();
    expect(await fresh.evaluate('document.activeElement.textContent')).to.equal('Sign in with a passkey');
  });

  it('is put into the field that is wrong', async () => {
    await page.goto(`${home}/account/keys`);
    await page.locator('form.card').evaluate((form) => { (form as unknown as { noValidate: boolean }).noValidate = true; });
    await submit('Create key');
    await page.getByText('Give a name.').waitFor();
    expect(await page.evaluate('document.activeElement.id')).to.equal('name');
  });

  it('reaches and does everything by keyboard alone', async () => {
    await page.goto(home);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('Skip to the content');
    const focus = async (words: RegExp): Promise<void> => {
      for (let i = 0; i < 40; i++) {
        if (words.test(String(await page.evaluate('document.activeElement.textContent || document.activeElement.id')))) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`Tab never reaches ${words}`);
    };
    await focus(/^Wilhelmina/);
    await page.keyboard.press('Enter');
    await focus(/^Your account$/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/account$/);
    await focus(/^Sessions$/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/sessions$/);
    await focus(/^Sign out everywhere$/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/sign-in$/);
    await focus(/^Sign in with a passkey$/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/account$/);
  });

  it('is never hindered by the page\'s own policy', () => {
    expect(complaints).to.equal([]);
  });

  it('leaves no secret in the log', () => {
    const log = served.output().split('Ctrl-C stops it')[1]!;
    expect(log).to.contain('/sign-in/link?token=[masked]');
    for (const secret of codes) expect(log).to.not.contain(secret);
    expect(log).to.not.match(/civic_[0-9A-Za-z]{8}_|token=[0-9A-Za-z]/);
  });
});
