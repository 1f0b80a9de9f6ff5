import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testServer, type TestServer } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSite, type Site } from './site.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const rss = (...titles: string[]) => `<rss version="2.0"><channel><title>News</title>${titles.map((title, index) => `<item><title>${title}</title><guid>post-${index}</guid><link>https://news.example/${index}</link><pubDate>Tue, 25 Apr 2023 12:00:00 GMT</pubDate></item>`).join('')}</channel></rss>`;
const register = (...results: object[]) => JSON.stringify({ count: results.length, results });
const document = (number: string, title: string, more: object = {}) => ({ document_number: number, title, type: 'Proposed Rule', abstract: null, html_url: `https://www.federalregister.gov/d/${number}`, publication_date: '2023-04-20', comments_close_on: null, agencies: [{ name: 'Food and Drug Administration' }], ...more });
const awards = (...award: object[]) => JSON.stringify({ response: { award } });
const award = (id: string, title: string) => ({ id, title, agency: 'NSF', awardeeName: 'Example University', date: '04/20/2023', fundsObligatedAmt: '500000' });

/**
 * What a page shows first, and what it adds then. The titles of the first four are real: of rules in the Federal Register, of an award of the National Science Foundation, and of news
 * of the Federal Trade Commission, all of which are in the public domain.
 */
const PRODUCERS: Record<string, { path: string; first: string; later: string; tags?: string[]; title: string }> = {
  public_comment: {
    path: '/api/v1/documents.json', title: 'Tobacco Product Standard for Menthol in Cigarettes',
    first: register(document('2023-00001', 'An earlier document')), later: register(document('2022-08994', 'Tobacco Product Standard for Menthol in Cigarettes', { comments_close_on: '2023-07-05' }), document('2023-00001', 'An earlier document')),
  },
  filing: {
    path: '/rules/documents.json', title: '2024-00067: Employee or Independent Contractor Classification Under the Fair Labor Standards Act',
    first: register(document('2023-00001', 'An earlier document')), later: register(document('2024-00067', 'Employee or Independent Contractor Classification Under the Fair Labor Standards Act', { type: 'Rule' }), document('2023-00001', 'An earlier document')),
  },
  grant_award: {
    path: '/services/v1/awards.json', title: 'Grant to Example University: CAREER:Active Nano-Acoustic Waveguide Matrix to Tackle Signal Processing Limits',
    first: awards(award('1', 'An earlier award')), later: awards(award('2', 'CAREER:Active Nano-Acoustic Waveguide Matrix to Tackle Signal Processing Limits'), award('1', 'An earlier award')),
  },
  coalition_activity: {
    path: '/press-release.xml', title: 'FTC Chair Khan and Officials from DOJ, CFPB and EEOC Release Joint Statement on AI',
    first: rss('An earlier post'), later: rss('An earlier post', 'FTC Chair Khan and Officials from DOJ, CFPB and EEOC Release Joint Statement on AI'),
  },
  new_source: {
    path: '/news.xml', title: 'A new library opens', first: rss('An earlier post'), later: rss('An earlier post', 'A new library opens'),
  },
};
const TAGGED = { path: '/alliance.xml', tags: ['coalition'], title: 'Forty groups meet in Kansas City', first: rss('An earlier post'), later: rss('An earlier post', 'Forty groups meet in Kansas City') };

describe('The producers of signals', { timeout: 120_000 }, () => {
  const clock = stoppedClock('2023-04-25T13:00:00.000Z');
  let kit: TestServer;
  let site: Site;
  const admin = { role: 'admin' as const, scope: ['workspace:read', 'workspace:write'] };

  before(async () => {
    site = await openSite();
    kit = await testServer({
      clock, plugins: ['accounts', 'directory', 'firehose', 'reader', 'ingest'],
      config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { firehose: { anonymous: true }, reader: { delay_seconds: 0 } } },
    });
  });
  after(async () => {
    await kit.close();
    await site.close();
  });

  const get = async (path: string) => (await kit.request('GET', `${path}?visibility=public`, { as: admin })).body;

  async function untilRead(path: string, reads: number): Promise<void> {
    for (let waited = 0; (await get(`${path}/history`)).total < reads; waited++) {
      if (waited > 400) throw new Error(`${path} was not read`);
      await sleep(50);
    }
  }

  /** Watches a page that shows one thing and then another, and returns the signals about the second. */
  async function signalsOf({ path, first, later, tags = [], title }: (typeof PRODUCERS)[string]): Promise<{ type: string }[]> {
    site.pages[path] = first;
    const { status, body } = await kit.request('POST', '/api/watched-sources', { as: admin, payload: { url: `${site.url}${path}`, tags, visibility: 'public' } });
    expect(status, body.detail).to.equal(201);
    await untilRead(`/api/watched-sources/${body.id}`, 1);
    site.pages[path] = later;
    clock.set((await get(`/api/watched-sources/${body.id}`)).next_read_at);
    await untilRead(`/api/watched-sources/${body.id}`, 2);
    return (await kit.request('GET', '/api/firehose?visibility=public&limit=100')).body.signals.filter((signal: { title: string }) => signal.title === title);
  }

  for (const [type, producer] of Object.entries(PRODUCERS)) {
    it(`publish ${type} from ${producer.path}`, async () => {
      expect((await signalsOf(producer)).map((signal) => signal.type)).to.equal([type]);
    });
  }

  it('publish coalition_activity from each post of a source with the tag coalition', async () => {
    expect((await signalsOf(TAGGED)).map(({ type }) => type)).to.equal(['coalition_activity']);
  });
});
