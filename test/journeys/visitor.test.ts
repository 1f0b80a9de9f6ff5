import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import ICAL from 'ical.js';
import type { Browser, Page } from 'playwright-core';
import { testServer, type TestServer } from '../../core/testing.ts';
import { run } from '../../plugins/directory/test/command.ts';
import { follow, missingBrowser, openBrowser } from '../support/browser.ts';

export const notQuick = 'it loads the demo';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

const DESK = { width: 1280, height: 900 };
const PHONE = { width: 360, height: 740 };
const TOWN = 'harlow-ferry,tamarack';

/** A visitor finds who works on housing in a town, reads the source of a statement, and subscribes to the calendar. */
describe('A visitor', { skip: missingBrowser() !== null, timeout: 180_000 }, () => {
  let kit: TestServer;
  let url: string;
  let browser: Browser;
  before(async () => {
    kit = await testServer({ plugins: ['directory', 'firehose', 'accounts', 'site'], listen: true });
    url = kit.composition.server.info.uri;
    await run(kit, 'demo load');
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await kit?.close();
  });

  /** Opens a calendar as a calendar program does. */
  async function calendarAt(href: string): Promise<ICAL.Event[]> {
    const response = await fetch(new URL(href, url));
    expect(response.headers.get('content-type')!).to.startWith('text/calendar');
    const calendar = new ICAL.Component(ICAL.parse(await response.text()) as never);
    expect(calendar.name).to.equal('vcalendar');
    return calendar.getAllSubcomponents('vevent').map((event) => new ICAL.Event(event));
  }

  it('in English, with the keyboard only', async () => {
    const page = await browser.newPage({ viewport: DESK, locale: 'en-US' });
    await page.goto(`${url}/`);
    // The first Tab shows the link to the content, which the focus follows.
    await page.keyboard.press('Tab');
    expect(await focused(page)).to.include({ text: 'Skip to the content', isVisible: true });
    await page.keyboard.press('Enter');
    await tabTo(page, (at) => at.name === 'query');
    await page.keyboard.type('Harlow F');
    await page.getByRole('option', { name: /Harlow Ferry/ }).first().waitFor();
    await page.keyboard.press('ArrowDown');
    await Promise.all([page.waitForURL(`**/places/${TOWN}`), page.keyboard.press('Enter')]);
    expect(await page.textContent('h1')).to.contain('Harlow Ferry');
    await tabTo(page, (at) => at.text === 'Harlow Ferry Tenants Union' && at.href.includes('/actors/'));
    await Promise.all([page.waitForURL('**/actors/*'), page.keyboard.press('Enter')]);
    const phone = page.locator('.statements > div', { hasText: 'Phone' }).first();
    expect(await phone.locator('mark').textContent()).to.equal('(303) 555-0160');
    await tabTo(page, (at) => at.href.includes('/sources/'));
    await Promise.all([page.waitForURL('**/sources/*'), page.keyboard.press('Enter')]);
    expect(await page.locator('main').innerText()).to.contain('What was read here').and.to.contain('(303) 555-0160');
    expect(await page.getByRole('link', { name: 'Read at the source' }).first().getAttribute('href')).to.match(/^https:\/\//);
    await page.goto(`${url}/places/${TOWN}`);
    await tabTo(page, (at) => at.text.startsWith('Subscribe'));
    await page.keyboard.press('Enter');
    await tabTo(page, (at) => at.text === 'Calendar');
    const events = await calendarAt((await focused(page)).href);
    expect(events.length).to.be.at.least(3);
    expect(events.every(({ summary, startDate }) => summary.length > 0 && startDate !== null)).to.be.true();
    await page.context().close();
  });

  it('in Spanish, on a phone and without JavaScript', async () => {
    const context = await browser.newContext({ viewport: PHONE, locale: 'es-MX', javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${url}/`);
    expect(await page.locator('html').getAttribute('lang')).to.equal('es');
    await page.getByRole('textbox').fill('Harlow Ferry');
    await follow(page, page.getByRole('button', { name: 'Buscar' }));
    await follow(page, page.getByRole('link', { name: /^Harlow Ferry, Tamarack/ }).first());
    await follow(page, page.getByRole('link', { name: /^Las \d+ fichas|^Todas|fichas$/ }).first());
    await page.getByLabel('Tema', { exact: true }).selectOption('housing_affordability');
    await follow(page, page.getByRole('button', { name: 'Mostrar' }));
    expect(await page.locator('.entries h3').allInnerTexts()).to.satisfy((names: string[]) => names.some((name) => name.startsWith('Harlow Ferry Tenants Union')));
    await follow(page, page.getByRole('link', { name: 'Harlow Ferry Tenants Union', exact: true }));
    expect(await page.locator('main').innerText()).to.contain('Organización').and.to.contain('(303) 555-0160');
    await follow(page, page.locator('.statements a[href*="/sources/"]').first());
    expect(await page.locator('blockquote mark').first().textContent()).to.equal('(303) 555-0160');
    expect(await page.locator('html').getAttribute('lang')).to.equal('es');
    await page.goto(`${url}/es/places/${TOWN}`);
    await page.locator('.subscribe summary').click();
    const events = await calendarAt((await page.getByRole('link', { name: 'Calendario', exact: true }).getAttribute('href'))!);
    expect(events.length).to.be.at.least(3);
    await context.close();
  });

  it('sees where the keyboard is, and is trapped nowhere', async () => {
    for (const path of ['/', '/places/wicks-mill,tamarack', '/signals?type=vote']) {
      const page = await browser.newPage({ viewport: PHONE });
      await page.goto(url + path);
      const hidden: string[] = [];
      let count = 0;
      for (; count < 400; count++) {
        await page.keyboard.press('Tab');
        const at = await focused(page);
        if (at.tag === 'BODY') break;
        if (!at.isVisible || !at.hasOutline) hidden.push(`${at.tag} ${at.text}`);
      }
      expect(hidden, path).to.equal([]);
      expect(count, path).to.be.within(5, 399);
      await page.context().close();
    }
  });
});

interface Focused {
  tag: string;
  name: string;
  text: string;
  href: string;
  isVisible: boolean;
  hasOutline: boolean;
}

/** Returns what has the focus. */
function focused(page: Page): Promise<Focused> {
  return page.evaluate(`(() => {
    const at = document.activeElement;
    const { width, height, top, left } = at.getBoundingClientRect();
    const { outlineStyle, outlineWidth } = getComputedStyle(at);
    return {
      tag: at.tagName, name: at.getAttribute('name') ?? '', text: at.textContent.trim(), href: at.getAttribute('href') ?? '',
      isVisible: width > 0 && height > 0 && top + height > 0 && left + width > 0, hasOutline: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2,
    };
  })()`);
}

/** Moves the focus with Tab until it is where it shall be. */
async function tabTo(page: Page, isThere: (at: Focused) => boolean): Promise<void> {
  for (let count = 0; count < 300; count++) {
    await page.keyboard.press('Tab');
    if (isThere(await focused(page))) return;
  }
  throw new Error(`Tab does not reach it on ${page.url()}`);
}
