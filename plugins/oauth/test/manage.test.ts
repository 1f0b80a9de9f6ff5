import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from 'civic/testing';
import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { approve, BASE, bearer, CALLBACK, connect, leave, newFlow, oauthKit, openConsent, redeem, refresh, type OauthKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const DAY = 86_400_000;

for (const database of testDatabases()) {
  describe(`Connected apps and clients (${database})`, { timeout: 60_000 }, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let kit: OauthKit;
    // Only the first test replaces keys, which takes time.
    before(async () => { kit = await oauthKit({ database, clock, config: { plugins: { oauth: { key_days: 1000 } } } }); });
    after(() => kit.close());

    const runJob = async (name: string): Promise<void> => {
      const jobs = kit.composition.jobs.of('oauth');
      const id = await kit.db.write((tx) => jobs.enqueue(tx, name, {}));
      while ((await jobs.byId(id))?.state !== 'completed') await sleep(10);
    };

    it('have signing keys that are replaced in time, while an old key stays published for a week', async () => {
      const published = async () => (await kit.send('GET', '/oauth/jwks')).body.keys.map(({ kid }: { kid: string }) => kid);
      const first = await published();
      expect(first).to.have.length(2);
      await runJob('oauth.rotate_keys');
      expect(await published()).to.equal(first);
      clock.advance(1001 * DAY);
      await runJob('oauth.rotate_keys');
      const both = await published();
      expect(both).to.have.length(4);
      expect(both.slice(2)).to.equal(first);
      const [ada, client] = [await kit.person(), await kit.register()];
      const { tokens } = await connect(kit, ada, client, { more: { scope: 'openid probe:read' }, scopes: ['probe:read'] });
      expect(JSON.parse(Buffer.from(tokens.id_token.split('.')[0], 'base64url').toString()).kid).to.equal(both[1]);
      clock.advance(8 * DAY);
      await runJob('oauth.rotate_keys');
      expect(await published()).to.equal(both.slice(0, 2));
    });

    it('are listed with their permissions, reported to the account, and disconnected one by one', async () => {
      const [ada, eve] = [await kit.person(), await kit.person()];
      expect((await ada.browser.get('/account/apps')).text).to.include('No apps yet.').and.to.include(`${BASE}/mcp</code>`).and.to.include('aria-current="page">Connected apps').and.to.include('<li><a href="/account/apps">Connected apps</a></li>');
      const [first, second] = [await kit.register({ client_name: 'First app' }), await kit.register({ client_name: 'Second app' })];
      const [one, two] = [await connect(kit, ada, first), await connect(kit, ada, second, { scopes: ['probe:read'] })];
      const page = (await ada.browser.get('/account/apps')).text;
      expect(page).to.include('First app').and.to.include('Second app').and.to.include('app.example.org').and.to.include('Read probes');
      expect((await ada.browser.get('/account')).text).to.include('The app “First app” was connected.').and.to.include('<a href="/account/apps">disconnect apps</a>');
      expect((await eve.browser.get('/account/apps')).text).to.not.include('First app');
      const id = (await kit.db.read('oauth_grants').where({ client_id: first.client_id }).first() as { id: string }).id;
      expect((await eve.browser.get(`/account/apps/${id}/disconnect`)).status).to.equal(404);
      expect((await eve.browser.post(`/account/apps/${id}/disconnect`)).status).to.equal(404);
      expect((await ada.browser.get(`/account/apps/${id}/disconnect`)).text).to.include('Disconnect First app?').and.to.include('(personal)').and.to.include('Read probes, Change probes');
      expect((await ada.browser.post(`/account/apps/${id}/disconnect`, {}, { origin: 'https://evil.example.org' })).status).to.equal(403);
      const gone = await ada.browser.post(`/es/account/apps/${id}/disconnect`);
      expect([gone.status, gone.headers.get('location')]).to.equal([303, '/es/account/apps?done=disconnected']);
      expect((await ada.browser.get('/account/apps?done=disconnected')).text).to.include('The app is disconnected.').and.to.include('<h2>Second app').and.to.not.include('<h2>First app');
      expect((await kit.send('GET', '/api/probe', bearer(one.tokens.access_token))).status).to.equal(401);
      expect((await refresh(kit, first, one.tokens.refresh_token)).body.error).to.equal('invalid_grant');
      expect((await kit.send('GET', '/api/probe', bearer(two.tokens.access_token))).status).to.equal(200);
      expect((await kit.audit()).findLast(({ kind }) => kind === 'oauth_disconnected')).to.include({ account_id: ada.id, subject: id });
      const { text } = await (await kit.person({ role: 'admin' })).browser.get(`/console/accounts/${ada.id}`);
      expect(text).to.include('An app was connected (First app)').and.to.include('An app was disconnected (First app)');
    });

    it('are listed in groups, each with what is known of the app and its connections', async () => {
      const ada = await kit.person();
      const connectAt = (client: { client_id: string }, redirect_uri: string, resource = `${BASE}/api`) => connect(kit, ada, client, { more: { redirect_uri, resource } });
      const program = await kit.register({ client_name: 'Notes', redirect_uris: ['http://127.0.0.1/callback'] });
      for (let i = 0; i < 2; i++) await connectAt(program, 'http://127.0.0.1:5000/callback');
      await connectAt(await kit.register({ client_name: 'Cursor', redirect_uris: ['cursor://callback'] }), 'cursor://callback', `${BASE}/mcp`);
      kit.documents.set('https://editor.example.org/client.json', { client_id: 'https://editor.example.org/client.json', client_name: 'Editor', redirect_uris: [CALLBACK] });
      await connectAt({ client_id: 'https://editor.example.org/client.json' }, CALLBACK);
      const device = await kit.run('oauth client create', { name: 'Field tool', device: true });
      const begun = (await kit.send('POST', '/oauth/device', { form: { client_id: device.client_id, scope: 'probe:read', resource: `${BASE}/api` } })).body;
      await ada.browser.post('/device', { user_code: begun.user_code, workspace: ada.workspace_id, scopes: 'probe:read' });
      const { text } = await ada.browser.get('/account/apps');
      const groups = text.split('<h2>').slice(1).map((group) => group.replace(/<\/?time[^>]*>/g, '').replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' '));
      expect(groups.map((group) => group.match(/ Disconnect /g)!.length)).to.equal([1, 1, 1, 2]);
      expect(groups[0]).to.match(/^Field tool added by the operator By device code · The API Connected now, not used yet, ends \w+ \d+, 20\d\d, or after 30 days without use Read probes/);
      expect(groups[1]).to.match(/^Editor address verified editor.example.org · The API/);
      expect(groups[2]).to.match(/^Cursor name not verified App on your device · Tools for assistants/);
      expect(groups[3]).to.match(/^Notes name not verified Program on your computer · The API/);
      await kit.run('oauth client remove', {}, [device.client_id]);
    });

    it('are listed in pages', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      await connect(kit, ada, client);
      const { key: _key, ...grant } = { ...await kit.db.read('oauth_grants').where({ client_id: client.client_id }).first() as { key: number; id: string }, scopes: '[]' };
      await kit.db.write((tx) => tx('oauth_grants').insert(Array.from({ length: 50 }, (_, i) => ({ ...grant, id: randomUUID(), client_name: `App ${i}` }))));
      const ids = (text: string): string[] => [...text.matchAll(/apps\/([0-9a-f-]{36})\/disconnect/g)].map(([, id]) => id!);
      const first = (await ada.browser.get('/account/apps')).text;
      const next = /href="(\/account\/apps\?after[^"]+)"/.exec(first)![1]!.replaceAll('&#x3D;', '=');
      const second = (await ada.browser.get(next)).text;
      expect([ids(first).length, ids(second), second.includes('>More<')]).to.equal([50, [grant.id], false]);
      for (const after of ['nonsense', randomUUID()]) expect(ids((await ada.browser.get(`/account/apps?after=${after}`)).text)).to.equal(ids(first));
      expect((await ada.browser.get('/account/apps/nonsense/disconnect')).status).to.equal(404);
      expect((await ada.browser.post(`/account/apps/${grant.id}/disconnect`)).status).to.equal(303);
      expect((await ada.browser.get('/account/apps')).text).to.not.include('>More<');
    });

    it('are created by the operator with a secret that is shown once, and removed with their connections', async () => {
      const ada = await kit.person();
      const created = await kit.run('oauth client create', { name: 'Newsroom', 'redirect-uri': [CALLBACK], confidential: true });
      expect(created.client_secret).to.match(/^[\w-]{43}$/);
      const listed = await kit.run('oauth client list');
      expect(listed).to.have.length(1);
      expect(listed[0]).to.include({ client_id: created.client_id, name: 'Newsroom', confidential: true, connections: 0 });
      expect(JSON.stringify(listed)).to.not.include(created.client_secret);
      const flow = newFlow(created.client_id);
      const { path, page } = await openConsent(ada.browser, flow);
      expect(page.text).to.include('added by the operator');
      const code = (await approve(ada.browser, path, { workspace: ada.workspace_id })).searchParams.get('code')!;
      const { body } = await redeem(kit, created, flow, code, { authorization: `Basic ${Buffer.from(`${created.client_id}:${created.client_secret}`).toString('base64')}` });
      expect((await kit.send('GET', '/api/probe', bearer(body.access_token))).status).to.equal(200);
      expect(await kit.run('oauth client remove', {}, [created.client_id])).to.equal({ client_id: created.client_id, connections: 1 });
      expect((await kit.send('GET', '/api/probe', bearer(body.access_token))).status).to.equal(401);
      await expect(kit.run('oauth client remove', {}, [created.client_id])).to.reject(/no client with this id/);
      for (const [options, words] of [[{ name: 'x' }, /--redirect-uri/], [{ name: 'x', 'redirect-uri': ['http://app.example.org'] }, /must use https/], [{ name: 'x', 'redirect-uri': ['nonsense'] }, /--redirect-uri nonsense is not a URL/], [{ name: 'x', 'redirect-uri': ['https://*.example.org/cb'] }, /wildcard/], [{ name: ' ', device: true }, /--name must have/], [{ name: 'x'.repeat(101), device: true }, /--name must have/]] as const) await expect(kit.run('oauth client create', options as never)).to.reject(words);
    });

    it('are deleted when they can no longer be used, but not while they are connected', async () => {
      const ada = await kit.person();
      const [used, unused] = [await kit.register(), await kit.register()];
      const { tokens } = await connect(kit, ada, used);
      const ids = async () => (await kit.db.read('oauth_clients').whereIn('id', [used.client_id, unused.client_id]).select('id')).map(({ id }: { id: string }) => id);
      clock.advance(2 * DAY);
      await runJob('oauth.sweep');
      expect(await ids()).to.equal([used.client_id]);
      // Between the approval and the code there is only the grant.
      const grace = await kit.person();
      const flow = newFlow(used.client_id);
      const { path } = await openConsent(grace.browser, flow);
      const approved = await grace.browser.post(path, { workspace: grace.workspace_id, scopes: 'probe:read' });
      await runJob('oauth.sweep');
      const code = (await leave(grace.browser, approved)).searchParams.get('code')!;
      const late = (await redeem(kit, used, flow, code)).body;
      expect(late.scope).to.equal('probe:read');
      await kit.send('POST', '/oauth/revoke', { form: { token: late.access_token, client_id: used.client_id } });
      expect((await refresh(kit, used, tokens.refresh_token)).status).to.equal(200);
      clock.advance(29 * DAY);
      await runJob('oauth.sweep');
      expect((await kit.db.read('oauth_grants').where({ client_id: used.client_id })).length).to.equal(1);
      clock.advance(2 * DAY);
      await runJob('oauth.sweep');
      expect((await kit.db.read('oauth_grants').where({ client_id: used.client_id })).length).to.equal(0);
      expect((await kit.audit()).findLast(({ kind }) => kind === 'oauth_disconnected')!.detail).to.include({ reason: 'expired' });
      expect(await ids()).to.equal([used.client_id]);
      clock.advance(91 * DAY);
      await runJob('oauth.sweep');
      expect(await ids()).to.equal([]);
      expect(await kit.db.read('oauth_artifacts').whereNotNull('expires_at')).to.equal([]);
    });

    it('are all deleted by one sweep, however many there are', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      const { tokens } = await connect(kit, ada, client);
      const sample = await kit.db.read('oauth_grants').where({ client_id: client.client_id }).first() as { key: number };
      const { key: _key, ...grant } = { ...sample, scopes: '[]' };
      const sampleClient = await kit.db.read('oauth_clients').where({ id: client.client_id }).first() as { key: number };
      const { key: _clientKey, ...unused } = { ...sampleClient, metadata: '{}', created_at: new Date(clock.now() - 2 * DAY).toISOString(), used_at: null };
      const many = Array.from({ length: 520 }, (_, i) => i);
      await kit.db.write(async (tx) => {
        for (let from = 0; from < many.length; from += 40) {
          const part = many.slice(from, from + 40);
          await tx('oauth_grants').insert(part.map(() => ({ ...grant, id: randomUUID(), client_id: 'gone', created_at: new Date(clock.now() - DAY).toISOString() })));
          await tx('oauth_clients').insert(part.map((i) => ({ ...unused, id: `idle ${i}` })));
        }
      });
      await runJob('oauth.sweep');
      expect(await kit.db.read('oauth_grants').where({ client_id: 'gone' })).to.equal([]);
      expect(await kit.db.read('oauth_clients').whereLike('id', 'idle %')).to.equal([]);
      expect((await refresh(kit, client, tokens.refresh_token)).status).to.equal(200);
    });

    it('leave no secret in the database, and only the owner can read the key file', async () => {
      const [ada, client] = [await kit.person(), await kit.register({ token_endpoint_auth_method: 'client_secret_post' })];
      const flow = newFlow(client.client_id);
      const { path } = await openConsent(ada.browser, flow);
      const code = (await approve(ada.browser, path, { workspace: ada.workspace_id })).searchParams.get('code')!;
      const stored = async () => JSON.stringify([await kit.db.read('oauth_artifacts'), await kit.db.read('oauth_clients'), await kit.db.read('oauth_grants'), await kit.db.read('oauth_keys')]);
      expect(await stored()).to.not.include(code);
      const { body } = await kit.send('POST', '/oauth/token', { form: { grant_type: 'authorization_code', client_id: client.client_id, client_secret: client.client_secret, code, redirect_uri: CALLBACK, code_verifier: flow.verifier } });
      const text = await stored();
      for (const secret of [body.access_token, body.refresh_token, client.client_secret, client.registration_access_token, '"d":']) expect(text).to.not.include(secret);
      const file = join(kit.composition.config.data_dir, 'oauth.key');
      expect(statSync(file).mode & 0o777).to.equal(0o600);
      expect(text).to.not.include(readFileSync(file, 'utf8').trim());
    });

    it('are checked by doctor with the requests of an app', async () => {
      const check = async (node: OauthKit) => Object.fromEntries(await Promise.all(node.composition.checks.filter(({ plugin }) => plugin === 'oauth').map(async (one) => [one.name, await one.run()] as const)));
      const results = await check(kit);
      expect([results['public address']!.status, results['signing keys']!.status]).to.equal(['ok', 'ok']);
      // The public address is reserved for documentation: no host responds.
      expect(results['from outside']).to.include({ status: 'warning' });
      for (const [issuer, status] of [[BASE, 'ok'], ['https://other.example.org', 'warning']] as const) {
        kit.documents.set(`${BASE}/.well-known/oauth-authorization-server`, { issuer });
        kit.documents.set(`${BASE}/.well-known/oauth-protected-resource/api`, { resource: `${BASE}/api` });
        kit.documents.set(`${BASE}/oauth/authorize`, { status: 400 });
        expect((await check(kit))['from outside'], issuer).to.include({ status });
      }
      if (database !== 'sqlite') return;
      const plain = await oauthKit({ config: { public_url: 'http://203.0.113.7' } });
      expect((await check(plain))['public address']).to.include({ status: 'warning' });
      await plain.close();
    });
  });
}
