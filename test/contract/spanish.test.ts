import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock } from '../../core/testing.ts';
import { SIGNAL_TYPES, type SignalDraft } from '../../plugins/firehose/types.ts';
import { createBrowser, newFlow, oauthKit, openConsent, BASE, type Browser, type OauthKit, type Person } from '../../plugins/oauth/test/kit.ts';
import wire from '../plugins/wire/index.ts';
import { untranslated } from '../support/untranslated.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const NOW = '2026-11-15T12:00:00.000Z';
const HOST = '203.0.113.7';

const signal = (type: string): Partial<SignalDraft> => ({
  type, title: `A signal of the type ${type}`, summary: 'Data stays as it was published', source_class: 'news', occurred_at: '2026-11-19T18:30:00Z', places: ['kansas-city,missouri'], issues: ['housing_affordability'],
  evidence: [{ source_url: 'https://clerk.example/minutes', title: 'Minutes of 12 November', publisher: 'Office of the City Clerk', published_at: '2026-11-13' }],
  actors: [1, 2, 3, 4, 5].map((number) => ({ name: `Group of people ${number}`, type: 'organization' as const })),
  changes: [{ field: 'freshness', before: 'fresh', after: 'aging' }, { field: 'source_count', before: 1, after: 2 }],
});
/** Names and quotes, which are never translated, and errors of the protocol for developers. */
const DATA = [/^A signal of the type/, 'Data stays as it was published', 'Minutes of 12 November', 'Office of the City Clerk', /^Group of people/, /^Kansas City, M/, 'The river people', 'The notes app', /^Person \d+\b/, 'District of Columbia', 'Northern Mariana Islands', 'U.S. Virgin Islands', /^, [a-z_ ]+ .*\.$/, 'Identifies the callers that tests name', 'Publishes signals over HTTP'];

describe('Pages in Spanish have nothing left in English:', { timeout: 120_000 }, () => {
  let kit: OauthKit;
  let admin: Person;
  const visitor = (): Browser => createBrowser(kit.url);
  before(async () => {
    kit = await oauthKit({ plugins: ['console', 'directory', 'ratelimit', 'firehose', 'mcp', 'site', wire], clock: stoppedClock(NOW) });
    await kit.send('POST', '/api/wire', { json: { signals: SIGNAL_TYPES.map(signal) } });
    admin = await kit.person({ role: 'admin', email: 'ada@example.org' });
    await admin.browser.get('/account/workspaces');
    await admin.browser.post('/account/workspaces', { name: 'The river people' });
  });
  after(async () => kit.close());

  /** Opens a page in both languages, as the browser prefers. */
  async function leftovers(browser: Browser, path: string, post?: Record<string, string>): Promise<string[]> {
    const open = (language: string) => (post ? browser.post(path, post, { 'accept-language': language }) : browser.get(path, { 'accept-language': language }));
    const [english, spanish] = [await open('en'), await open('es')];
    expect(spanish.text, `${path} ${spanish.status}`).to.contain('<html lang="es"');
    return untranslated(english.text, spanish.text, [...DATA, HOST]);
  }

  async function check(browser: Browser, paths: string[]): Promise<void> {
    for (const path of paths) expect(await leftovers(browser, path), path).to.equal([]);
  }

  it('signals', async () => {
    const queries = ['', '?upkeep=1', '?q=signal', '?q=nothing', '?place=Nowhere', '?place=Springfield', '?since=2026-02-20', '?since=2026-02-20&until=2026-03-01', '?type=vote', '?until=2020-01-01'];
    await check(visitor(), queries.map((query) => `/signals${query}`));
  });

  it('signing in', async () => {
    const browser = visitor();
    await check(browser, ['/sign-in', '/sign-in?next=%2Fdevice', '/sign-in/code', '/sign-in/link?token=gone', '/account/email/confirm?token=gone']);
    expect(await leftovers(browser, '/sign-in/code', { code: '' })).to.equal([]);
    expect(await leftovers(browser, '/sign-in/code', { code: 'AAAAA-AAAAA-AAAAA-AAAAA' })).to.equal([]);
    const { sign_in_link } = await kit.run('account create', { name: 'Ben', plan: 'team', role: 'user' });
    await check(browser, [sign_in_link.slice(BASE.length)]);
  });

  it('the account', async () => {
    const { browser, id } = admin;
    const { text } = await browser.get('/account/workspaces');
    const workspaces = [...new Set([...text.matchAll(/\/account\/workspaces\/([0-9a-f-]{36})/g)].map((match) => match[0]))];
    expect(workspaces).to.have.length(2);
    await browser.post(`${workspaces[1]!}/members`, { email: 'ben@example.org', role: 'member' });
    await browser.post(`${workspaces[1]!}/invitations`, { role: 'reviewer' });
    const keys = [...(await browser.get('/account/keys')).text.matchAll(/\/account\/keys\/[^"]+/g)].map((match) => match[0]);
    await check(browser, [
      '/account', '/account?done=saved', '/account/passkeys', '/account/recovery-codes', '/account/recovery-codes?next=%2Fdevice', '/account/sessions', '/account/keys', keys[0]!, '/account/workspaces', ...workspaces,
      '/account/plan', '/account/apps', '/invitations?token=gone', '/console', '/console?span=day&done=retried', '/console/jobs', '/console/backups', '/console/unlisted', '/console/rechecks', '/console/audit', '/console/accounts', '/console/accounts?query=nobody', `/console/accounts/${id}`,
    ]);
    for (const [path, form] of [['/account', { name: '' }], ['/account/email', { email: 'x' }], ['/account/keys', { name: '' }], ['/account/workspaces', { name: '' }], ['/account/recovery-codes', {}], ['/console/accounts', { name: '', email: 'x' }]] as const) {
      expect(await leftovers(browser, path, form), path).to.equal([]);
    }
  });

  it('connecting apps', async () => {
    const { browser, workspace_id } = admin;
    const client = await kit.register({ client_name: 'The notes app' });
    const scope = 'directory:read entities:write firehose:read openid';
    const { path } = await openConsent(browser, newFlow(client.client_id, { scope }));
    await check(browser, [path, '/connect/unknown', '/device', '/device?user_code=BCDF', '/oauth/authorize?client_id=unknown', newFlow(client.client_id, { redirect_uri: 'https://elsewhere.example/' }).address]);
    expect(await leftovers(browser, path, { workspace: 'x' })).to.equal([]);
    await browser.post(path, { workspace: workspace_id, scopes: 'directory:read' }, { 'accept-language': 'es' });
    await check(browser, ['/account/apps', '/account']);
    expect((await browser.get('/account', { 'accept-language': 'en' })).text).to.contain('Se conectó la aplicación “The notes app”.');
    const [disconnect] = /\/account\/apps\/[^"]+\/disconnect/.exec((await browser.get('/account/apps')).text)!;
    await check(browser, [disconnect]);
  });

  it('the public site', () => check(visitor(), ['/', '/issues', '/map', '/about', '/search?q=nothing', '/missing', '/docs/errors']));
});
