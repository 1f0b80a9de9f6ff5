import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { slowness, stoppedClock, testDatabases } from 'civic/testing';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { BASE, bearer, CALLBACK, connect, DEVICE_GRANT, oauthKit, refresh, type OauthKit, type Person } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const MINUTE = 60_000;
const FIREHOSE = { more: { scope: 'firehose:read' }, scopes: ['firehose:read'] };

/** Opens a stream. `ended` resolves when the server ends it. */
async function openStream(url: string, headers: Record<string, string> = {}): Promise<{ status: number; ended: Promise<void> }> {
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers } });
  const reader = response.body!.getReader();
  await reader.read();
  const ended = (async () => { while (!(await reader.read()).done); })().catch(() => undefined);
  return { status: response.status, ended };
}

/** Returns whether a stream ends in time. */
const endsWithin = async (ended: Promise<void>, milliseconds: number): Promise<boolean> => Promise.race([ended.then(() => true), sleep(milliseconds).then(() => false)]);

for (const database of testDatabases()) {
  describe(`An access token (${database})`, { timeout: 90_000 }, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let kit: OauthKit;
    let client: { client_id: string };
    before(async () => {
      kit = await oauthKit({ database, clock, plugins: ['firehose'] });
      client = await kit.register();
    });
    after(() => kit.close());

    const request = (token: string, headers: Record<string, string> = {}) => kit.send('GET', '/api/probe', bearer(token, headers));
    const disconnect = async (person: Person): Promise<void> => {
      const [, id] = /\/account\/apps\/([0-9a-f-]{36})\/disconnect/.exec((await person.browser.get('/account/apps')).text)!;
      expect((await person.browser.post(`/account/apps/${id}/disconnect`)).status).to.equal(303);
    };

    it('expires after 15 minutes, which the caller and the challenge report', async () => {
      const ada = await kit.person();
      const { tokens } = await connect(kit, ada, client);
      const { caller } = (await request(tokens.access_token)).body;
      expect(caller).to.include({ via: 'token', valid_until: clock.now() + 15 * MINUTE });
      clock.advance(15 * MINUTE - 1);
      expect((await request(tokens.access_token)).status).to.equal(200);
      clock.advance(1);
      const late = await request(tokens.access_token);
      expect([late.status, late.body.code]).to.equal([401, 'invalid_credentials']);
      expect(late.headers.get('www-authenticate')).to.equal(`Bearer realm="civic", error="invalid_token", resource_metadata="${BASE}/.well-known/oauth-protected-resource/api", scope="probe:read"`);
      expect((await refresh(kit, client, tokens.refresh_token)).status).to.equal(200);
    });

    it('is read from the header only, and not together with a key', async () => {
      const ada = await kit.person();
      const { access_token: token } = (await connect(kit, ada, client)).tokens;
      for (const path of [`/api/probe?access_token=${token}`, `/api/probe?token=${token}`]) expect((await kit.send('GET', path)).status, path).to.be.within(400, 401);
      expect((await request(token, { 'x-api-key': ada.key })).body.code).to.equal('two_credentials');
      for (const authorization of [`bearer ${token}`, `BEARER ${token}`]) expect((await kit.send('GET', '/api/probe', { headers: { authorization } })).status).to.equal(200);
      for (const authorization of [token, `Basic ${token}`, `Bearer ${token}x`, `Bearer ${token} x`, 'Bearer ', 'Bearer', `DPoP ${token}`]) expect((await kit.send('GET', '/api/probe', { headers: { authorization } })).status, authorization.slice(0, 12)).to.equal(401);
      const anonymous = await kit.send('GET', '/api/probe');
      expect([anonymous.status, anonymous.body.code]).to.equal([401, 'authentication_required']);
      const challenge = `Bearer realm="civic", resource_metadata="${BASE}/.well-known/oauth-protected-resource/api", scope="probe:read"`;
      expect(anonymous.headers.get('www-authenticate')).to.equal(challenge);
      // RFC 6750, section 3.1: another authentication method is no wrong token.
      expect((await kit.send('GET', '/api/probe', { headers: { authorization: 'Basic eDp5' } })).headers.get('www-authenticate')).to.equal(challenge);
    });

    it('has the current role and plan of the account, and ends when the account is disabled', async () => {
      const ada = await kit.person({ role: 'reviewer' });
      const { tokens } = await connect(kit, ada, client, { more: { scope: 'probe:read probe:review' }, scopes: ['probe:read', 'probe:review'] });
      expect((await request(tokens.access_token)).body.caller).to.include({ role: 'reviewer', scope: ['probe:read', 'probe:review'] });
      await kit.run('account set-role', { account: ada.id, role: 'user' });
      expect((await request(tokens.access_token)).body.caller).to.include({ role: 'user', scope: ['probe:read'] });
      await kit.run('account set-plan', { account: ada.id, plan: 'free' });
      expect((await request(tokens.access_token)).body.caller).to.include({ plan: 'free', capabilities: [] });
      await kit.run('account disable', { account: ada.id });
      expect((await request(tokens.access_token)).status).to.equal(401);
      expect((await refresh(kit, client, tokens.refresh_token)).body.error).to.equal('invalid_grant');
    });

    it('opens streams, sessions and tickets of the Firehose, which end when the app is disconnected', async () => {
      const ada = await kit.person();
      const { access_token: token } = (await connect(kit, ada, client, FIREHOSE)).tokens;
      const session = await kit.send('POST', '/api/firehose/sessions', { ...bearer(token), json: {} });
      expect(session.status).to.equal(201);
      const ticket = (await kit.send('POST', `/api/firehose/sessions/${session.body.id}/tickets`, { ...bearer(token), json: {} })).body.ticket;
      const events = `${kit.url}/api/firehose/sessions/${session.body.id}/events`;
      const streams = await Promise.all([openStream(`${kit.url}/api/firehose`, bearer(token).headers), openStream(events, bearer(token).headers), openStream(`${events}?ticket=${ticket}`)]);
      expect(streams.map(({ status }) => status)).to.equal([200, 200, 200]);
      await disconnect(ada);
      for (const { ended } of streams) expect(await endsWithin(ended, 5000 * slowness)).to.be.true();
      expect((await kit.send('GET', '/api/firehose', bearer(token))).status).to.equal(401);
      expect((await fetch(`${events}?ticket=${ticket}`)).status).to.equal(401);
    });

    it('opens sockets of the Firehose, which close when the app revokes it', async () => {
      const ada = await kit.person();
      const { access_token: token } = (await connect(kit, ada, client, FIREHOSE)).tokens;
      const { id } = (await kit.send('POST', '/api/firehose/sessions', { ...bearer(token), json: {} })).body;
      const socket = new WebSocket(`${kit.url.replace('http', 'ws')}/api/firehose/sessions/${id}/socket`, 'service.firehose.v1', { headers: bearer(token).headers });
      await once(socket, 'message');
      const closed = once(socket, 'close');
      await kit.send('POST', '/oauth/revoke', { form: { token, client_id: client.client_id } });
      const [code] = await closed as [number];
      expect(code).to.equal(1008);
    });

    it('ends streams and tickets when it expires', async () => {
      const ada = await kit.person();
      const { access_token: token } = (await connect(kit, ada, client, FIREHOSE)).tokens;
      const { id } = (await kit.send('POST', '/api/firehose/sessions', { ...bearer(token), json: {} })).body;
      const ticket = (await kit.send('POST', `/api/firehose/sessions/${id}/tickets`, { ...bearer(token), json: {} })).body.ticket;
      const streams = await Promise.all([openStream(`${kit.url}/api/firehose`, bearer(token).headers), openStream(`${kit.url}/api/firehose/sessions/${id}/events?ticket=${ticket}`)]);
      clock.advance(15 * MINUTE);
      for (const { ended } of streams) expect(await endsWithin(ended, 5000 * slowness)).to.be.true();
      expect((await fetch(`${kit.url}/api/firehose/sessions/${id}/events?ticket=${ticket}`)).status).to.equal(401);
    });
  });
}

if (testDatabases().includes('postgres')) {
  describe('Two nodes with one authorization server', { timeout: 90_000 }, () => {
    let here: OauthKit;
    let there: OauthKit;
    before(async () => {
      const plugins = { oauth: { key: 'a secret that both nodes of this test have' } };
      here = await oauthKit({ database: 'postgres', plugins: ['firehose'], config: { plugins } });
      there = await oauthKit({ plugins: ['firehose'], config: { plugins, database: { url: here.composition.config.database.url! } } });
    });
    after(async () => {
      await there.close();
      await here.close();
    });

    it('share clients, codes and keys, and refuse a token within a second after it was revoked on one of them', async () => {
      const [ada, client] = [await here.person(), await there.register()];
      const { tokens } = await connect(here, ada, client, FIREHOSE);
      for (const node of [here, there]) expect((await node.send('GET', '/api/firehose', bearer(tokens.access_token))).status).to.equal(200);
      expect((await here.send('GET', '/oauth/jwks')).body).to.equal((await there.send('GET', '/oauth/jwks')).body);
      const stream = await openStream(`${there.url}/api/firehose`, bearer(tokens.access_token).headers);
      await here.send('POST', '/oauth/revoke', { form: { token: tokens.access_token, client_id: client.client_id } });
      const since = performance.now();
      while ((await there.send('GET', '/api/firehose', bearer(tokens.access_token))).status !== 401) await sleep(20);
      expect(performance.now() - since).to.be.below(1000 * slowness);
      expect(await endsWithin(stream.ended, 5000 * slowness)).to.be.true();
      expect((await refresh(there, client, tokens.refresh_token)).body.error).to.equal('invalid_grant');
    });

    it('read the metadata document of an app that was connected on the other, and of a device that waits', async () => {
      const [ada, app, device] = [await here.person(), 'https://app.example.org/client.json', 'https://device.example.org/client.json'];
      for (const { documents } of [here, there]) for (const client_id of [app, device]) documents.set(client_id, { client_id, redirect_uris: [CALLBACK], grant_types: ['authorization_code', 'refresh_token', DEVICE_GRANT] });
      const { tokens } = await connect(here, ada, { client_id: app }, FIREHOSE);
      expect((await refresh(there, { client_id: app }, tokens.refresh_token)).status).to.equal(200);
      const { device_code } = (await here.send('POST', '/oauth/device', { form: { client_id: device } })).body;
      const poll = (code: string) => there.send('POST', '/oauth/token', { form: { client_id: device, grant_type: DEVICE_GRANT, device_code: code } });
      expect((await poll('unknown')).body.error).to.equal('invalid_client');
      expect((await poll(device_code)).body.error).to.equal('authorization_pending');
    });
  });
}
