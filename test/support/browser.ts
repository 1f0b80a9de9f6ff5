import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, Locator, Page } from 'playwright-core';

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

/** Clicks a link or button that opens another page, and waits for its `load` event: a click returns with the first bytes of the response. */
export async function follow(page: Page, link: Locator): Promise<void> {
  await Promise.all([page.waitForEvent('load'), link.click()]);
}

let source: string | null = null;

/** Returns the minified script, half as long as the one that `import` loads. */
function axeSource(): string {
  return source ??= readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
}

/** Returns the serious accessibility faults that axe finds on a page. */
export async function seriousFaults(page: Page, only: 'all' | 'contrast' = 'all'): Promise<string[]> {
  // The page's own policy forbids injected scripts, so this runs through the debugger.
  if (!await page.evaluate('"axe" in globalThis')) await page.evaluate(axeSource());
  const rules = only === 'all' ? '' : ', runOnly: ["color-contrast"]';
  // Filtered in the page: sending the whole report takes longer than creating it.
  return page.evaluate(`axe.run(document, { resultTypes: ["violations"]${rules} }).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(', ')))`);
}
