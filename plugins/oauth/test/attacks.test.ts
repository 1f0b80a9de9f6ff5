import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from 'civic/testing';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { approve, BASE, bearer, CALLBACK, connect, createBrowser, DEVICE_GRANT, newFlow, oauthKit, openConsent, redeem, refresh, type OauthKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, beforeEach, after } = lab;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const GRACE = MINUTE;
const DAY = 86_400 * SECOND;

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

for (const database of testDatabases()) {
  describe(`An attack (${database})`, { timeout: 60_000 }, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let kit: OauthKit;
    before(async () => { kit = await oauthKit({ database, clock }); });
    // The audit record has at most 20 incidents of a kind from one address in a minute.
    beforeEach(() => { clock.advance(60 * SECOND); });
    after(() => kit.close());

    const isAlive = async (token: string): Promise<boolean> => (await kit.send('GET', '/api/probe', bearer(token))).status === 200;
    const lastOf = async (kind: string) => (await kit.audit()).findLast((row) => row.kind === kind);

    it('with a code that was used ends the connection of the code', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      const { tokens, code, flow } = await connect(kit, ada, client);
      expect(await isAlive(tokens.access_token)).to.be.true();
      await kit.newAudit();
      const again = await redeem(kit, client, flow, code);
      expect([again.status, again.body.error]).to.equal([400, 'invalid_grant']);
      expect(await kit.newAudit()).to.equal(['oauth_code_replayed', 'oauth_disconnected']);
      expect(await isAlive(tokens.access_token)).to.be.false();
      expect((await refresh(kit, client, tokens.refresh_token)).body.error).to.equal('invalid_grant');
      expect((await lastOf('oauth_disconnected'))!.detail).to.include({ client_id: client.client_id, reason: 'replayed' });
    });

    it('with a code that was used fails also on a node whose clock is behind', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      const { code, flow } = await connect(kit, ada, client);
      clock.advance(-SECOND);
      expect((await redeem(kit, client, flow, code)).body.error).to.equal('invalid_grant');
    });

    it('with one code in concurrent requests gets tokens at most once', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      const flow = newFlow(client.client_id);
      const { path } = await openConsent(ada.browser, flow);
      const code = (await approve(ada.browser, path, { workspace: ada.workspace_id })).searchParams.get('code')!;
      const replies = await Promise.all([1, 2, 3].map(() => redeem(kit, client, flow, code)));
      expect(replies.filter(({ status }) => status === 200).length).to.be.at.most(1);
      expect(replies.filter(({ status, body }) => status === 400 && body.error === 'invalid_grant').length).to.be.at.least(2);
    });

    it('with a stolen code fails without the verifier, as another client and with another redirect URI', async () => {
      const [ada, client, other] = [await kit.person(), await kit.register(), await kit.register()];
      const flow = newFlow(client.client_id);
      const { path } = await openConsent(ada.browser, flow);
      const code = (await approve(ada.browser, path, { workspace: ada.workspace_id })).searchParams.get('code')!;
      await kit.newAudit();
      for (const attempt of [redeem(kit, client, newFlow('x'), code), redeem(kit, other, flow, code), redeem(kit, client, flow, code, {}, 'https://app.example.org/other')]) expect((await attempt).body.error).to.equal('invalid_grant');
      expect(await kit.newAudit()).to.equal(['oauth_request_refused', 'oauth_request_refused', 'oauth_request_refused']);
      expect((await redeem(kit, client, flow, code)).status).to.equal(200);
    });

    it('without the redirect URI, which OAuth 2.1 does not require, needs the verifier and the client of the code', async () => {
      const redirect_uri = 'http://127.0.0.1:49152/callback';
      const [ada, client, other] = [await kit.person(), await kit.register({ redirect_uris: [CALLBACK, 'http://127.0.0.1/callback'] }), await kit.register()];
      const flow = newFlow(client.client_id, { redirect_uri });
      const { path } = await openConsent(ada.browser, flow);
      const code = (await approve(ada.browser, path, { workspace: ada.workspace_id })).searchParams.get('code')!;
      const send = (form: Record<string, string>) => kit.send('POST', '/oauth/token', { form: { grant_type: 'authorization_code', client_id: client.client_id, code, code_verifier: flow.verifier, ...form } });
      await kit.newAudit();
      for (const wrong of [{ code_verifier: newFlow('x').verifier }, { client_id: other.client_id }, { code: 'unknown' }, { redirect_uri: CALLBACK }, { redirect_uri: 'http://127.0.0.1/callback' }]) {
        expect((await send(wrong as unknown as Record<string, string>)).body.error, JSON.stringify(wrong)).to.equal('invalid_grant');
      }
      expect(await kit.newAudit()).to.equal(Array.from({ length: 5 }, () => 'oauth_request_refused'));
      expect((await send({})).status).to.equal(200);
      expect((await send({})).body.error).to.equal('invalid_grant');
    });

    it('without PKCE, or with a plain challenge, gets no code', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      for (const more of [{ code_challenge: null, code_challenge_method: null }, { code_challenge_method: 'plain' }] as Record<string, string | null>[]) {
        const location = new URL((await ada.browser.get(newFlow(client.client_id, more).address)).headers.get('location')!);
        expect([location.searchParams.get('error'), location.searchParams.get('iss')]).to.equal(['invalid_request', BASE]);
      }
    });

    it('with a response by form, which the CSP blocks, is refused before the user decides', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      const { searchParams } = new URL((await ada.browser.get(newFlow(client.client_id, { response_mode: 'form_post' }).address)).headers.get('location')!, BASE);
      expect(searchParams.get('error')).to.equal('unsupported_response_mode');
    });

    it('with a refresh token that was used gets tokens within the grace period, and ends the connection after it', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      const { tokens } = await connect(kit, ada, client);
      const first = (await refresh(kit, client, tokens.refresh_token)).body;
      clock.advance(GRACE - SECOND);
      const late = await refresh(kit, client, tokens.refresh_token);
      expect(late.status).to.equal(200);
      for (const { access_token } of [tokens, first, late.body]) expect(await isAlive(access_token)).to.be.true();
      clock.advance(2 * SECOND);
      await kit.newAudit();
      const replay = await refresh(kit, client, tokens.refresh_token);
      expect([replay.status, replay.body.error]).to.equal([400, 'invalid_grant']);
      expect(await kit.newAudit()).to.equal(['oauth_token_replayed', 'oauth_disconnected']);
      for (const { access_token } of [tokens, first, late.body]) expect(await isAlive(access_token)).to.be.false();
      for (const { refresh_token } of [first, late.body]) expect((await refresh(kit, client, refresh_token)).body.error).to.equal('invalid_grant');
    });

    it('with a refresh token that was used gets five successors within the grace period, also in concurrent requests, and then ends the connection', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      const { tokens } = await connect(kit, ada, client);
      await kit.newAudit();
      const replies = [];
      for (let use = 1; use <= 5; use++) replies.push(await refresh(kit, client, tokens.refresh_token));
      expect(replies.map(({ status }) => status)).to.equal([200, 200, 200, 200, 200]);
      expect(await kit.newAudit()).to.equal(Array.from({ length: 4 }, () => 'oauth_token_repeated'));
      expect((await lastOf('oauth_token_repeated'))!.detail).to.equal({ client_id: client.client_id, uses: 5 });
      expect((await refresh(kit, client, tokens.refresh_token)).body.error).to.equal('invalid_grant');
      expect(await kit.newAudit()).to.equal(['oauth_token_replayed', 'oauth_disconnected']);
      for (const { body } of replies) {
        expect(await isAlive(body.access_token)).to.be.false();
        expect((await refresh(kit, client, body.refresh_token)).body.error).to.equal('invalid_grant');
      }
      const again = (await connect(kit, ada, client)).tokens;
      const concurrent = await Promise.all(Array.from({ length: 12 }, () => refresh(kit, client, again.refresh_token)));
      expect(concurrent.filter(({ status }) => status === 200).length).to.be.at.most(5);
      expect(await isAlive(again.access_token)).to.be.false();
    });

    it('with a refresh token has at most five unused ones, however it uses their successors', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      const { tokens } = await connect(kit, ada, client);
      const isUnused = async () => kit.db.read('oauth_artifacts').join('oauth_grants', 'oauth_grants.id', 'grant_id').where({ client_id: client.client_id, model: 'RefreshToken', consumed_at: null });
      const first = (await refresh(kit, client, tokens.refresh_token)).body.refresh_token;
      for (let successor = tokens.refresh_token, round = 0; round < 4; round++) {
        const [next] = [(await refresh(kit, client, successor)).body.refresh_token, (await refresh(kit, client, successor)).body.refresh_token];
        successor = next;
      }
      expect(await isUnused()).to.have.length(5);
      await kit.newAudit();
      // The oldest is gone. That is no replay: a process of the app may have it.
      expect((await refresh(kit, client, first)).body.error).to.equal('invalid_grant');
      expect(await kit.newAudit()).to.equal(['oauth_request_refused']);
      expect(await isAlive(tokens.access_token)).to.be.true();
    });

    it('with a refresh token that was used long ago ends the connection, although few used tokens are stored', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      const first = (await connect(kit, ada, client)).tokens.refresh_token;
      const rotate = async (token: string, times: number): Promise<any> => {
        const { body } = await refresh(kit, client, token);
        return times > 1 ? rotate(body.refresh_token, times - 1) : body;
      };
      const last = await rotate(first, 23);
      expect(await kit.db.read('oauth_artifacts').join('oauth_grants', 'oauth_grants.id', 'grant_id').where({ client_id: client.client_id, model: 'RefreshToken' })).to.have.length(21);
      // A token that this instance did not issue has no effect, also with the mark of another.
      const neighbour = BASE64URL[BASE64URL.indexOf(first.at(-1)!) + 1]!;
      for (const forged of [`${first.slice(0, -2)}${first.at(-2) === 'A' ? 'B' : 'A'}${first.at(-1)}`, first.slice(0, -1) + neighbour, `${'x'.repeat(43)}${first.slice(43)}`, first.slice(0, 43)]) expect((await refresh(kit, client, forged)).body.error).to.equal('invalid_grant');
      expect(await isAlive(last.access_token)).to.be.true();
      await kit.newAudit();
      expect((await refresh(kit, client, first)).body.error).to.equal('invalid_grant');
      expect(await kit.newAudit()).to.equal(['oauth_token_replayed', 'oauth_disconnected']);
      expect(await isAlive(last.access_token)).to.be.false();
      expect((await refresh(kit, client, first)).body.error).to.equal('invalid_grant');
      expect(await kit.newAudit()).to.equal(['oauth_request_refused']);
    });

    it('with a refresh token that was used ends the connection also when the clock is set back', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      const { tokens } = await connect(kit, ada, client);
      await refresh(kit, client, tokens.refresh_token);
      clock.advance(GRACE + SECOND - DAY);
      expect((await refresh(kit, client, tokens.refresh_token)).body.error).to.equal('invalid_grant');
      expect(await isAlive(tokens.access_token)).to.be.false();
      clock.advance(DAY);
    });

    it('with a token of another client is refused', async () => {
      const [ada, client, other] = [await kit.person(), await kit.register(), await kit.register()];
      const { tokens } = await connect(kit, ada, client);
      expect((await refresh(kit, other, tokens.refresh_token)).body.error).to.equal('invalid_grant');
      await kit.send('POST', '/oauth/revoke', { form: { token: tokens.refresh_token, client_id: other.client_id } });
      expect((await kit.send('POST', '/oauth/introspect', { form: { token: tokens.access_token, client_id: other.client_id } })).body).to.equal({ active: false });
      expect(await isAlive(tokens.access_token)).to.be.true();
    });

    it('with a resource of another server, or with the token of another resource, is refused', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      await kit.newAudit();
      const redirect = new URL((await ada.browser.get(newFlow(client.client_id, { resource: 'https://other.example.org/mcp' }).address)).headers.get('location')!);
      expect(redirect.searchParams.get('error')).to.equal('invalid_target');
      expect(await kit.newAudit()).to.equal(['oauth_request_refused']);
      const api = (await connect(kit, ada, client)).tokens;
      const mcp = (await connect(kit, ada, client, { more: { resource: `${BASE}/mcp` } })).tokens;
      const bare = (await connect(kit, ada, client, { more: { resource: BASE } })).tokens;
      const slash = (await connect(kit, ada, client, { more: { resource: `${BASE}/` } })).tokens;
      const outcomes = async (token: string) => [(await kit.send('GET', '/api/probe', bearer(token))).status, (await kit.send('POST', '/mcp', bearer(token))).status];
      expect(await outcomes(api.access_token)).to.equal([200, 401]);
      expect(await outcomes(mcp.access_token)).to.equal([401, 200]);
      expect(await outcomes(bare.access_token)).to.equal([401, 200]);
      expect(await outcomes(slash.access_token)).to.equal([401, 200]);
      for (const path of ['/docs', '/.well-known/none', '/']) expect((await kit.send('GET', path, bearer(api.access_token))).status, path).to.equal(401);
      expect((await kit.newAudit()).filter((kind) => kind === 'oauth_resource_refused')).to.have.length(7);
      expect((await lastOf('oauth_resource_refused'))).to.include({ account_id: ada.id, workspace_id: ada.workspace_id });
      expect((await refresh(kit, client, api.refresh_token, { resource: `${BASE}/mcp` })).body.error).to.equal('invalid_target');
    });

    it('with another redirect address is shown to the user, without a redirect', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      for (const redirect_uri of ['https://evil.example.org/callback', `${CALLBACK}/more`, `${CALLBACK}?x=1`, 'https://app.example.org:8443/callback', 'http://app.example.org/callback', 'https://app.example.org/Callback', 'https://app.example.org/x/../callback', 'http://localhost:8000/callback']) {
        await kit.newAudit();
        const response = await ada.browser.get(newFlow(client.client_id, { redirect_uri }).address);
        expect([response.status, response.headers.get('location')], redirect_uri).to.equal([400, null]);
        expect(response.text).to.include('This app cannot be connected').and.to.include('invalid_redirect_uri').and.to.include(redirect_uri.replace('=', '&#x3D;'));
        expect(response.text).to.include('<span class="who">Person').and.to.not.include('/sign-in');
        expect(await kit.newAudit(), redirect_uri).to.equal(['oauth_request_refused']);
        expect((await lastOf('oauth_request_refused'))).to.include({ subject: client.client_id });
      }
    });

    it('with a forged host does not change the addresses of the server', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      for (const headers of [{ host: 'evil.example.org' }, { 'x-forwarded-host': 'evil.example.org', 'x-forwarded-proto': 'http' }] as Record<string, string>[]) {
        expect((await kit.send('GET', '/.well-known/oauth-authorization-server', { headers })).body).to.include({ issuer: BASE, token_endpoint: `${BASE}/oauth/token` });
        expect((await kit.send('POST', '/oauth/device', { headers, form: { client_id: (await kit.register({ grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'authorization_code'] })).client_id } })).body.verification_uri).to.equal(`${BASE}/device`);
        const flow = newFlow(client.client_id);
        const { path } = await openConsent(ada.browser, flow);
        const page = await ada.browser.post(path, { workspace: ada.workspace_id, scopes: 'probe:read' }, headers);
        expect(page.text).to.match(/url=\/oauth\/authorize\//);
      }
    });

    it('with a forged consent approves nothing', async () => {
      const [ada, eve, client] = [await kit.person(), await kit.person(), await kit.register()];
      const { path } = await openConsent(ada.browser, newFlow(client.client_id));
      const grants = async () => (await kit.db.read('oauth_grants').count({ total: '*' }).first() as { total: number | string }).total;
      const before = await grants();
      const fields = { workspace: ada.workspace_id, scopes: 'probe:read' };
      await kit.newAudit();
      for (const response of [
        await ada.browser.post(path, fields, { origin: 'https://evil.example.org' }),
        await ada.browser.post(path, fields, { 'sec-fetch-site': 'cross-site' }),
        await ada.browser.post(path, { ...fields, form_token: '' }),
        await ada.browser.post(path, { ...fields, form_token: eve.browser.token }),
        await ada.browser.post(`${path}/deny`, { form_token: 'x' }),
      ]) expect(response.status).to.equal(403);
      expect(await kit.newAudit()).to.equal(Array.from({ length: 5 }, () => 'oauth_consent_forged'));
      expect((await lastOf('oauth_consent_forged'))).to.include({ account_id: ada.id });
      // Another browser does not have the cookie of the request.
      expect((await eve.browser.get(path)).status).to.equal(410);
      expect((await eve.browser.post(path, { workspace: eve.workspace_id, scopes: 'probe:read' })).status).to.equal(410);
      expect((await createBrowser(kit.url).get(path)).headers.get('location')).to.match(/\/sign-in\?next=/);
      // Scopes that were not requested and workspaces of other users cannot be granted.
      expect((await ada.browser.post(path, { ...fields, workspace: eve.workspace_id })).status).to.equal(400);
      expect((await ada.browser.post(path, { ...fields, scopes: 'probe:review' })).status).to.equal(400);
      expect((await ada.browser.post(path, { workspace: ada.workspace_id })).status).to.equal(400);
      expect(await grants()).to.equal(before);
      await approve(ada.browser, path, { workspace: ada.workspace_id });
      expect((await ada.browser.post(path, fields)).status).to.equal(410);
    });

    it('with a consent that is sent several times at once makes one connection and gets one code', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      const { path } = await openConsent(ada.browser, newFlow(client.client_id));
      const fields = { workspace: ada.workspace_id, scopes: ['probe:read'] };
      await kit.newAudit();
      const pages = await Promise.all(Array.from({ length: 5 }, () => ada.browser.post(path, fields)));
      for (const page of [...pages, await ada.browser.post(`${path}/deny`)]) {
        expect(page.status).to.equal(200);
        expect(page.text).to.include('is connected</h1>');
      }
      expect(await kit.newAudit()).to.equal(['oauth_connected']);
      expect(await kit.db.read('oauth_artifacts').where({ model: 'Grant' }).whereNotIn('grant_id', kit.db.read('oauth_grants').select('id'))).to.equal([]);
      const resumed = await Promise.all(Array.from({ length: 3 }, () => ada.browser.get(`/oauth/authorize/${path.split('/').pop()}`)));
      expect(resumed.filter(({ headers }) => headers.get('location')?.includes('code='))).to.have.length(1);
      expect((await ada.browser.post(`${path}/deny`)).status).to.equal(410);
    });

    it('with a decision about a device that is sent several times at once decides once', async () => {
      const [ada, client] = [await kit.person(), await kit.register({ grant_types: [DEVICE_GRANT, 'authorization_code'] })];
      const { user_code } = (await kit.send('POST', '/oauth/device', { form: { client_id: client.client_id, resource: `${BASE}/api` } })).body;
      await ada.browser.get(`/device?user_code=${user_code}`);
      const fields = { user_code, workspace: ada.workspace_id, scopes: ['probe:read'] };
      const pages = await Promise.all(['/device', '/device/deny', '/device', '/device/deny'].map((path) => ada.browser.post(path, fields)));
      const decided = pages.filter(({ status }) => status === 200);
      expect(decided).to.have.length(1);
      const connections = await kit.db.read('oauth_grants').where({ client_id: client.client_id });
      expect(decided[0]!.text.includes('is connected</h1>')).to.equal(connections.length === 1);
    });

    it('with the token of one workspace on another is refused, also when the membership has ended', async () => {
      const [ada, owner, client] = [await kit.person(), await kit.person(), await kit.register()];
      const workspaces: string[] = [ada.workspace_id];
      const join = async (workspace: string) => {
        const invited = await kit.request('POST', `/api/workspaces/${workspace}/members`, { payload: { account_id: ada.id, role: 'member' }, headers: { 'x-api-key': owner.key } });
        await kit.request('POST', `/api/invitations/${invited.body.invitation_id}/accept`, { headers: { 'x-api-key': ada.key } });
      };
      for (const name of ['Newsroom', 'Archive']) {
        const created = await kit.request('POST', '/api/workspaces', { payload: { name }, headers: { 'x-api-key': owner.key } });
        await join(created.body.id);
        workspaces.push(created.body.id);
      }
      const [own, newsroom, archive] = workspaces as [string, string, string];
      const { page } = await openConsent(ada.browser, newFlow(client.client_id));
      for (const name of ['Newsroom', 'Archive']) expect(page.text).to.include(name);
      const { tokens } = await connect(kit, ada, client, { workspace: newsroom });
      const request = (workspace?: string) => kit.send('GET', '/api/probe', bearer(tokens.access_token, workspace === undefined ? {} : { 'x-workspace-id': workspace }));
      expect((await request()).body.caller).to.include({ workspace_id: newsroom, workspace_role: 'member' });
      expect((await request(newsroom.toUpperCase())).status).to.equal(200);
      await kit.newAudit();
      for (const other of [own, archive, 'nonsense']) expect([(await request(other)).status, (await request(other)).body.code]).to.equal([403, 'workspace_forbidden']);
      expect(await kit.newAudit()).to.equal(Array.from({ length: 6 }, () => 'oauth_workspace_refused'));
      await kit.request('DELETE', `/api/workspaces/${newsroom}/members/${ada.id}`, { headers: { 'x-api-key': owner.key } });
      expect([(await request()).status, (await request()).body.code]).to.equal([403, 'workspace_forbidden']);
      const ended = await refresh(kit, client, tokens.refresh_token);
      expect([ended.status, ended.body.error]).to.equal([400, 'invalid_grant']);
      expect((await lastOf('oauth_request_refused'))!.detail.reason).to.equal('the membership in which the app was connected has ended');
      const dead = 'In a workspace that you left. This app no longer works';
      expect((await ada.browser.get('/account/apps')).text).to.include(dead);
      // A new membership does not restore the access of the old one.
      clock.advance(SECOND);
      await join(newsroom);
      expect((await request()).body.code).to.equal('workspace_forbidden');
      expect((await refresh(kit, client, tokens.refresh_token)).body.error).to.equal('invalid_grant');
      expect((await ada.browser.get('/account/apps')).text).to.include(dead);
      expect(await isAlive((await connect(kit, ada, client, { workspace: newsroom })).tokens.access_token)).to.be.true();
    });

    it('with a metadata document on a private address opens no connection', async () => {
      const ada = await kit.person();
      let connections = 0;
      const inside = createServer((socket) => { connections++; socket.destroy(); });
      await new Promise<void>((done) => { inside.listen(0, '127.0.0.1', done); });
      const { port } = inside.address() as AddressInfo;
      try {
        for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '127.1', '169.254.169.254']) {
          const client_id = `https://${host}:${port}/client.json`;
          await kit.newAudit();
          const response = await ada.browser.get(newFlow(client_id).address);
          expect([response.status, response.headers.get('location')], host).to.equal([400, null]);
          expect(response.text).to.include('client.json').and.to.include('the host cannot be reached').and.to.not.match(/private|reserved|allow_private/);
          expect(await kit.newAudit(), host).to.equal(['oauth_request_refused']);
          expect((await lastOf('oauth_request_refused'))!.detail.error).to.equal('address_refused');
        }
        expect(connections).to.equal(0);
      } finally {
        inside.close();
      }
    });

    it('with text that the database cannot store is refused and recorded', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      await kit.newAudit();
      const redirect_uri = `https://app.example.org/\u0000${'x'.repeat(2000)}`;
      expect((await ada.browser.get(newFlow(client.client_id, { redirect_uri }).address)).status).to.equal(400);
      expect(await kit.newAudit()).to.equal(['oauth_request_refused']);
      expect((await lastOf('oauth_request_refused'))!.detail.redirect_uri).to.have.length(299);
      expect((await kit.send('GET', '/health')).status).to.equal(200);
      expect((await kit.send('GET', newFlow('client\u0000').address)).status).to.equal(400);
      expect((await ada.browser.get(newFlow(client.client_id, { state: 'x\u0000' }).address)).status).to.be.below(500);
      const registration = await kit.send('POST', '/oauth/register', { json: { redirect_uris: [CALLBACK], client_uri: 'https://app.example.org/\ud800' } });
      expect(registration.status).to.be.below(500);
      expect((await kit.send('POST', '/oauth/register', { json: { redirect_uris: [CALLBACK], software_id: { deep: [] } } })).body.error).to.equal('invalid_client_metadata');
    });

    it('with addresses of documents makes few requests to other hosts', async () => {
      const read: string[] = [];
      const { get } = kit.documents;
      kit.documents.get = function (url) {
        read.push(url);
        return get.call(this, url) ?? { status: 404 };
      };
      const start = (id: string) => kit.send('GET', newFlow(id).address);
      const url = 'https://victim.example.org/page';
      for (let i = 0; i < 3; i++) expect((await start(url)).status).to.equal(400);
      expect(read).to.equal([url]);
      clock.advance(MINUTE);
      await start(url);
      expect(read).to.have.length(2);
      for (let i = 0; i < 12; i++) await start(`${url}/${i}`);
      expect(read).to.have.length(11);
      expect((await start(`${url}/x`)).text).to.include('reads too many documents now');
      await start('https://other.example.org/client.json');
      expect(read).to.have.length(12);
      // An app without a connection cannot use these endpoints.
      for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/introspect']) {
        const { status, body } = await kit.send('POST', path, { form: { client_id: 'https://third.example.org/client.json', grant_type: 'refresh_token', refresh_token: 'x', token: 'x' } });
        expect([status, body.error], path).to.equal([400, 'invalid_client']);
      }
      expect(read).to.have.length(12);
      if (database === 'sqlite') {
        clock.advance(MINUTE);
        for (let i = 0; i < 62; i++) await start(`https://host${i}.example.org/client.json`);
        expect(read).to.have.length(72);
      }
      delete (kit.documents as { get?: unknown }).get;
      clock.advance(MINUTE);
    });

    it('with two resources gets no token, since the user sees one', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      const { address } = newFlow(client.client_id);
      const redirect = new URL((await ada.browser.get(`${address}&resource=${encodeURIComponent(`${BASE}/mcp`)}`)).headers.get('location')!);
      expect(redirect.searchParams.get('error')).to.equal('invalid_target');
    });

    it('that plants its own request in the browser of a user gets no code for the approval', async () => {
      const [ada, client, attacker] = [await kit.person(), await kit.register(), createBrowser(kit.url)];
      const flow = newFlow(client.client_id);
      const path = (await attacker.get(flow.address)).headers.get('location')!;
      for (const [name, value] of attacker.cookies) if (name.startsWith('civic_oauth')) ada.browser.cookies.set(name, value);
      await ada.browser.get(path);
      expect((await ada.browser.post(path, { workspace: ada.workspace_id, scopes: ['probe:read'] })).status).to.equal(200);
      await kit.newAudit();
      const resumed = await attacker.get(`/oauth/authorize/${path.split('/').pop()}`);
      expect([resumed.status, resumed.headers.get('location')]).to.equal([404, null]);
      expect(await kit.newAudit()).to.equal(['oauth_consent_forged']);
    });

    it('with a link to a client of its own does not lead a visitor to another website', async () => {
      const client = await kit.register({ redirect_uris: ['https://evil.example/login'] });
      for (const more of [{ prompt: 'none' }, { response_type: 'x' }, { response_type: 'x', response_mode: 'fragment' }, { scope: 'nonsense' }] as Record<string, string>[]) {
        const response = await kit.send('GET', newFlow(client.client_id, { redirect_uri: 'https://evil.example/login', ...more }).address);
        expect([response.status, response.headers.get('location')], JSON.stringify(more)).to.equal([400, null]);
      }
    });

    it('with a redirect URI of a scheme that leaves the device cannot register', async () => {
      const schemes = ['x-safari-https', 'touch-https', 'opera-https', 'intent', 'web+app', 'webcal', 'feed', 'jar', 'filesystem', 'xmpp', 'sip', 'smsto', 'ftps', 'sftp', 'smb', 'ldap', 'gopher', 'chrome', 'microsoft-edge', 'googlechrome', 'ftp', 'unknown'];
      for (const uri of ['mailto:thief@evil.example', 'microsoft-edge:https://evil.example/cb', 'https://claude.ai@evil.example/cb', ...schemes.map((scheme) => `${scheme}://evil.example/cb`)]) {
        const { body } = await kit.send('POST', '/oauth/register', { json: { redirect_uris: [uri] } });
        expect(body.error, uri).to.match(/^invalid_(?:client_metadata|redirect_uri)$/);
      }
      expect(await kit.register({ redirect_uris: ['cursor://anysphere.cursor-mcp/callback', 'vscode://publisher.extension/callback', 'com.example.app:/callback'] })).to.include('client_id');
    });

    it('with a large request, or with HEAD, stores nothing', async () => {
      const client = await kit.register();
      const stored = await kit.db.read('oauth_artifacts');
      const head = await kit.send('HEAD', newFlow(client.client_id).address);
      expect([head.status, head.headers.get('allow')]).to.equal([405, 'GET, OPTIONS']);
      expect(await kit.db.read('oauth_artifacts')).to.equal(stored);
      expect((await kit.send('GET', newFlow(client.client_id, { state: 'x'.repeat(9000) }).address)).status).to.equal(400);
      expect((await kit.send('POST', '/oauth/device', { form: { client_id: client.client_id, scope: 'x'.repeat(20_000) } })).status).to.equal(413);
      expect((await kit.send('POST', '/oauth/register', { json: { redirect_uris: [CALLBACK], software_id: 'x'.repeat(20_000) } })).status).to.equal(413);
    });

    it('with the metadata document of another client is refused', async () => {
      const ada = await kit.person();
      const client_id = 'https://copy.example.org:8443/client.json';
      kit.documents.set(client_id, { status: 404 });
      expect((await ada.browser.get(newFlow(client_id).address)).text).to.include(client_id).and.to.include('status 404');
      for (const document of [{ client_id: 'https://editor.example.org/client.json' }, {}, { client_id, client_secret: 'x' }, { client_id, token_endpoint_auth_method: 'client_secret_post' }, { client_id, redirect_uris: ['http://app.example.org/callback'] }]) {
        clock.advance(MINUTE);
        kit.documents.set(client_id, { client_name: 'Copy', redirect_uris: [CALLBACK], ...document });
        expect((await ada.browser.get(newFlow(client_id).address)).status, JSON.stringify(document)).to.equal(400);
      }
      const honest = { client_id, client_name: 'Honest', redirect_uris: [CALLBACK] };
      clock.advance(MINUTE);
      kit.documents.set(client_id, { ...honest, type: 'text/plain' });
      expect((await ada.browser.get(newFlow(client_id).address)).text).to.include('the document is not application/json');
      clock.advance(MINUTE);
      kit.documents.set(client_id, honest);
      expect((await openConsent(ada.browser, newFlow(client_id))).page.text).to.include('copy.example.org:8443 ').and.to.include('address verified');
      // The document is read once for an authorization.
      kit.documents.set(client_id, { status: 404 });
      expect((await connect(kit, ada, { client_id })).tokens).to.include('access_token');
    });
  });

  describe(`A strict server (${database})`, { timeout: 60_000 }, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let kit: OauthKit;
    before(async () => { kit = await oauthKit({ database, clock, config: { plugins: { oauth: { refresh_grace_seconds: 0, registration: { clients_per_hour: 3 }, metadata_documents: { hosts: ['editor.example.org'] } } } } }); });
    after(() => kit.close());

    it('accepts each refresh token once, also in concurrent requests', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      const { tokens } = await connect(kit, ada, client);
      const replies = await Promise.all([1, 2].map(() => refresh(kit, client, tokens.refresh_token)));
      expect(replies.map(({ status }) => status).filter((status) => status === 200).length).to.be.at.most(1);
      expect(await kit.newAudit()).to.include('oauth_token_replayed');
      for (const { body } of replies) if (body.access_token) expect((await kit.send('GET', '/api/probe', bearer(body.access_token))).status).to.equal(401);
    });

    it('accepts no refresh token twice when the clock of a node is behind', async () => {
      const [ada, client] = [await kit.person(), await kit.register()];
      const { tokens } = await connect(kit, ada, client);
      await refresh(kit, client, tokens.refresh_token);
      clock.advance(-SECOND);
      expect((await refresh(kit, client, tokens.refresh_token)).body.error).to.equal('invalid_grant');
    });

    it('stops a flood of registrations', async () => {
      while ((await kit.send('POST', '/oauth/register', { json: { redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' } })).status === 201);
      await kit.newAudit();
      const flooded = await kit.send('POST', '/oauth/register', { json: { redirect_uris: [CALLBACK] } });
      expect([flooded.status, flooded.body.error]).to.equal([429, 'temporarily_unavailable']);
      expect(Object.fromEntries(flooded.headers)).to.include({ 'retry-after': '3600', 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String((clock.now() + 3600 * SECOND) / 1000) });
      while (!(await kit.newAudit()).includes('oauth_registration_refused')) await sleep(10);
      expect((await kit.db.read('oauth_clients').count({ total: '*' }).first() as { total: number | string }).total).to.equal(3);
      // A clock that was ahead does not stop registrations until its time.
      clock.advance(-DAY);
      expect(await kit.register()).to.include('client_id');
      clock.advance(DAY);
    });

    it('reads metadata documents from the configured hosts only', async () => {
      const ada = await kit.person();
      for (const host of ['editor.example.org', 'other.example.org']) kit.documents.set(`https://${host}/client.json`, { client_id: `https://${host}/client.json`, redirect_uris: [CALLBACK] });
      expect((await ada.browser.get(newFlow('https://editor.example.org/client.json').address)).status).to.equal(303);
      expect((await ada.browser.get(newFlow('https://other.example.org/client.json').address)).status).to.equal(400);
    });
  });
}

describe('A server with the plugin ratelimit', { timeout: 60_000 }, () => {
  let kit: OauthKit;
  before(async () => { kit = await oauthKit({ plugins: ['ratelimit'], clock: stoppedClock('2026-03-01T12:00:00.000Z'), config: { plugins: { ratelimit: { oauth_registration: { requests_per_minute: 2 } } } } }); });
  after(() => kit.close());

  it('counts the requests of an access token against the plan of the account, as those of a key', async () => {
    const [ada, client] = [await kit.person({ plan: 'individual' }), await kit.register()];
    const { tokens } = await connect(kit, ada, client);
    const { headers } = await kit.send('GET', '/api/probe', bearer(tokens.access_token));
    expect([headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).to.equal(['300', '299']);
    expect((await kit.send('GET', '/api/probe/public', { headers: { 'x-api-key': ada.key } })).headers.get('ratelimit-remaining')).to.equal('298');
  });

  it('stops a flood from one address with the rate limit', async () => {
    const register = () => kit.send('POST', '/oauth/register', { json: { redirect_uris: [CALLBACK] } });
    const replies = [await register(), await register(), await register()];
    // The test before has registered one app in the same minute.
    expect(replies.map(({ status }) => status)).to.equal([201, 429, 429]);
    const { body, headers } = replies[2]!;
    expect([body.error, headers.has('retry-after')]).to.equal(['temporarily_unavailable', true]);
    while (!(await kit.newAudit()).includes('oauth_registration_refused')) await sleep(10);
  });
});

describe('An attack on two servers', { timeout: 60_000 }, () => {
  it('that mixes up two servers is visible in the issuer, and a code of the other server is refused', async () => {
    const [kit, other] = [await oauthKit(), await oauthKit({ config: { public_url: 'https://203.0.113.8' } })];
    try {
      const [client, eve, foreign] = [await kit.register(), await other.person(), await other.register()];
      const flow = newFlow(foreign.client_id, { resource: 'https://203.0.113.8/api' });
      const { path } = await openConsent(eve.browser, flow);
      const response = await approve(eve.browser, path, { workspace: eve.workspace_id });
      expect(response.searchParams.get('iss')).to.equal('https://203.0.113.8');
      await kit.newAudit();
      expect((await redeem(kit, client, flow, response.searchParams.get('code')!)).body.error).to.equal('invalid_grant');
      expect(await kit.newAudit()).to.equal(['oauth_request_refused']);
      const { tokens } = await connect(other, eve, foreign, { more: { resource: 'https://203.0.113.8/api' } });
      expect((await kit.send('GET', '/api/probe', bearer(tokens.access_token))).status).to.equal(401);
    } finally {
      await Promise.all([kit.close(), other.close()]);
    }
  });
});
