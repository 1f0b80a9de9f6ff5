// Takes the pictures of README.md and of the plugin flags from a demo instance: npm run pictures. Needs Chromium, as the browser tests do.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { follow, openBrowser, openDevice } from '../dist/test/support/browser.js';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'docs/images');
const WIDTH = 976;
const START_SECONDS = 300;

const data = mkdtempSync(join(tmpdir(), 'civic-pictures-'));
const port = await freePort();
const url = `http://localhost:${port}`;
const config = join(data, 'civic.yaml');
writeFileSync(config, JSON.stringify({ name: 'Kestrel Valley Civic', data_dir: join(data, 'data'), http: { port }, log: { level: 'warn' }, plugins: { directory: null, accounts: null, firehose: null, flags: null, site: null } }));
const server = spawn(process.execPath, [join(root, 'bin/civic'), 'serve', '--demo', '--config', config], { stdio: ['ignore', 'inherit', 'pipe'] });
let printed = '';
server.stderr.on('data', (text) => { printed += text; });
try {
  await started();
  const { data: [entry] } = await (await fetch(`${url}/api/entities?query=${encodeURIComponent('Harlow Ferry Tenants Union')}&limit=1`)).json();
  mkdirSync(folder, { recursive: true });
  const browser = await openBrowser();
  const page = await browser.newPage({ colorScheme: 'light' });
  const pictures = [{ name: 'home', path: '/', height: 620 }, { name: 'place', path: '/places/harlow-ferry,tamarack', height: 620 }, { name: 'entry', path: `/actors/${entry.id}`, height: 740 }];
  for (const { name, path, height } of pictures) {
    await page.setViewportSize({ width: WIDTH, height });
    await page.goto(url + path);
    await page.screenshot({ path: join(folder, `${name}.png`) });
  }
  await queuePicture(browser, entry.id);
  await browser.close();
} finally {
  server.kill();
  await new Promise((resolve) => { server.once('exit', resolve); });
  rmSync(data, { recursive: true, force: true });
}

/** Takes a picture of the review queue, as the first administrator sees it. */
async function queuePicture(browser, entryId) {
  const { data: [first, second, third] } = await (await fetch(`${url}/api/entities?query=food&limit=3`)).json();
  const report = (entity_id, flag_type, reason) => fetch(`${url}/api/entity-flags`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ entity_id, flag_type, reason }) });
  await report(first.id, 'privacy', 'This is the home number of a volunteer. Please remove it.');
  await report(entryId, 'incorrect', 'They have a new number since March; the old one belongs to a bakery.');
  await report(entryId, 'incorrect', 'The number on this page does not work.');
  await report(second.id, 'closed', 'The pantry closed at the end of the summer.');
  await report(third.id, 'duplicate', 'This is listed twice.');
  const { page } = await openDevice(browser, []);
  await page.goto(/http:\/\/localhost\S+/.exec(printed.split('Become the administrator')[1])[0]);
  await page.getByLabel('Your name').fill('Ada Example');
  await follow(page, page.getByRole('button', { name: 'Create the administrator' }));
  await page.getByRole('button', { name: 'Add a passkey' }).first().click();
  await page.waitForURL(/recovery-codes/);
  await page.setViewportSize({ width: WIDTH, height: 760 });
  await page.goto(`${url}/console/reports`);
  await page.screenshot({ path: join(folder, 'queue.png') });
}

/** Waits until the demo is loaded and the server listens. */
async function started() {
  for (let seconds = 0; seconds < START_SECONDS; seconds++) {
    if (await fetch(`${url}/health`).then(({ ok }) => ok, () => false)) return;
    await sleep(1000);
  }
  throw new Error('The server did not start.');
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = probe.address();
      probe.close(() => resolve(free));
    });
  });
}
