import { definePlugin } from 'civic';
import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from 'civic/testing';
import { accountsKit, type AccountsKit } from './kit.ts';
import { pageReader } from './reader.ts';
import type { AccountsService } from '../service.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const HOME = 'http://192.0.2.7:8080';

for (const database of testDatabases()) {
  describe(`The service accounts (${database})`, { timeout: 60_000 }, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let accounts: AccountsService;
    let loads = 0;
    let cached: (id: string) => Promise<number>;
    let kit: AccountsKit;

    const herons = definePlugin({
      name: 'herons',
      summary: 'Watches herons',
      needs: ['accounts'],
      paths: { '/herons': { audience: 'programs' } },
      register(server, civic) {
        const service = civic.service('accounts');
        service.auditKinds({ herons_seen: { label: 'A heron was seen' }, herons_gone: { label: 'A heron flew away', changesAccess: true }, herons_refused: { label: 'A heron was refused' } });
        const recordIncident = service.incidents(2);
        const cache = service.credentialCache<number>();
        service.credentials(async (reader, { account_id, credential_id, workspace_id }) => (credential_id === 'heron' ? (await service.delegate(reader, account_id))!.caller({ credential_id, workspace_id, scopes: ['probe:read'], expires: Infinity }) : null));
        service.pages.entry({ label: 'Heron alerts', path: '/account/herons' });
        server.route([
          { method: 'POST', path: '/herons/refused', options: { plugins: { civic: { internal: true } } }, handler: async (request) => { await recordIncident(request, { kind: 'herons_refused' }); return 'refused'; } },
          { method: 'GET', path: '/account/herons', options: { plugins: { civic: { internal: true } } }, handler: service.pages.signedIn(({ account, workspaces }, request, h) => service.pages.show(request, h, { path: '/account/herons', template: 'accounts/key-revoke', title: `Herons of ${account.name} in ${workspaces.length}` }, { one: { name: 'x' } })) },
          { method: 'POST', path: '/account/herons', options: { plugins: { civic: { internal: true, form: true } }, payload: { allow: ['application/x-www-form-urlencoded'] } }, handler: service.pages.confirmed(({ doer }) => doer, { back: () => '/account/herons' }) },
        ]);
        return {
          // Another server of this plugin prepares the database and does not start.
          async start() {
            accounts = service;
            cached = async (id) => cache.get(id) ?? cache.load(id, async () => ++loads);
          },
        };
      },
    });

    before(async () => { kit = await accountsKit({ database, clock, plugins: [herons], config: { public_url: HOME, http: { trusted_proxies: ['loopback'] } } }); });
    after(() => kit.close());

    it('shows pages of other plugins under /account, and requires recent authentication for a change', async () => {
      const { id, sign_in_link } = await kit.run('account create', { name: 'Ada', role: 'user' });
      const reader = pageReader(kit);
      expect((await reader.get('/account/herons')).headers.location).to.equal('/sign-in?next=%2Faccount%2Fherons');
      await reader.follow(sign_in_link);
      const { text } = await reader.get('/account/herons');
      expect(text).to.include('Herons of Ada in 1').and.to.include('<a href="/account/herons" aria-current="page">Heron alerts</a>');
      expect((await reader.get('/account')).text).to.include('<a href="/account/herons">Heron alerts</a>');
      expect(JSON.parse((await reader.post('/account/herons')).text)).to.include({ account_id: id });
      clock.advance(11 * 60_000);
      const confirmation = await reader.post('/account/herons', { count: '3' });
      expect(confirmation.status).to.equal(403);
      expect(confirmation.text).to.include('Confirm it’s you').and.to.include('href="/account/herons">Cancel').and.to.include('name="count" value="3"');
    });

    it('creates callers for credentials of other plugins, with the current role and plan', async () => {
      const { id, workspace_id } = await kit.person({ plan: 'team', role: 'reviewer' });
      const delegation = { credential_id: 'grant', workspace_id, scopes: ['probe:read', 'probe:review', 'probe:follow'], expires: clock.now() + 1000 };
      const caller = async () => (await accounts.delegate(kit.db.read, id))!.caller(delegation);
      expect(await caller()).to.equal({ account_id: id, via: 'token', scope: ['probe:read', 'probe:review', 'probe:follow'], role: 'reviewer', plan: 'team', capabilities: ['api_keys', 'probes'], workspace_id, workspace_role: 'owner', credential_id: 'grant', valid_until: clock.now() + 1000 });
      await kit.run('account set-role', { account: id, role: 'user' });
      await kit.run('account set-plan', { account: id, plan: 'free' });
      expect(await caller()).to.include({ scope: ['probe:read', 'probe:follow'], role: 'user', plan: 'free', capabilities: [] });
      const other = await kit.person();
      await expect(accounts.delegate(kit.db.read, id).then((delegate) => delegate!.caller({ ...delegation, workspace_id: other.workspace_id }))).to.reject(/no longer belongs/);
      expect(await accounts.callerOf(kit.db.read, { account_id: id, credential_id: 'heron', workspace_id })).to.include({ account_id: id, credential_id: 'heron' });
      expect(await accounts.callerOf(kit.db.read, { account_id: id, credential_id: 'stork', workspace_id })).to.be.null();
      await kit.run('account disable', { account: id });
      expect(await accounts.delegate(kit.db.read, id)).to.be.null();
    });

    it('empties caches when access changes', async () => {
      const { id } = await kit.person();
      const first = await cached('a');
      expect(await cached('a')).to.equal(first);
      await kit.db.write(async (tx) => {
        await accounts.record(tx, { kind: 'herons_gone', by: { account_id: null, address: null }, subject: id });
        await accounts.accessChanged(tx, { account_id: id, what: 'credential_revoked', credential_id: 'heron' });
      });
      expect(await cached('a')).to.equal(first + 1);
    });

    it('adds refused attempts to the audit record, with a limit for each address', async () => {
      const attempt = (address: string) => kit.request('POST', '/herons/refused', { headers: { 'x-forwarded-for': address } });
      const recorded = async () => (await kit.run('audit export') as string[]).filter((line) => line.includes('"herons_refused"')).map((line) => (JSON.parse(line) as { address: string }).address);
      for (let i = 0; i < 4; i++) await attempt('203.0.113.1');
      await attempt('203.0.113.2');
      expect(await recorded()).to.equal(['203.0.113.1', '203.0.113.1', '203.0.113.2']);
      clock.advance(60_000);
      await attempt('203.0.113.1');
      expect(await recorded()).to.have.length(4);
    });

    it('records events of declared kinds, and creates notices', async () => {
      const { id, sign_in_link } = await kit.run('account create', { name: 'Grace', role: 'user' });
      await kit.db.write((tx) => accounts.record(tx, { kind: 'herons_seen', by: { account_id: id, address: null }, subject: id, detail: { name: 'Grey' } }));
      await kit.db.write((tx) => accounts.notify(tx, id, 'A heron watches you.', { account_id: null, address: null }));
      await expect(kit.db.write((tx) => accounts.record(tx, { kind: 'herons_lost', by: { account_id: null, address: null } }))).to.reject(/"herons_lost" is not declared/);
      expect(() => accounts.auditKinds({ signed_in: { label: 'x' } })).to.throw(/declared twice/);
      const admin = await kit.run('account create', { name: 'Admin', role: 'admin' });
      const [grace, reader] = [pageReader(kit), pageReader(kit)];
      await grace.follow(sign_in_link);
      expect((await grace.get('/account')).text).to.include('A heron watches you.');
      await reader.follow(admin.sign_in_link);
      expect((await reader.get(`/console/accounts/${id}`)).text).to.include('A heron was seen (Grey)');
    });
  });
}
