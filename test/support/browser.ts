import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, CDPSession, Locator, Page } from 'playwright-core';

const CANDIDATES = [process.env.CIVIC_TEST_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executable = CANDIDATES.find((path) => path && existsSync(path));

/** Why there is no browser to test with; null when there is one. `CIVIC_REQUIRE_BROWSER=1` makes its absence an error. */
export function missingBrowser(): string | null {
  const known = process.env.CIVIC_TEST_BROWSER_MISSING;
  if (executable && !known) return null;
  const reason = known ?? 'no Chromium was found: install the package chromium, or name one in CIVIC_TEST_CHROMIUM';
  if (process.env.CIVIC_REQUIRE_BROWSER === '1') throw new Error(reason);
  process.stderr.write(`skipped in the browser: ${reason}\n`);
  return reason;
}

export async function openBrowser(): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath: executable, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'] });
}

export const DESK = { width: 1280, height: 900 };
const AUTHENTICATOR = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true } as const;

/** A browser profile of its own, with an authenticator that confirms every request. */
export interface Device {
  context: BrowserContext;
  page: Page;
  debug: CDPSession;
}

/** Adds the errors of the page to `complaints`; a response with a status of 4xx is none. */
export async function openDevice(browser: Browser, complaints: string[]): Promise<Device> {
  const context = await browser.newContext({ viewport: DESK });
  const page = await context.newPage();
  page.on('console', (message) => { if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) complaints.push(message.text()); });
  page.on('pageerror', (error) => { complaints.push(error.message); });
  const debug = await context.newCDPSession(page);
  await resetAuthenticator(debug);
  return { context, page, debug };
}

/** Gives a device an authenticator without passkeys in place of the one that it has. */
export async function resetAuthenticator(debug: CDPSession): Promise<void> {
  // Also removes the authenticator.
  await debug.send('WebAuthn.disable');
  await debug.send('WebAuthn.enable');
  await debug.send('WebAuthn.addVirtualAuthenticator', { options: AUTHENTICATOR });
}

/** Clicks a link or button that opens another page, and waits for its `load` event: a click returns with the first bytes of the response. */
export async function follow(page: Page, link: Locator): Promise<void> {
  await Promise.all([page.waitForEvent('load'), link.click()]);
}

let source: string | null = null;

/** Returns the minified script, half as long as the one that `import` loads. */
function axeSource(): string {
  return source ??= readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
}

/** Rules whose results depend on colours and sizes. */
const LAYOUT_RULES = ['color-contrast', 'link-in-text-block', 'link-name', 'scrollable-region-focusable', 'target-size'];

/** Returns all that axe reports about a page as it is shown. */
export async function axeFaults(page: Page, rules: 'all' | 'layout' = 'all'): Promise<string[]> {
  // The page's own policy forbids injected scripts, so this runs through the debugger.
  if (!await page.evaluate('"axe" in globalThis')) await page.evaluate(axeSource());
  const chosen = rules === 'all' ? 'rules: { "target-size": { enabled: true } }' : `runOnly: ${JSON.stringify(LAYOUT_RULES)}`;
  // Filtered in the page: sending the whole report takes longer than creating it.
  return page.evaluate(`axe.run(document, { resultTypes: ["violations"], ${chosen} }).then(({ violations }) => violations
    .map(({ id, nodes }) => id + ': ' + nodes.slice(0, 5).map(({ target }) => target.join(' ')).join(', ')))`);
}

/** Returns all that axe reports about a page in light and dark, on a wide screen and on a phone, and whether it is wider than the screen. */
export async function pageFaults(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const [width, colorScheme] of [[1440, 'light'], [1440, 'dark'], [360, 'dark'], [360, 'light']] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    const faults = await axeFaults(page, width === 1440 && colorScheme === 'light' ? 'all' : 'layout');
    found.push(...faults.map((fault) => `${width} px, ${colorScheme}: ${fault}`));
  }
  for (const width of [360, 320]) {
    await page.setViewportSize({ width, height: 740 });
    const wide = Number(await page.evaluate('document.documentElement.scrollWidth'));
    if (wide > width) found.push(`${wide} px wide on a screen of ${width} px`);
  }
  return found;
}
