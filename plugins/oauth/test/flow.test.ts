import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from 'civic/testing';
import { createPublicKey, verify } from 'node:crypto';
import { approve, BASE, bearer, CALLBACK, connect, createBrowser, DEVICE_GRANT, leave, newFlow, oauthKit, openConsent, redeem, refresh, type OauthKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const MINUTE = 60_000;

/** Returns the claims of the ID token of a token response. */
const claimsOf = ({ id_token: token }: { id_token: string }): Record<string, unknown> => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

for (const database of testDatabases()) {
  describe(`Connecting an app (${database})`, { timeout: 60_000 }, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let kit: OauthKit;
    before(async () => { kit = await oauthKit({ database, clock }); });
    after(() => kit.close());

    it('issues tokens to a client that knows only the address of a resource, refreshes them and revokes them', async () => {
      const refused = await kit.send('POST', '/mcp');
      expect(refused.status).to.equal(401);
      const [, metadata] = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate')!)!;
      expect(metadata).to.equal(`${BASE}/.well-known/oauth-protected-resource/mcp`);
      const resource = (await kit.send('GET', new URL(metadata!).pathname)).body;
      expect(resource).to.include({ resource: `${BASE}/mcp`, authorization_servers: [BASE], scopes_supported: ['probe:read', 'probe:write'] });
      const server = (await kit.send('GET', '/.well-known/oauth-authorization-server')).body;
      const client = (await kit.send('POST', new URL(server.registration_endpoint).pathname, { json: { client_name: 'Assistant', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'], scope: 'probe:read' } })).body;
      const ada = await kit.person();
      const flow = newFlow(client.client_id, { resource: resource.resource });
      const { path, page } = await openConsent(ada.browser, flow);
      expect(page.text).to.include('Connect Assistant?').and.to.include('name not verified').and.to.include('app.example.org').and.to.include('Read probes').and.to.include('Change probes');
      const redirect = await approve(ada.browser, path, { workspace: ada.workspace_id });
      expect(redirect.origin + redirect.pathname).to.equal(CALLBACK);
      expect(redirect.searchParams.get('state')).to.equal(flow.state);
      expect(redirect.searchParams.get('iss')).to.equal(server.issuer);
      const redeemed = await redeem(kit, client, flow, redirect.searchParams.get('code')!);
      expect(redeemed.status).to.equal(200);
      expect(redeemed.headers.get('cache-control')).to.equal('no-store');
      expect(redeemed.body).to.include({ token_type: 'Bearer', expires_in: 900, scope: 'probe:read probe:write' });
      const { caller } = (await kit.send('POST', '/mcp', bearer(redeemed.body.access_token))).body;
      expect(caller).to.include({ account_id: ada.id, via: 'token', scope: ['probe:read', 'probe:write'], workspace_id: ada.workspace_id, plan: 'team' });
      const refreshed = await refresh(kit, client, redeemed.body.refresh_token);
      expect(refreshed.status).to.equal(200);
      expect(refreshed.body.refresh_token).to.not.equal(redeemed.body.refresh_token);
      expect((await kit.send('POST', '/mcp', bearer(refreshed.body.access_token))).status).to.equal(200);
      expect((await kit.send('POST', '/oauth/revoke', { form: { token: refreshed.body.refresh_token, client_id: client.client_id } })).status).to.equal(200);
      for (const token of [redeemed.body.access_token, refreshed.body.access_token]) {
        const revoked = await kit.send('POST', '/mcp', bearer(token));
        expect(revoked.status).to.equal(401);
        expect(revoked.headers.get('www-authenticate')).to.include('error="invalid_token"');
      }
      expect((await refresh(kit, client, refreshed.body.refresh_token)).body.error).to.equal('invalid_grant');
    });

    it('grants the scopes that stay selected, and all scopes of the resource when none is requested', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      const narrow = await connect(kit, ada, client, { scopes: ['probe:read'] });
      expect(narrow.tokens.scope).to.equal('probe:read');
      expect((await kit.send('GET', '/api/probe', bearer(narrow.tokens.access_token))).status).to.equal(200);
      const refused = await kit.send('GET', '/api/probe/written', bearer(narrow.tokens.access_token));
      expect([refused.status, refused.body.code, refused.body.scopes]).to.equal([403, 'insufficient_scope', ['probe:write']]);
      expect(refused.headers.get('www-authenticate')).to.equal(`Bearer realm="civic", error="insufficient_scope", scope="probe:read probe:write", resource_metadata="${BASE}/.well-known/oauth-protected-resource/api"`);
      const { path, page } = await openConsent(ada.browser, newFlow(client.client_id, { scope: null, resource: null }));
      expect(page.text.match(/name="scopes"/g)).to.have.length(2);
      expect(page.text).to.not.include('probe:review');
      await approve(ada.browser, path, { workspace: ada.workspace_id });
      const unscoped = await connect(kit, ada, client, { more: { scope: null, resource: null } });
      expect(unscoped.tokens.scope).to.equal('probe:read probe:write');
      expect((await kit.send('POST', '/mcp', bearer(unscoped.tokens.access_token))).status).to.equal(200);
      const reviewer = await kit.person({ role: 'reviewer' });
      expect((await openConsent(reviewer.browser, newFlow(client.client_id, { scope: 'probe:review' }))).page.text).to.include('Review probes');
    });

    it('ignores an unknown scope beside a known one, and fails when all are unknown', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      const misspelt = new URL((await ada.browser.get(newFlow(client.client_id, { scope: 'openid prob:read' }).address)).headers.get('location')!);
      expect(Object.fromEntries(misspelt.searchParams)).to.include({ error: 'invalid_scope', iss: BASE });
      expect(misspelt.searchParams.get('error_description')).to.include('prob:read');
      for (const [scope, shown] of [['prob:read probe:read', 1], ['openid offline_access probe:read', 1], ['offline_access', 2]] as const) {
        expect((await openConsent(ada.browser, newFlow(client.client_id, { scope, resource: `${BASE}/mcp` }))).page.text.match(/name="scopes"/g), scope).to.have.length(shown);
      }
    });

    it('gives an app that requests only the scope openid an ID token and no permission', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      await kit.request('POST', '/api/workspaces', { payload: { name: 'Newsroom' }, headers: { 'x-api-key': ada.key } });
      const flow = newFlow(client.client_id, { scope: 'openid' });
      const { path, page } = await openConsent(ada.browser, flow);
      expect(page.text).to.not.include('name="scopes"').and.to.not.include('<legend>').and.to.not.include('<dt>Workspace').and.to.include('The app gets the id of your account').and.to.include('>Connect</button>');
      expect((await ada.browser.post(path, { scopes: 'probe:read' })).status).to.equal(400);
      const code = (await leave(ada.browser, await ada.browser.post(path))).searchParams.get('code')!;
      const { body } = await redeem(kit, client, flow, code);
      expect([body.scope, claimsOf(body)['sub']]).to.equal(['openid', ada.id]);
      expect((await refresh(kit, client, body.refresh_token)).body.scope).to.equal('openid');
      const assistant = newFlow(client.client_id, { scope: 'openid', resource: `${BASE}/mcp` });
      const approved = await ada.browser.post((await openConsent(ada.browser, assistant)).path);
      const forMcp = (await redeem(kit, client, assistant, (await leave(ada.browser, approved)).searchParams.get('code')!)).body.access_token;
      for (const [method, way, token, scope] of [['GET', '/api/probe', body.access_token, 'probe:read'], ['GET', '/api/probe/public', body.access_token, null], ['POST', '/mcp', forMcp, 'probe:read probe:write']] as const) {
        const reply = await kit.send(method, way, bearer(token));
        expect([reply.status, reply.body.code], way).to.equal([403, 'insufficient_scope']);
        if (scope) expect(reply.headers.get('www-authenticate')).to.include(`error="insufficient_scope", scope="${scope}"`);
      }
      const apps = (await ada.browser.get('/account/apps')).text;
      expect(apps).to.include('Knows the id of your account').and.to.not.include('· The API');
      expect((await connect(kit, ada, client, { more: { scope: 'probe:read openid' }, scopes: ['probe:read'] })).tokens.scope).to.equal('openid probe:read');
    });

    it('reports when the user last authenticated, and asks again for prompt=login and max_age', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      const [scope, fields] = ['openid probe:read', { workspace: ada.workspace_id, scopes: 'probe:read' }];
      const signedIn = clock.now() / 1000;
      clock.advance(5 * MINUTE);
      for (const more of [{ scope }, { scope, max_age: '301' }] as Record<string, string>[]) expect(claimsOf((await connect(kit, ada, client, { more, scopes: ['probe:read'] })).tokens)['auth_time']).to.equal(signedIn);
      for (const more of [{ prompt: 'login' }, { max_age: '60' }, { max_age: '0' }, { prompt: 'login consent' }] as Record<string, string>[]) {
        clock.advance(2 * MINUTE);
        const flow = newFlow(client.client_id, { scope, ...more });
        const { path } = await openConsent(ada.browser, flow);
        const asked = await ada.browser.post(path, fields);
        expect([asked.status, asked.text.includes('Confirm it’s you')], JSON.stringify(more)).to.equal([403, true]);
        const { sign_in_link } = await kit.run('account sign-in-link', { account: ada.id });
        const code = (await leave(ada.browser, await ada.browser.post(path, { ...fields, confirm_secret: sign_in_link }))).searchParams.get('code')!;
        expect(claimsOf((await redeem(kit, client, flow, code)).body)['auth_time'], JSON.stringify(more)).to.equal(clock.now() / 1000);
      }
      // A user who signs in for the request is not asked twice.
      const [visitor, flow] = [createBrowser(kit.url), newFlow(client.client_id, { scope, prompt: 'login' })];
      const path = (await visitor.get(flow.address)).headers.get('location')!;
      clock.advance(MINUTE);
      await visitor.follow((await kit.run('account sign-in-link', { account: ada.id })).sign_in_link);
      await visitor.get(path);
      expect((await approve(visitor, path, { workspace: ada.workspace_id, scopes: ['probe:read'] })).searchParams.has('code')).to.be.true();
    });

    it('refuses a grant type that the app did not register', async () => {
      const { client_id } = await kit.register({ grant_types: ['authorization_code'] });
      for (const reply of [await refresh(kit, { client_id }, 'x'), await kit.send('POST', '/oauth/device', { form: { client_id } })]) expect([reply.status, reply.body.error]).to.equal([400, 'unauthorized_client']);
    });

    it('explains permissions, sets those that change data apart, and names the plans of those beyond the plan', async () => {
      const client = await kit.register();
      const scope = 'probe:write probe:follow probe:read';
      const permissions = async (plan: string) => {
        const { text } = (await openConsent((await kit.person({ plan })).browser, newFlow(client.client_id, { scope }))).page;
        return [...text.matchAll(/value="(probe:\w+)"( checked)?> <span>([^]*?)<\/label>|<p class="(changes)">/g)].map(([, name, checked, words, rule]) => rule ?? [name, checked !== undefined, words!.replace(/<[^>]+>/g, '')]);
      };
      expect(await permissions('team')).to.equal([['probe:read', true, 'Read probes Also private probes.'], 'changes', ['probe:write', true, 'Change probes'], ['probe:follow', true, 'Follow probes As they appear.']]);
      const none = (await openConsent((await kit.person()).browser, newFlow(client.client_id, { scope: 'probe:review' }))).page.text;
      expect(none).to.include('Your role does not include the permissions').and.to.not.include('>Connect</button>');
      expect((await permissions('individual')).at(-1)).to.equal(['probe:follow', true, 'Follow probes Not in your plan, but in: team. Compare plans']);
      const free = await kit.person({ plan: 'individual' });
      expect((await connect(kit, free, client, { more: { scope: 'probe:follow' }, scopes: ['probe:follow'] })).tokens.scope).to.equal('probe:follow');
    });

    it('warns of every app whose name is not verified', async () => {
      const ada = await kit.person();
      for (const [redirect_uri, shown, warning] of [[CALLBACK, 'app.example.org', 'if you started on app.example.org'], ['http://127.0.0.1:4000/x', 'a program on this computer', 'if you started it yourself'], ['cursor://callback', 'the app that opens cursor:// links', 'if you started it yourself']] as const) {
        const client = await kit.register({ client_name: 'Cursor', redirect_uris: [redirect_uri] });
        const { text } = (await openConsent(ada.browser, newFlow(client.client_id, { redirect_uri }))).page;
        expect(text, redirect_uri).to.include('name not verified').and.to.include(shown).and.to.include(warning);
      }
    });

    it('redirects to the app without a code when the user cancels', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      const { path } = await openConsent(ada.browser, newFlow(client.client_id));
      const redirect = await leave(ada.browser, await ada.browser.post(`${path}/deny`));
      expect(Object.fromEntries(redirect.searchParams)).to.include({ error: 'access_denied', iss: BASE });
      expect(redirect.searchParams.has('code')).to.be.false();
    });

    it('explains to a user who goes back to a decided request that it is closed', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      const { path } = await openConsent(ada.browser, newFlow(client.client_id));
      await approve(ada.browser, path, { workspace: ada.workspace_id });
      for (const { status, text } of [await ada.browser.get(path), await ada.browser.post(path), await ada.browser.post(`${path}/deny`)]) {
        expect(status).to.equal(410);
        expect(text).to.include('This request is no longer open').and.to.include('href="/account/apps"').and.to.not.include('cannot be connected');
      }
    });

    it('names the app on the pages to sign in and to use another account', async () => {
      const [ada, client] = [await kit.person(), await kit.register({ client_name: 'Notes & more' })];
      const { path, page } = await openConsent(ada.browser, newFlow(client.client_id));
      expect(page.text).to.include('Use another account');
      expect((await ada.browser.get(`/es/account/recovery-codes?next=${encodeURIComponent(path)}`)).text).to.include(`<a href="${path}">Omitir por ahora y conectar Notes &amp; more</a>`);
      const left = await ada.browser.post('/sign-out', { next: path });
      expect(left.headers.get('location')).to.equal(`/sign-in?next=${encodeURIComponent(path)}`);
      expect((await ada.browser.get(left.headers.get('location')!)).text).to.include('<h1>Sign in to connect Notes &amp; more</h1>');
      expect((await ada.browser.get('/sign-in?next=%2Fdevice')).text).to.include('<h1>Sign in to connect a device</h1>');
      for (const next of ['/connect/unknown', '/connecting', '/account']) expect((await ada.browser.get(`/sign-in?next=${encodeURIComponent(next)}`)).text, next).to.include('<h1>Sign in</h1>');
    });

    it('shows the consent page every time, and fails when the app forbids a page', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      await connect(kit, ada, client);
      expect((await openConsent(ada.browser, newFlow(client.client_id))).page.text).to.include('Connect Test app?');
      clock.advance(MINUTE);
      for (const [more, error] of [[{}, 'consent_required'], [{ max_age: '60' }, 'consent_required'], [{ max_age: '59' }, 'login_required']] as const) {
        const flow = newFlow(client.client_id, { scope: 'openid probe:read', prompt: 'none', ...more });
        const { searchParams } = new URL((await ada.browser.get(flow.address)).headers.get('location')!);
        expect(Object.fromEntries(searchParams), JSON.stringify(more)).to.include({ error, state: flow.state, iss: BASE });
      }
    });

    it('sends errors to an app of the operator or with a metadata document, also without a signed-in user', async () => {
      const operated = await kit.run('oauth client create', { name: 'Newsroom', 'redirect-uri': [CALLBACK] });
      const documented = { client_id: 'https://silent.example.org/client.json', client_name: 'Silent', redirect_uris: [CALLBACK] };
      kit.documents.set(documented.client_id, documented);
      const registered = await kit.register();
      for (const [more, error, explanation] of [
        [{ prompt: 'none' }, 'login_required', 'you are not signed in'], [{ scope: 'prob:read' }, 'invalid_scope', 'permissions that this instance does not have'],
        [{ code_challenge: null, code_challenge_method: null }, 'invalid_request', 'a request that is not valid'], [{ resource: 'https://other.example.org' }, 'invalid_target', 'an address that does not belong to this instance'],
      ] as [Record<string, string | null>, string, string][]) {
        for (const { client_id } of [operated, documented]) {
          const flow = newFlow(client_id, more);
          const reply = await createBrowser(kit.url).get(flow.address);
          expect(reply.status, `${client_id} ${error}`).to.equal(303);
          const { origin, pathname, searchParams } = new URL(reply.headers.get('location')!);
          expect([origin + pathname, searchParams.get('error'), searchParams.get('state'), searchParams.get('iss')]).to.equal([CALLBACK, error, flow.state, BASE]);
        }
        // Anybody can register an app, so a redirect without a decision of the user would be an open redirector.
        const { status, headers, text } = await createBrowser(kit.url).get(newFlow(registered.client_id, more).address);
        expect([status, headers.get('location')], error).to.equal([400, null]);
        expect(text).to.include(explanation).and.to.match(new RegExp(`href="${CALLBACK}\\?error(=|&#x3D;)${error}&amp;`)).and.to.include('Continue to app.example.org');
      }
    });

    it('responds to an unknown app with 401 and a challenge', async () => {
      for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/introspect', '/oauth/device']) {
        const reply = await kit.send('POST', path, { form: { client_id: 'unknown', grant_type: 'refresh_token', refresh_token: 'x', token: 'x' } });
        expect([reply.status, reply.body.error], path).to.equal([401, 'invalid_client']);
        expect(reply.headers.get('www-authenticate'), path).to.equal(`Basic realm="${BASE}", error="invalid_client"`);
      }
    });

    it('shows the name of an app as text, and shortens it', async () => {
      const ada = await kit.person();
      const client = await kit.register({ client_name: `<script>alert(1)</script>\u202e${'x'.repeat(500)}` });
      const { text } = (await openConsent(ada.browser, newFlow(client.client_id))).page;
      expect(text).to.include('&lt;script&gt;alert(1)').and.to.not.include('<script>alert').and.to.not.include('\u202e').and.to.not.include('x'.repeat(40)).and.to.include('x…?</h1>');
      expect(text).to.not.include('logo');
      const nameless = (await openConsent(ada.browser, newFlow((await kit.register({ client_name: ' \u202e ' })).client_id))).page.text;
      expect(nameless).to.include('Connect an app?').and.to.include('This app gives no name').and.to.not.include('this name');
    });

    it('accepts both methods of sending a client secret, and refuses a wrong secret', async () => {
      const ada = await kit.person();
      for (const token_endpoint_auth_method of ['client_secret_basic', 'client_secret_post'] as const) {
        const client = await kit.register({ token_endpoint_auth_method });
        const basic = (secret: string) => ({ authorization: `Basic ${Buffer.from(`${client.client_id}:${secret}`).toString('base64')}` });
        const flow = newFlow(client.client_id);
        const { path } = await openConsent(ada.browser, flow);
        const code = (await approve(ada.browser, path, { workspace: ada.workspace_id })).searchParams.get('code')!;
        const form = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: flow.verifier };
        const send = (secret: string) => (token_endpoint_auth_method === 'client_secret_basic'
          ? kit.send('POST', '/oauth/token', { form, headers: basic(secret) })
          : kit.send('POST', '/oauth/token', { form: { ...form, client_id: client.client_id, client_secret: secret } }));
        expect((await send('wrong')).body.error, token_endpoint_auth_method).to.equal('invalid_client');
        const { status, body } = await send(client.client_secret);
        expect(status, token_endpoint_auth_method).to.equal(200);
        const introspected = await kit.send('POST', '/oauth/introspect', token_endpoint_auth_method === 'client_secret_basic' ? { form: { token: body.access_token }, headers: basic(client.client_secret) } : { form: { token: body.access_token, client_id: client.client_id, client_secret: client.client_secret } });
        expect(introspected.body).to.include({ active: true, sub: ada.id, client_id: client.client_id, aud: `${BASE}/api`, scope: 'probe:read probe:write', workspace_id: ada.workspace_id });
      }
    });

    it('signs ID tokens with a published key for apps that request the scope openid', async () => {
      const ada = await kit.person();
      const { keys } = (await kit.send('GET', '/oauth/jwks')).body;
      const supported = (await kit.send('GET', '/.well-known/openid-configuration')).body.id_token_signing_alg_values_supported;
      expect(supported).to.equal(['RS256', 'ES256']);
      for (const [alg, metadata] of [['RS256', {}], ['ES256', { id_token_signed_response_alg: 'ES256' }]] as const) {
        const client = await kit.register(metadata);
        const { tokens } = await connect(kit, ada, client, { more: { scope: 'openid probe:read' }, scopes: ['probe:read'] });
        const [head, body, signature] = tokens.id_token.split('.') as [string, string, string];
        const header = JSON.parse(Buffer.from(head, 'base64url').toString());
        const jwk = keys.find((key: { kid: string }) => key.kid === header.kid);
        expect([header.alg, jwk.alg, jwk.d, jwk.p]).to.equal([alg, alg, undefined, undefined]);
        expect(verify('sha256', Buffer.from(`${head}.${body}`), { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'))).to.be.true();
        expect(JSON.parse(Buffer.from(body, 'base64url').toString())).to.include({ iss: BASE, aud: client.client_id, sub: ada.id });
      }
    });

    describe('of a device', () => {
      let client: { client_id: string };
      before(async () => { client = await kit.run('oauth client create', { name: 'Field tool', device: true }); });

      const begin = async (more: Record<string, string> = {}) => (await kit.send('POST', '/oauth/device', { form: { client_id: client.client_id, scope: 'probe:read', resource: `${BASE}/api`, ...more } })).body;
      const poll = (device_code: string) => kit.send('POST', '/oauth/token', { form: { grant_type: DEVICE_GRANT, client_id: client.client_id, device_code } });

      it('gets tokens once a user has entered its code and approved', async () => {
        const ada = await kit.person();
        const begun = await begin();
        expect(begun).to.include({ verification_uri: `${BASE}/device`, verification_uri_complete: `${BASE}/device?user_code=${begun.user_code}`, expires_in: 900 });
        expect(begun.user_code).to.match(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
        expect((await poll(begun.device_code)).body.error).to.equal('authorization_pending');
        expect((await ada.browser.get('/device')).text).to.include('Enter the code');
        const typed = begun.user_code.toLowerCase().replace('-', ' ');
        const page = await ada.browser.get(`/device?user_code=${encodeURIComponent(typed)}`);
        expect(page.text).to.include('Connect Field tool?').and.to.include(begun.user_code).and.to.include('added by the operator').and.to.include('Never approve a code');
        const done = await ada.browser.post('/device', { user_code: begun.user_code, workspace: ada.workspace_id, scopes: 'probe:read' });
        expect(done.text).to.include('Field tool is connected');
        const { status, body } = await poll(begun.device_code);
        expect([status, body.scope, body.token_type]).to.equal([200, 'probe:read', 'Bearer']);
        expect((await kit.send('GET', '/api/probe', bearer(body.access_token))).body.caller).to.include({ account_id: ada.id, workspace_id: ada.workspace_id });
        expect((await refresh(kit, client, body.refresh_token)).status).to.equal(200);
        await kit.newAudit();
        expect((await poll(begun.device_code)).body.error).to.equal('invalid_grant');
        expect(await kit.newAudit()).to.equal(['oauth_code_replayed', 'oauth_disconnected']);
      });

      it('gets an error when the user cancels, and when the code has expired', async () => {
        const ada = await kit.person();
        const cancelled = await begin();
        await ada.browser.get(`/device?user_code=${cancelled.user_code}`);
        expect((await ada.browser.post('/device/deny', { user_code: cancelled.user_code })).text).to.include('Not connected');
        expect((await poll(cancelled.device_code)).body.error).to.equal('access_denied');
        const late = await begin();
        clock.advance(15 * 60_000);
        expect((await ada.browser.get(`/device?user_code=${late.user_code}`)).status).to.equal(400);
        expect((await poll(late.device_code)).body.error).to.equal('expired_token');
      });

      it('is approved once, by a signed-in user, on a page of this instance', async () => {
        const [ada, eve] = [await kit.person(), await kit.person()];
        const begun = await begin();
        await ada.browser.get(`/device?user_code=${begun.user_code}`);
        await kit.newAudit();
        const fields = { user_code: begun.user_code, workspace: ada.workspace_id, scopes: 'probe:read' };
        expect((await ada.browser.post('/device', fields, { origin: 'https://evil.example.org' })).status).to.equal(403);
        expect(await kit.newAudit()).to.equal(['oauth_consent_forged']);
        expect((await ada.browser.post('/device', { ...fields, scopes: 'probe:write' })).status).to.equal(400);
        const replies = await Promise.all([ada.browser.post('/device', fields), eve.browser.post('/device', { user_code: begun.user_code, workspace: eve.workspace_id, scopes: 'probe:read' })]);
        expect(replies.filter(({ text }) => text.includes('is connected'))).to.have.length(1);
        expect(await kit.db.read('oauth_grants').whereIn('account_id', [ada.id, eve.id])).to.have.length(1);
        expect((await ada.browser.get('/device?user_code=BBBB-BBBB')).text).to.include('This code is not known');
      });

      it('needs a client that may use this flow, and a resource and a scope of this server', async () => {
        const other = await kit.register({ redirect_uris: [CALLBACK] });
        expect((await begin({ client_id: other.client_id })).error).to.equal('unauthorized_client');
        expect((await begin({ resource: 'https://other.example.org' })).error).to.equal('invalid_target');
        expect((await begin({ scope: 'prob:read' })).error).to.equal('invalid_scope');
        const stored = JSON.stringify(await kit.db.read('oauth_artifacts'));
        const begun = await begin();
        for (const secret of [begun.device_code, begun.user_code.replace('-', '')]) expect(stored).to.not.include(secret);
      });
    });
  });
}
