import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import type { Browser, Page } from 'playwright-core';
import { openDatabase } from '../../core/database/connect.ts';
import { until } from '../../core/test/wait.ts';
import { DESK, follow, missingBrowser, openBrowser, openDevice, axeFaults } from '../support/browser.ts';
import { createInstance, testPlugins, type Instance, type Served } from '../support/civic.ts';
import { htmlFaults } from '../support/validator.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const NARROW = { width: 320, height: 640 };
const plugins = { accounts: {}, console: {}, ratelimit: {}, flaky: { from: join(testPlugins, 'flaky') } };
const ENGLISH = { prefix: '', failed: 'The job flaky.work failed', retry: 'Retry', retried: 'The job runs again.', backUp: 'Back up now', download: /^Download/, calm: 'Nothing needs you today.' };
const SPANISH = {
  prefix: '/es', failed: 'La tarea flaky.work falló', retry: 'Reintentar', retried: 'La tarea se ejecuta de nuevo.', backUp: 'Hacer una copia ahora', download: /^Descargar/, calm: 'Hoy no hay nada que requiera su atención.',
};

/** One story: each step begins where the one before ended. */
describe('An operator, with a browser', { skip: missingBrowser() !== null, timeout: 120_000 }, () => {
  let instance: Instance;
  let served: Served;
  let home: string;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  before(async () => {
    instance = createInstance({ plugins }, { ready: true });
    served = await instance.serve();
    home = served.url.replace('127.0.0.1', 'localhost');
    browser = await openBrowser();
    ({ page } = await openDevice(browser, complaints));
  });
  after(async () => {
    await browser.close();
    await served.stop();
    instance.remove();
  });

  const dataFile = (name: string): string => join(instance.folder, 'data', name);
  const submit = (name: string | RegExp): Promise<void> => follow(page, page.getByRole('button', { name }).first());

  /** Reads a page with the cookies of the browser, without showing it. */
  const textAt = async (path: string): Promise<string> => (await page.request.get(home + path)).text();

  async function readable(path: string, schemes: ('light' | 'dark')[] = ['light']): Promise<void> {
    const response = (await page.goto(home + path))!;
    expect(await htmlFaults(await response.text()), path).to.equal([]);
    expect(response.headers()['cache-control'], path).to.equal('private, no-store');
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme });
      expect(await axeFaults(page, colorScheme === 'light' ? 'all' : 'layout'), `${path} ${colorScheme}`).to.equal([]);
    }
    await page.setViewportSize(NARROW);
    expect(await page.evaluate('document.documentElement.scrollWidth') as number, path).to.be.at.most(NARROW.width);
    await page.setViewportSize(DESK);
  }

  async function failJob(): Promise<void> {
    writeFileSync(dataFile('broken'), '');
    await fetch(`${served.url}/api/flaky`, { method: 'POST' });
    await until(async () => (await textAt('/console')).includes('The printer is on fire'));
  }

  /** As after ten minutes. */
  async function forgetConfirmations(): Promise<void> {
    const db = await openDatabase({ url: null, dataDir: join(instance.folder, 'data'), pool: 1, log: pino({ level: 'silent' }) });
    await db.write((tx) => tx('accounts_sessions').update({ confirmed_at: null }));
    await db.close();
  }

  /** Presses a button after which the browser stores a file, and returns where. */
  async function downloadBy(press: () => Promise<void>): Promise<string> {
    const [download] = await Promise.all([page.waitForEvent('download'), press()]);
    const file = join(instance.folder, download.suggestedFilename());
    await download.saveAs(file);
    return file;
  }

  async function retryInConsole({ prefix, failed, retry, retried }: typeof ENGLISH): Promise<void> {
    await page.goto(`${home}${prefix}/console`);
    await page.getByRole('heading', { name: failed }).waitFor();
    rmSync(dataFile('broken'));
    await submit(retry);
    await page.getByText(retried).waitFor();
    await until(async () => !(await textAt(`${prefix}/console`)).includes(failed));
  }

  it('signs in and sees that nothing but a backup is needed', async () => {
    const link = /http:\/\/localhost\S+/.exec(served.output().split('Become the administrator')[1]!)![0];
    await page.goto(link);
    await page.getByLabel('Your name').fill('Ada Example');
    await submit('Create the administrator');
    await page.getByRole('button', { name: 'Add a passkey' }).first().click();
    await page.waitForURL(/recovery-codes/);
    await page.locator('.visitor summary').click();
    await follow(page, page.getByRole('link', { name: 'Console' }));
    expect(await page.locator('.attention h3').allInnerTexts()).to.equal(['No backup was created yet']);
  });

  it('sees a failing job in the console, and retries it', async () => {
    await failJob();
    await readable('/console', ['dark', 'light']);
    await readable('/console/jobs');
    expect(await htmlFaults(await textAt('/es/console'))).to.equal([]);
    await retryInConsole(ENGLISH);
  });

  it('makes a backup, downloads it, and restores it with the command line', async () => {
    await page.goto(`${home}/console`);
    await submit(ENGLISH.backUp);
    await page.waitForURL(/console\/backups/);
    const download = page.getByRole('button', { name: ENGLISH.download });
    // The script of the page shows the backup when it is complete.
    await download.waitFor();
    const file = await downloadBy(() => download.click());
    expect(file).to.match(/-console\.tar$/);
    const other = createInstance({ plugins });
    const restored = await other.civicInProcess('restore', file);
    expect(restored.code, restored.stderr).to.equal(0);
    expect((await other.civicInProcess('account', 'list')).stdout).to.contain('Ada Example');
    other.remove();
    await readable('/console/backups');
    expect(await htmlFaults(await textAt('/console/audit'))).to.equal([]);
    await page.goto(`${home}/console`);
    await page.getByText(ENGLISH.calm).waitFor();
  });

  it('does the same in Spanish, and confirms the download with a passkey', async () => {
    await failJob();
    await retryInConsole(SPANISH);
    await page.goto(`${home}/es/console/backups`);
    await submit(SPANISH.backUp);
    const download = page.getByRole('button', { name: SPANISH.download });
    await until(async () => await download.count() === 2);
    await forgetConfirmations();
    await follow(page, download.first());
    const confirm = page.getByRole('main').getByRole('button').first();
    expect(await downloadBy(() => confirm.click())).to.match(/-console\.tar$/);
    await page.waitForURL(/\/es\/console\/backups\?download=/);
    await page.goto(`${home}/es/console`);
    await page.getByText(SPANISH.calm).waitFor();
    expect(complaints).to.equal([]);
  });
});
