import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Browser } from 'playwright-core';
import { loadAssets } from '../../core/http/assets.ts';
import { testServer, type TestServer } from '../../core/testing.ts';
import { missingBrowser, openBrowser } from '../support/browser.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('Scripts on our pages', { skip: missingBrowser() !== null, timeout: 60_000 }, () => {
  let kit: TestServer;
  let browser: Browser;
  before(async () => {
    kit = await testServer({ plugins: ['directory'], listen: true });
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await kit.close();
  });

  it('are our assets, and never the JSONP of the reconciliation service', async () => {
    const page = await browser.newPage();
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
    await page.close();
  });
});
