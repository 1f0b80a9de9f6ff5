import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { parse } from 'yaml';
import { projectRoot } from '../../core/root.ts';
import { testServer, type TestServer } from '../../core/testing.ts';
import { axeFaults, missingBrowser, openBrowser, pageFaults } from '../support/browser.ts';
import { run } from '../../plugins/directory/test/command.ts';
import { htmlFaults } from '../support/validator.ts';
import { compressedSize, loadedBy, textOf, walk, type Walk, type WalkedPage } from '../support/walk.ts';

export const notQuick = 'it loads the demo and opens every kind of page';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** Pages of accounts have tests of their own; so has what programs read. */
const NOT_PUBLIC = /^\/(?:api|account|console|signin|sign-in|invitations|oauth|device|metrics|openapi\.json|asyncapi\.json|health|reconcile|mcp|live)(?:[/?]|$)/;
const STARTS = ['/', '/sitemap.xml', '/robots.txt', '/favicon.ico', '/es/', '/es/issues', '/es/map', '/es/about'];

const MOST_BYTES = 60_000;
const MOST_SCRIPT_BYTES = 30_000;
const DESK = { width: 1280, height: 900 };

const plainPath = (path: string): string => path.replace(/^\/(?:en|es)(?=[/?]|$)/, '') || '/';
const isFollowed = (path: string): boolean => !/^\/en(?:[/?]|$)/.test(path) && !NOT_PUBLIC.test(plainPath(path));

describe('The public site of a demo instance', { timeout: 300_000 }, () => {
  let kit: TestServer;
  let url: string;
  let walked: Walk;
  let pages: WalkedPage[];
  before(async () => {
    kit = await testServer({ plugins: ['directory', 'firehose', 'accounts', 'oauth', 'mcp', 'site', 'flags'], listen: true });
    url = kit.composition.server.info.uri;
    await run(kit, 'demo load');
    walked = await walk({ url, starts: STARTS, each: (path) => (path.startsWith('/es') ? 1 : 2), isFollowed });
    pages = [...walked.pages.values()].filter(({ isPage, status }) => isPage && status < 400);
  });
  after(() => kit?.close());

  /** The last that was opened of each kind of page. */
  const onePerKind = (): WalkedPage[] => [...new Map(pages.map((page) => [page.kind, page])).values()];
  /** The pages that describe the operations of one plugin. */
  const references = (): WalkedPage[] => pages.filter(({ path }) => path.startsWith('/docs/'));
  const faultsOf = (check: (page: WalkedPage) => string[]): string[] => pages.flatMap((page) => check(page).map((fault) => `${page.path}: ${fault}`));

  it('has no link that leads nowhere', () => {
    expect(walked.broken).to.equal([]);
    const paths = pages.map(({ path }) => path);
    expect(paths).to.include(['/', '/issues', '/map', '/about', '/signals', '/es/about', '/problems']);
    for (const begin of ['/issues/', '/domains/', '/map/', '/places/', '/actors/', '/sources/']) expect(paths.some((path) => path.startsWith(begin)), begin).to.be.true();
  });

  it('is valid HTML', async () => {
    const faults = await Promise.all([...onePerKind().filter(({ path }) => !/^\/(?:es|docs\/)/.test(path)), ...references()].map(async ({ path, text }) => (await htmlFaults(text)).map((fault) => `${path}: ${fault}`)));
    expect([...new Set(faults.flat())].slice(0, 40)).to.equal([]);
  });

  it('has linked data that is JSON of schema.org', () => {
    const blocks = pages.flatMap(({ path, text }) => [...text.matchAll(/<script type="application\/ld\+json">([^]*?)<\/script>/g)].map(([, data]) => ({ path, data: JSON.parse(data!) as Record<string, unknown> })));
    expect(blocks.filter(({ data }) => data['@context'] !== 'https://schema.org').map(({ path }) => path)).to.equal([]);
    expect(blocks.length).to.be.at.least(1);
  });

  it('loads nothing from other sites, has no inline script or style, and sets no cookie', () => {
    expect(faultsOf(({ text }) => loadedBy(text).filter((address) => !address.startsWith('/') || address.startsWith('//')))).to.equal([]);
    expect(faultsOf(({ text }) => (/<script(?![^>]*(?:\ssrc=|ld\+json))|<style|\sstyle="|\son[a-z]+="/.test(text) ? ['inline script or style'] : []))).to.equal([]);
    expect(faultsOf(({ headers }) => {
      const policy = headers.get('content-security-policy') ?? '';
      return policy.includes("default-src 'none'") && !policy.includes('unsafe') ? [] : [`policy ${policy}`];
    })).to.equal([]);
    expect(faultsOf(({ headers }) => (headers.has('set-cookie') ? ['sets a cookie'] : []))).to.equal([]);
  });

  it('has small pages', async () => {
    const addresses = new Set(pages.flatMap(({ text }) => loadedBy(text)));
    const sizes = new Map(await Promise.all([...addresses].map(async (address): Promise<[string, number]> => [address, compressedSize(Buffer.from(await (await fetch(url + address)).arrayBuffer()))])));
    const sum = (list: string[]): number => [...new Set(list)].reduce((total, address) => total + sizes.get(address)!, 0);
    expect(faultsOf(({ text }) => {
      const bytes = compressedSize(text) + sum(loadedBy(text));
      return bytes > MOST_BYTES ? [`${bytes} bytes compressed`] : [];
    })).to.equal([]);
    expect(faultsOf(({ text }) => {
      const bytes = sum(loadedBy(text).filter((address) => address.endsWith('.js')));
      return bytes > MOST_SCRIPT_BYTES ? [`${bytes} bytes of scripts`] : [];
    })).to.equal([]);
  });

  it('has a title, one heading of the first level, and an address for search engines or none for them', () => {
    expect(faultsOf(({ text }) => (/<title>[^<]*[^<\s][^<]*<\/title>/.test(text) && text.match(/<h1[\s>]/g)?.length === 1 ? [] : ['title or h1']))).to.equal([]);
    expect(faultsOf(({ text }) => {
      const isListed = text.includes('<link rel="canonical"') && text.includes('hreflang="es"') && text.includes('hreflang="x-default"');
      return isListed || text.includes('<meta name="robots" content="noindex">') ? [] : ['neither canonical nor noindex'];
    })).to.equal([]);
  });

  it('has no text in English on Spanish pages, and no key of a text', () => {
    const [english, spanish] = ['en', 'es'].map((language) => textsIn(language));
    const other = [...english!].filter(([key, text]) => spanish!.has(key) && spanish!.get(key) !== text && /\S+ \S+/.test(text) && !/[{<]/.test(text));
    expect(other.length).to.be.at.least(40);
    const inSpanish = pages.filter(({ path }) => path.startsWith('/es/'));
    expect(inSpanish.length).to.be.at.least(5);
    expect(inSpanish.flatMap((page) => {
      const shown = textOf(page.text);
      return other.filter(([, text]) => shown.includes(`>${text}<`)).map(([, text]) => `${page.path}: ${text}`);
    })).to.equal([]);
    expect(faultsOf(({ text }) => [...text.matchAll(/>([a-z_]+\.[a-z_.]+)</g)].map(([, key]) => key!).filter((key) => english!.has(key)))).to.equal([]);
  });

  it('lists its pages, places and entries for search engines', async () => {
    const index = walked.pages.get('/sitemap.xml')!;
    const parts = [...index.text.matchAll(/<loc>[^<]*(\/sitemap\/[^<]+)<\/loc>/g)].map(([, path]) => path!);
    expect(parts.length).to.be.at.least(3);
    for (const part of parts) {
      const text = await (await fetch(url + part)).text();
      const paths = [...text.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, address]) => new URL(address!).pathname);
      expect(paths.length, part).to.be.at.least(1);
      for (const path of [paths[0]!, paths.at(-1)!].filter(isFollowed)) expect((await fetch(url + path)).status, path).to.equal(200);
    }
  });

  describe('in a browser', { skip: missingBrowser() !== null }, () => {
    let browser: Browser;
    let page: Page;
    let complaints: string[] = [];
    let kinds: string[];
    before(async () => {
      browser = await openBrowser();
      page = await browser.newPage({ viewport: DESK });
      page.on('console', (message) => { if (message.type() === 'error') complaints.push(message.text()); });
      page.on('pageerror', (error) => { complaints.push(error.message); });
      page.on('request', (request) => { if (!request.url().startsWith(url)) complaints.push(`request to ${request.url()}`); });
      // The pages of core are inspected in pages.test.ts.
      kinds = onePerKind().map(({ path }) => path).filter((path) => !/^\/(?:es|docs|problems)(?:[/?]|$)/.test(path) && !path.includes('?'));
      kinds.push('/search?query=housing', '/es/places/harlow-ferry,tamarack');
    });
    after(() => browser?.close());

    it('is accessible in light and dark, and needs no sideways scroll', async () => {
      const faults: string[] = [];
      for (const path of kinds) {
        await page.goto(url + path);
        faults.push(...(await pageFaults(page)).map((fault) => `${path}: ${fault}`));
      }
      expect(kinds.length).to.be.at.least(7);
      expect(faults).to.equal([]);
      expect(complaints).to.equal([]);
    });

    it('has accessible pages about the API of every plugin that need no sideways scroll', async () => {
      expect(references().map(({ path }) => path).sort()).to.equal(['accounts', 'core', 'directory', 'firehose', 'flags', 'mcp', 'oauth'].map((plugin) => `/docs/${plugin}`));
      for (const { path } of references()) {
        await page.setViewportSize(DESK);
        await page.goto(url + path);
        expect(await axeFaults(page), path).to.equal([]);
        await page.setViewportSize({ width: 360, height: 740 });
        expect(await page.evaluate('document.documentElement.scrollWidth'), path).to.equal(360);
      }
    });

    it('has a header of one line on wide screens, and of two on others', async () => {
      for (const path of ['/about', '/es/about']) {
        await page.goto(url + path);
        for (const [width, lines] of [[1440, 1], [1280, 1], [1024, 1], [900, 2], [768, 2], [600, 2]] as const) {
          await page.setViewportSize({ width, height: 900 });
          const tops = await page.evaluate(`[...document.querySelectorAll('.top .wrap > *')].filter((part) => part.getClientRects().length > 0).map((part) => { const { top, bottom } = part.getBoundingClientRect(); return Math.round((top + bottom) / 2); })`) as number[];
          const count = tops.toSorted((a, b) => a - b).filter((top, at, all) => at === 0 || top - all[at - 1]! > 8).length;
          expect(count, `${path} at ${width}`).to.equal(lines);
        }
      }
    });

    it('prints the sheet of a place on one page', async () => {
      for (const path of ['/places/harlow-ferry,tamarack/sheet', '/es/places/harlow-ferry,tamarack/sheet', '/places/wicks-mill,tamarack/sheet']) {
        await page.goto(url + path);
        const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
        expect(pdf.match(/\/Type\s*\/Page\b(?!s)/g), path).to.have.length(1);
        expect(pdf, path).to.match(/\/MediaBox\s*\[0 0 612 792\]/);
      }
    });

    it('leads from the start to an entry and its source by keyboard alone', async () => {
      complaints = [];
      await page.setViewportSize(DESK);
      await page.goto(`${url}/`);
      await press(page, 'nav a[href="/issues"]');
      await page.waitForURL('**/issues');
      await press(page, 'main a[href^="/issues/"]');
      await page.waitForURL('**/issues/*');
      await press(page, 'main a[href^="/actors/"]');
      await page.waitForURL('**/actors/*');
      await press(page, 'main a[href^="/sources/"]');
      await page.waitForURL('**/sources/*');
      expect(complaints).to.equal([]);
    });
  });
});

/** Moves the focus with Tab until it is on a link that matches, and opens it. */
async function press(page: Page, selector: string): Promise<void> {
  for (let count = 0; count < 200; count++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) {
      await page.keyboard.press('Enter');
      return;
    }
  }
  throw new Error(`Tab reaches no ${selector} on ${page.url()}`);
}

/** Returns the texts of core and of the site by key. */
function textsIn(language: string): Map<string, string> {
  const texts = new Map<string, string>();
  const add = (value: unknown, path: string): void => {
    if (typeof value === 'string') texts.set(path, value);
    else if (value !== null && typeof value === 'object') for (const [name, inner] of Object.entries(value)) add(inner, path === '' ? name : `${path}.${name}`);
  };
  for (const folder of ['templates', 'plugins/site']) add(parse(readFileSync(join(projectRoot, folder, `texts/${language}.yaml`), 'utf8')), '');
  return texts;
}
