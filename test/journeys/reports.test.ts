import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Browser, Page } from 'playwright-core';
import { axeFaults, DESK, follow, missingBrowser, openBrowser } from '../support/browser.ts';
import { htmlFaults } from '../support/validator.ts';
import { consoleKit, type ConsoleKit } from '../console/kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PHONE = { width: 360, height: 740 };

/** One story: each step begins where the one before ended. */
describe('A report, with a browser', { skip: missingBrowser() !== null, timeout: 180_000 }, () => {
  let kit: ConsoleKit;
  let url: string;
  let browser: Browser;
  let reader: Page;
  let reviewer: Page;
  let actor: any;
  before(async () => {
    kit = await consoleKit({ plugins: ['directory', 'site', 'flags'], listen: true });
    url = kit.composition.server.info.uri;
    const claim = (property: string, value: string) => ({ property, value, source_local_id: 's' });
    actor = (await kit.request('POST', '/api/entities', {
      as: { role: 'reviewer', scope: ['entities:write'], workspace_id: '01890000-0000-7000-8000-00000000000a', workspace_role: 'member' },
      payload: {
        type: 'organization', visibility: 'public', sources: [{ local_id: 's', url: 'https://example.org/about', title: 'About us' }],
        claims: [claim('name', 'Gladstone Tenants'), claim('phone', '816-555-0160'), claim('place', 'gladstone,missouri')],
      },
    })).body;
    browser = await openBrowser();
    reader = await browser.newPage({ viewport: DESK, locale: 'en-US' });
    const [name, value] = (await kit.signedIn('reviewer')).cookie().split('=', 2);
    const context = await browser.newContext({ viewport: DESK, locale: 'en-US' });
    await context.addCookies([{ name: name!, value: value!, url }]);
    reviewer = await context.newPage();
  });
  after(async () => {
    await browser?.close();
    await kit?.close();
  });

  const phone = async (): Promise<string> => (await kit.request('GET', `/api/entities/${actor.id}`)).body.contact.phone;
  const status = async (): Promise<string> => {
    await reader.reload();
    return (await reader.locator('dl.outcome dd').first().textContent())!;
  };
  /** Presses a key that opens another page. */
  const press = (key: string): Promise<unknown> => Promise.all([reviewer.waitForEvent('load'), reviewer.keyboard.press(key)]);
  const focused = (): Promise<string> => reviewer.evaluate('document.activeElement.value ?? document.activeElement.textContent');

  async function readable(): Promise<void> {
    expect(await htmlFaults(await (await reviewer.request.get(reviewer.url())).text())).to.equal([]);
    expect(await axeFaults(reviewer)).to.equal([]);
    await reviewer.setViewportSize(PHONE);
    expect(await axeFaults(reviewer, 'layout')).to.equal([]);
    expect(await reviewer.evaluate('document.documentElement.scrollWidth') as number).to.be.at.most(PHONE.width);
    await reviewer.setViewportSize(DESK);
  }

  it('is sent by a reader without an account', async () => {
    await reader.goto(`${url}/actors/${actor.id}`);
    await follow(reader, reader.getByRole('link', { name: 'Report a problem' }).first());
    await reader.getByLabel('Not correct').check();
    await reader.getByLabel('Which statement?').selectOption({ label: 'Phone: 816-555-0160' });
    await reader.getByLabel('In your own words').fill('They have a new number.');
    await reader.getByLabel('What would be right?').fill('816-555-0199');
    await reader.getByLabel('Where can that be read?').fill('https://example.org/contact');
    await follow(reader, reader.getByRole('button', { name: 'Send the report' }));
    expect(await reader.textContent('h1')).to.equal('Thank you for the report');
    expect(await status()).to.equal('Waiting for a reviewer');
  });

  it('is accepted with its correction by a reviewer with the keyboard only, and the reader sees it', async () => {
    await reviewer.goto(`${url}/console/reports`);
    await readable();
    await reviewer.keyboard.press('?');
    expect(await reviewer.getByText('Undo your last decision').isVisible()).to.be.true();
    await reviewer.keyboard.press('j');
    expect(await focused()).to.equal('Gladstone Tenants');
    await press('Enter');
    await readable();
    expect(await reviewer.locator('ins').textContent()).to.equal('816-555-0199');
    await reviewer.keyboard.press('a');
    expect(await focused()).to.equal('value');
    await press('Enter');
    expect(await reviewer.locator('.notice.good').textContent()).to.equal('The report was resolved.');
    expect([await phone(), await status()]).to.equal(['816-555-0199', 'Corrected']);
  });

  it('is open again after an undo, and is dismissed with the keyboard in Spanish', async () => {
    await press('u');
    expect([await reviewer.locator('.notice.good').textContent(), await phone(), await status()]).to.equal(['The decision was undone.', '816-555-0160', 'Waiting for a reviewer']);
    await reviewer.goto(`${url}/es/console/reports`);
    await reviewer.keyboard.press('j');
    await reviewer.keyboard.press('x');
    await press('d');
    expect(await reviewer.textContent('h1')).to.equal('¿Descartar 1 aviso?');
    await readable();
    await press('Enter');
    expect(await reviewer.locator('.notice.good').textContent()).to.equal('Se descartó el aviso.');
    expect([await phone(), await status()]).to.equal(['816-555-0160', 'A reviewer checked the report and changed nothing']);
  });
});
