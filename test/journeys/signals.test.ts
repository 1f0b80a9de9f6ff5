import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Browser, Page } from 'playwright-core';
import { slowness } from '../../core/test/wait.ts';
import { stoppedClock, testServer, type TestServer } from '../../core/testing.ts';
import firehose from '../../plugins/firehose/index.ts';
import type { SignalDraft } from '../../plugins/firehose/types.ts';
import wire from '../plugins/wire/index.ts';
import { follow, missingBrowser, openBrowser, axeFaults } from '../support/browser.ts';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const NOW = '2026-11-15T12:00:00.000Z';
const WIDTHS = { desk: { width: 1280, height: 1000 }, phone: { width: 360, height: 740 } };

const signal = (title: string, more: Partial<SignalDraft> = {}): SignalDraft => ({
  type: 'vote', title, source_class: 'government_record', detected_at: NOW, places: ['kansas-city,missouri'], issues: ['affordable-housing'],
  evidence: [{ source_url: 'https://clerk.example/minutes', title: 'Minutes of 12 November', publisher: 'City Clerk', published_at: '2026-11-13T00:00:00.000Z' }], ...more,
});

const SIGNALS = [
  signal('Ordinance 261140: inclusionary zoning passes, 9 to 4', {
    summary: 'The council passed the ordinance as amended. It takes effect on 1 January and is reviewed after two years.',
    actors: [{ name: 'Kansas City Council', type: 'organization', role: 'decided' }, { name: 'KC Tenants', type: 'organization', id: '0198a000-0000-7000-8000-000000000001' }],
    detected_at: '2026-11-15T11:42:00.000Z',
  }),
  signal('Housing committee meets on the tenants’ bill of rights', { type: 'public_meeting', source_class: 'government_agenda', occurred_at: '2026-11-19T18:30:00.000Z', detected_at: '2026-11-15T09:05:00.000Z' }),
  signal('Mid-America Regional Council names a new director', {
    type: 'role_change', source_class: 'organization_update', issues: [], changes: [{ field: 'director', before: 'R. Alvarez', after: 'J. Okafor' }], detected_at: '2026-11-14T16:20:00.000Z',
    actors: [{ name: 'J. Okafor', type: 'person', role: 'director' }],
  }),
  signal('$1.2 million for lead pipes in the Northeast', { type: 'grant_award', source_class: 'grant_notice', issues: ['water-quality', 'public-health'], detected_at: '2026-11-14T08:00:00.000Z', origin: { url: 'https://civic.example', event_id: 'abcd-17' } }),
  signal('The agenda page of the school board changed', { type: 'source_change', source_class: 'news', places: ['saint-louis,missouri'], issues: ['schools'], detected_at: '2026-11-10T08:00:00.000Z' }),
  signal('Nobody here works on tenant law yet', { type: 'coverage_gap', source_class: 'directory', detected_at: '2026-11-10T07:00:00.000Z' }),
];

describe('The page of signals', { skip: missingBrowser() !== null, timeout: 120_000 }, () => {
  let kit: TestServer;
  let browser: Browser;
  // Each context starts a renderer process of its own, so the tests share one page with scripts and one without.
  let scripted: Page;
  let plain: Page;
  let complaints: string[] = [];
  const shots = process.env.CIVIC_TEST_SHOTS;

  before(async () => {
    browser = await openBrowser();
    scripted = await openPage({});
    plain = await openPage({ javaScriptEnabled: false });
  });
  after(async () => {
    await browser.close();
    await kit.close();
  });
  // A server for each test: pages receive news in batches, which would bring the signals of the test before.
  beforeEach(async () => {
    await kit?.close();
    kit = await testServer({ plugins: [firehose, wire], listen: true, clock: stoppedClock(NOW) });
  });

  async function openPage(options: object): Promise<Page> {
    const page = await browser.newPage(options);
    page.setDefaultTimeout(15_000 * slowness);
    page.on('console', (message) => { if (message.type() === 'error' && !/ERR_CONNECTION_REFUSED|WebSocket connection/.test(message.text())) complaints.push(message.text()); });
    page.on('pageerror', (error) => { complaints.push(error.message); });
    return page;
  }

  async function publish(signals: SignalDraft[], withdraw: string[] = []): Promise<string[]> {
    return (await kit.request('POST', '/api/wire', { payload: { signals, withdraw } })).body.ids;
  }

  async function visit(path: string, { page = scripted }: { page?: Page }, work: (page: Page) => Promise<void>): Promise<void> {
    complaints = [];
    await page.setViewportSize(WIDTHS.desk);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(kit.url + path);
    await work(page);
    // Ends the connection before the server closes.
    await page.goto('about:blank');
    expect(complaints).to.equal([]);
  }

  const shoot = async (page: Page, name: string): Promise<void> => { if (shots) await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true }); };
  async function readable(page: Page, name: string): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await shoot(page, `${name}-${colorScheme}`);
      expect(await axeFaults(page, colorScheme === 'light' ? 'all' : 'layout'), name).to.equal([]);
    }
  }
  const titles = (page: Page) => page.locator('.signal h3').allTextContents();

  it('says what to do when there is nothing yet', () => visit('/signals', {}, async (page) => {
    await page.getByText('Nothing has happened yet').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await shoot(page, 'signals-empty');
    expect(await axeFaults(page)).to.equal([]);
    await publish([SIGNALS[0]!]);
    await page.getByRole('button', { name: 'Show 1 new signal' }).click();
    await page.getByText(SIGNALS[0]!.title).waitFor();
  }));

  it('is accessible, in light and dark, at a desk and on a phone', async () => {
    await publish(SIGNALS);
    await visit('/signals', {}, async (page) => {
      await page.getByText('Live', { exact: true }).waitFor();
      expect(await page.locator('h1').count()).to.equal(1);
      for (const [name, viewport] of Object.entries(WIDTHS)) {
        await page.setViewportSize(viewport);
        await readable(page, `signals-${name}`);
        expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).to.be.at.most(viewport.width);
      }
    });
    await visit('/signals?type=vote&place=nowhere', {}, async (page) => {
      await readable(page, 'signals-none');
      await page.getByRole('link', { name: 'Show everything' }).click();
      await page.waitForURL('**/signals');
    });
  });

  it('groups by day, says kinds in plain words, and is filtered and paged without a script', async () => {
    await publish(SIGNALS);
    await publish(Array.from({ length: 31 }, (_, i) => signal(`Older ${i}`, { detected_at: '2026-10-01T10:00:00.000Z', type: 'filing' })));
    await visit('/signals?upkeep=1&limit=2&utm_source=elsewhere', { page: plain }, async (page) => {
      expect(await page.locator('.day > h2').allTextContents()).to.equal(['Today', 'Yesterday', 'Nov 10, 2026', 'Oct 1, 2026']);
      expect(await page.locator('.signal').first().textContent()).to.contain('Vote').and.to.contain('Kansas City Council').and.to.contain('Minutes of 12 November').and.to.contain('City Clerk');
      expect(await page.locator('[aria-current=page]').textContent()).to.equal('Signals');
      await follow(page, page.getByRole('link', { name: 'Older signals' }));
      expect(await titles(page)).to.have.length(17);
      await follow(page, page.getByRole('link', { name: 'Back to the newest' }));
      expect(await titles(page)).to.have.length(20);

      await page.getByLabel('Place').fill('Saint Louis, Missouri');
      await follow(page, page.getByRole('button', { name: 'Show' }));
      expect(await titles(page)).to.equal(['The agenda page of the school board changed']);
      await follow(page, page.getByRole('link', { name: 'Clear' }));
      await page.getByLabel('Issue').fill('Water quality');
      await page.getByLabel('Kind').selectOption({ label: 'Grant award' });
      await follow(page, page.getByRole('button', { name: 'Show' }));
      expect(await titles(page)).to.equal(['$1.2 million for lead pipes in the Northeast']);
      expect(await page.getByRole('link', { name: 'civic.example' }).getAttribute('href')).to.equal('https://civic.example');
      await follow(page, page.getByRole('link', { name: 'Kansas City, Missouri' }).first());
      expect((await titles(page)).length).to.be.above(5);
    });
  });

  it('says what is new while it is read, and shows it when asked to', async () => {
    await publish(SIGNALS.slice(1));
    await visit('/signals?place=kansas-city,missouri', {}, async (page) => {
      await page.getByText('Live', { exact: true }).waitFor();
      const [id] = await publish([SIGNALS[0]!]);
      await publish([signal('Held back', { visibility: 'reviewer' }), signal('Elsewhere', { places: ['austin,texas'] }), signal('Another', { type: 'filing' })]);
      await page.getByRole('button', { name: 'Show 2 new signals' }).waitFor();
      expect(await page.locator('[role=status] button').count()).to.equal(1);
      expect(await titles(page)).to.not.include(SIGNALS[0]!.title);
      expect(await page.title()).to.startWith('(2) Signals');
      await shoot(page, 'signals-news');
      expect(await axeFaults(page)).to.equal([]);
      await page.keyboard.press('Home');
      await page.getByRole('button', { name: 'Show 2 new signals' }).press('Enter');
      await page.getByText(SIGNALS[0]!.title).waitFor();
      expect(await titles(page)).to.include('Another').and.to.not.include(['Held back', 'Elsewhere']);
      expect(await page.locator('[role=status] button').count()).to.equal(0);
      await shoot(page, 'signals-shown');

      await publish([{ ...SIGNALS[0]!, id, title: 'Passed, then vetoed' }]);
      await page.getByRole('button', { name: 'Show 1 changed' }).click();
      await page.getByText('Passed, then vetoed').waitFor();
      await publish([], [id!]);
      await page.getByRole('button', { name: 'Show 1 changed' }).click();
      await page.getByText('Passed, then vetoed').waitFor({ state: 'detached' });
    });
  });

  it('says that the connection is lost and is there again, and finds what came meanwhile', async () => {
    await publish(SIGNALS);
    await visit('/signals', {}, async (page) => {
      await page.getByText('Live', { exact: true }).waitFor();
      const sockets = (kit.server.plugins as any).nes._listener._wss;
      // As a restart would: the page is told of nothing that happens before it is back.
      for (const client of sockets.clients) client.terminate();
      await page.getByText('Connection lost').waitFor();
      await shoot(page, 'signals-lost');
      await publish([signal('Meanwhile', { detected_at: '2026-11-15T11:59:00.000Z' })]);
      await page.getByText('Connected again').waitFor();
      await page.getByRole('button', { name: 'Show 1 new signal' }).click();
      await page.getByText('Meanwhile').waitFor();
    });
  });

  it('says the hour of what people go to, also at midnight UTC, which is an evening in America', async () => {
    await publish([
      signal('The council meets', { type: 'public_meeting', occurred_at: '2026-11-20T18:00:00-06:00', detected_at: '2026-11-15T11:00:00.000Z' }),
      signal('A report is filed', { type: 'filing', occurred_at: '2026-11-12', detected_at: '2026-11-15T10:00:00.000Z' }),
    ]);
    await visit('/signals', { page: plain }, async (page) => {
      expect(await page.locator('.when').allTextContents()).to.equal(['On Nov 21, 2026, 12:00 AM UTC', 'Dated Nov 12, 2026']);
    });
  });
});
