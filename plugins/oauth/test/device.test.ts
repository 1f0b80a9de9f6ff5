import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from 'civic/testing';
import { BASE, bearer, CALLBACK, DEVICE_GRANT, oauthKit, refresh, type OauthKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

for (const database of testDatabases()) {
  describe(`A device (${database})`, { timeout: 60_000 }, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let kit: OauthKit;
    let client: { client_id: string };
    before(async () => {
      kit = await oauthKit({ database, clock });
      client = await kit.run('oauth client create', { name: 'Field tool', device: true });
    });
    after(() => kit.close());

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
}
