import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import { testDatabases } from 'civic/testing';
import { accountsKit, type AccountsKit } from './kit.ts';
import { pageReader, type PageReader } from './reader.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

// At an address where passkeys cannot work a link signs in fully, so that these tests need none.
const HOME = 'http://192.0.2.7:8080/civic';
const LIST = '/console/accounts';

const weather = definePlugin({
  name: 'weather',
  summary: 'A page for tests',
  uses: ['accounts'],
  register(_server, civic) {
    civic.serviceIfOn('accounts')!.consolePage({ label: 'Weather', path: '/console/weather', summary: 'Look at the weather.' });
  },
});

for (const database of testDatabases()) {
  describe(`The console of accounts on ${database}`, () => {
    let kit: AccountsKit;
    let admin: PageReader & { id: string };
    before(async () => {
      kit = await accountsKit({ database, plugins: [weather], config: { public_url: HOME } });
      admin = await signedIn({ name: 'Ada Admin', role: 'admin' });
    });
    after(() => kit.close());

    async function signedIn(options: Record<string, string>): Promise<PageReader & { id: string }> {
      const { id, sign_in_link } = await kit.run('account create', options);
      const reader = pageReader(kit);
      await reader.follow(sign_in_link);
      return Object.assign(reader, { id });
    }
    const account = async (id: string) => (await kit.run('account list', {})).find((one: { id: string }) => one.id === id);

    it('is for administrators alone, and only they are shown the way', async () => {
      const reviewer = await signedIn({ name: 'Rev Reviewer', role: 'reviewer' });
      for (const path of ['/console', '/console/audit', LIST, `${LIST}/${admin.id}`]) {
        const refused = await reviewer.get(path);
        expect([refused.status, refused.text.includes('Ada Admin')]).to.equal([403, false]);
        expect((await pageReader(kit).get(path)).headers.location).to.match(/^\/civic\/sign-in\?next=/);
      }
      for (const what of ['plan', 'role', 'disable', 'sign-in-link']) expect((await reviewer.post(`${LIST}/${admin.id}/${what}`, { plan: 'free', role: 'user' })).status, what).to.equal(403);
      expect(await account(admin.id)).to.include({ role: 'admin', disabled_at: null });
      expect((await admin.get('/')).text).to.contain('href="/civic/console"');
      expect((await reviewer.get('/')).text).to.not.contain('/console');
    });

    it('begins with the accounts while no plugin has another page, and links the pages of plugins', async () => {
      const { status, headers } = await admin.get('/console');
      expect([status, headers.location]).to.equal([303, `/civic${LIST}`]);
      expect((await admin.get(LIST)).text).to.contain('href="/civic/console/weather"').and.contain('href="/civic/console/audit"');
    });

    it('lists all security events, page by page', async () => {
      const first = await admin.get('/console/audit');
      expect([first.status, first.headers['cache-control']]).to.equal([200, 'private, no-store']);
      expect(first.text).to.contain(['Ada Admin', 'Signed in', 'The account was created', 'the operator or the system']);
      for (let count = 0; count < 30; count++) await kit.run('account create', { name: `Noted ${count}` });
      const next = /href="\/civic(\/console\/audit\?before[^"]+)"/.exec((await admin.get('/console/audit')).text)![1]!.replaceAll('&#x3D;', '=');
      expect((await admin.get(next)).text).to.contain('Ada Admin');
    });

    it('says which account a security event is about', async () => {
      const { id } = await kit.run('account create', { name: 'Ole Changed', plan: 'team' });
      await kit.run('account set-role', { account: id, role: 'reviewer' });
      await kit.run('key create', { account: id, name: 'nightly' });
      const rows = (await admin.get('/console/audit')).text.match(/<tr>.*?<\/tr>/g)!;
      const link = `<td><a href="/civic/console/accounts/${id}">Ole Changed</a></td><td><span class="quiet">the operator or the system`;
      for (const what of ['The role was set (user to reviewer)', 'A key was created (nightly)', 'The account was created']) expect(rows.find((row) => row.includes(what)), what).to.contain(link);
    });

    it('finds accounts by name and address, whatever signs they hold, page by page', async () => {
      await kit.run('account create', { name: '100% Bo_b', email: `bo-${database}@example.org` });
      for (const query of ['100%25', 'O_B', `BO-${database}@EX`]) expect((await admin.get(`${LIST}?query=${query}`)).text, query).to.contain('100% Bo_b').and.not.contain('>Ada Admin</a>');
      expect((await admin.get(`${LIST}?query=b%25b`)).text).to.contain('No account found');
      for (let count = 0; count < 51; count++) await kit.run('account create', { name: `Paged ${count}` });
      const first = await admin.get(`${LIST}?query=paged`);
      const next = /href="\/civic(\/console\/accounts\?[^"]+)">More/.exec(first.text)![1]!.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=');
      const second = await admin.get(next);
      expect([first.text.includes('>Paged 49<'), first.text.includes('>Paged 50<'), second.text.includes('>Paged 50<'), second.text.includes('More</a>')]).to.equal([true, false, true, false]);
    });

    it('finds no account by a character that no name can have', async () => {
      expect((await admin.get(`${LIST}?query=%00`)).status).to.equal(200);
    });

    it('makes an account and shows its sign-in link this once', async () => {
      const made = await admin.post(LIST, { name: 'New Person', email: `new-${database}@example.org`, plan: 'individual', role: 'user' });
      expect([made.status, made.headers['cache-control']]).to.equal([200, 'private, no-store']);
      const link = /<code id="link">([^<]+)</.exec(made.text)![1]!.replaceAll('&#x3D;', '=');
      expect((await pageReader(kit).follow(link)).headers.location).to.equal('/civic/account');
      const again = await admin.post(LIST, { name: 'Other', email: `NEW-${database}@example.org`, plan: 'free', role: 'user' });
      expect([again.status, /id="email-error">([^<]+)/.exec(again.text)?.[1]]).to.equal([400, 'Another account has this address.']);
      expect((await admin.post(LIST, { name: 'Other', plan: 'gold', role: 'user' })).status).to.equal(400);
    });

    it('offers the plan team first, and takes it when none is named', async () => {
      expect((await admin.get(LIST)).text).to.match(/<option value="team" selected>/);
      const { text } = await admin.post(LIST, { name: 'Unplanned', role: 'user' });
      expect(text).to.match(/<option value="team" selected>/);
    });

    it('sets a plan, with the day it ends, and what follows holds at once', async () => {
      const { id } = await kit.run('account create', { name: 'Pat Plan' });
      expect((await admin.post(`${LIST}/${id}/plan`, { plan: 'research_pass', until: '2099-01-31' })).headers.location).to.equal(`/civic${LIST}/${id}?done=plan`);
      expect(await account(id)).to.include({ plan: 'research_pass', plan_until: '2099-01-31T00:00:00.000Z' });
      expect((await admin.get(`${LIST}/${id}`)).text).to.contain('2099').and.not.contain('value="2099');
      const { key } = await kit.run('key create', { account: id });
      expect((await kit.request('GET', '/api/workspaces', { headers: { 'x-api-key': key } })).status).to.equal(200);
      await admin.post(`${LIST}/${id}/plan`, { plan: 'free', until: '' });
      expect((await kit.request('GET', '/api/workspaces', { headers: { 'x-api-key': key } })).status).to.equal(403);
      for (const until of ['tomorrow', '2027-02-31', '2020-01-31']) {
        const wrong = await admin.post(`${LIST}/${id}/plan`, { plan: 'team', until });
        expect([wrong.status, wrong.text.includes('id="until-error"')], until).to.equal([400, true]);
      }
      expect(await account(id)).to.include({ plan: 'free' });
    });

    it('sets a role, disables and enables accounts, records it, but not for the own account', async () => {
      const reader = await signedIn({ name: 'Dee Disabled' });
      await admin.post(`${LIST}/${reader.id}/role`, { role: 'reviewer' });
      expect(await account(reader.id)).to.include({ role: 'reviewer' });
      await admin.post(`${LIST}/${reader.id}/disable`);
      expect((await reader.get('/account')).status).to.equal(303);
      expect((await admin.post(`${LIST}/${reader.id}/sign-in-link`)).status).to.equal(403);
      await admin.post(`${LIST}/${reader.id}/enable`);
      const { text } = await admin.get(`${LIST}/${reader.id}?done=enabled`);
      expect(text).to.contain('The account is enabled.').and.contain('The role was set (user to reviewer)').and.contain('The account was disabled');
      for (const what of ['role', 'disable']) expect((await admin.post(`${LIST}/${admin.id}/${what}`, { role: 'user' })).status, what).to.equal(403);
      expect(await account(admin.id)).to.include({ role: 'admin', disabled_at: null });
    });

    it('knows no account by a wrong id', async () => {
      for (const id of ['nobody', '01890000-0000-7000-8000-000000000000']) expect((await admin.get(`${LIST}/${id}`)).status, id).to.equal(404);
    });
  });
}
