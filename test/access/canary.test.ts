import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { bundledPlugins } from '../../core/load.ts';
import { approve, bearer, CALLBACK, createBrowser, DEVICE_GRANT, newFlow, openConsent, type Browser } from '../../plugins/oauth/test/kit.ts';
import { createInstance, type Instance, type Served } from '../support/civic.ts';

export const notQuick = 'it tries every route';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** Passkeys cannot work at an IP address, so that a sign-in link starts a full session; doctor sends no request to a local one. */
const PUBLIC_URL = 'http://127.0.0.1:8080';

/** Every byte of every file below a folder, unzipped where it is zipped. */
function filesBelow(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))).filter((path) => statSync(path).isFile());
  return new Map(files.map((path) => {
    const bytes = readFileSync(path);
    return [path, (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1')];
  }));
}

describe('Secrets', { timeout: 120_000 }, () => {
  let instance: Instance;
  let served: Served;
  let session: string;
  const secrets: Record<string, string> = {};
  /** The credentials of the app, as a header. */
  let basic: string;
  /** Everything that was said to somebody who did not make the secret just then. */
  const heard = new Map<string, string>();

  const json = async (...args: string[]) => JSON.parse((await instance.civicInProcess(...args, '--json')).stdout);
  const hear = async (method: string, path: string, headers: Record<string, string> = {}, body?: unknown) => {
    const answer = await fetch(served.url + path, { method, headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) }, body: body === undefined ? undefined : JSON.stringify(body), redirect: 'manual' });
    const text = await answer.text();
    heard.set(`${method} ${path} ${Object.keys(headers).join()} (${answer.status})`, `${JSON.stringify([...answer.headers])}\n${text}`);
    return { status: answer.status, text };
  };

  before(async () => {
    instance = createInstance({ public_url: PUBLIC_URL, plugins: Object.fromEntries(bundledPlugins().map((name) => [name, {}])), log: { level: 'debug' }, metrics: { enabled: true } }, { ready: true });
    served = await instance.serve();
    const account = await json('account', 'create', '--name', 'Canary');
    const made = await json('key', 'create', '--account', account.id);
    secrets.key = made.key;
    secrets.link = new URL(account.sign_in_link).searchParams.get('token')!;
    const send = async (path: string, payload: object, more = {}) => (await fetch(served.url + path, { method: 'POST', headers: { 'x-api-key': made.key, 'content-type': 'application/json', ...more }, body: JSON.stringify(payload) })).json() as Promise<any>;
    const workspace = await send('/api/workspaces', { name: 'Canaries' });
    const invitation = await send(`/api/workspaces/${workspace.id}/invitations`, {}, { 'idempotency-key': 'canary' });
    secrets.invitation = new URL(invitation.url).searchParams.get('token')!;
    session = (await send('/api/firehose/sessions', {})).id;
    secrets.ticket = (await send(`/api/firehose/sessions/${session}/tickets`, {}, { 'idempotency-key': 'canary-ticket' })).ticket;
    const client = await json('oauth', 'client', 'create', '--name', 'Canary', '--redirect-uri', CALLBACK, '--device', '--confidential');
    secrets.client_secret = client.client_secret;
    basic = `Basic ${Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')}`;
    const registered = await (await fetch(`${served.url}/oauth/register`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ redirect_uris: [CALLBACK] }) })).json() as any;
    secrets.registered_secret = registered.client_secret;
    secrets.registration_token = registered.registration_access_token;
    const browser = createBrowser(served.url);
    await browser.follow((await json('account', 'sign-in-link', '--account', account.id)).sign_in_link);
    await connectApp(browser, client.client_id, made.workspace_id);
    await connectDevice(browser, made.workspace_id);
  });
  after(async () => {
    await served.stop();
    instance.remove();
  });

  const askOauth = async (path: string, form: Record<string, string>): Promise<any> => {
    const text = await (await fetch(served.url + path, { method: 'POST', headers: { authorization: basic }, body: new URLSearchParams(form) })).text();
    return text === '' ? {} : JSON.parse(text);
  };

  /** Leaves a used code, one that waits, and two generations of tokens. */
  async function connectApp(browser: Browser, clientId: string, workspace: string): Promise<void> {
    const flow = newFlow(clientId, { scope: 'directory:read', resource: `${PUBLIC_URL}/mcp` });
    const newCode = async () => (await approve(browser, (await openConsent(browser, flow)).path, { workspace, scopes: ['directory:read'] })).searchParams.get('code')!;
    secrets.code = await newCode();
    secrets.waiting_code = await newCode();
    secrets.verifier = flow.verifier;
    const first = await askOauth('/oauth/token', { grant_type: 'authorization_code', code: secrets.code, redirect_uri: CALLBACK, code_verifier: flow.verifier });
    const second = await askOauth('/oauth/token', { grant_type: 'refresh_token', refresh_token: first.refresh_token });
    Object.assign(secrets, { access_token: first.access_token, used_refresh_token: first.refresh_token, refreshed_token: second.access_token, refresh_token: second.refresh_token });
  }

  /** Leaves the codes of a device that is connected and of one that waits. */
  async function connectDevice(browser: Browser, workspace: string): Promise<void> {
    const begin = (): Promise<any> => askOauth('/oauth/device', { scope: 'directory:read', resource: `${PUBLIC_URL}/api` });
    const [connected, waiting] = [await begin(), await begin()];
    const page = await browser.get(`/device?user_code=${connected.user_code}`);
    const action = /<form method="post" action="(\/device[^"]*)"/.exec(page.text)![1]!;
    await browser.post(action, { workspace, scopes: 'directory:read', user_code: connected.user_code });
    const tokens = await askOauth('/oauth/token', { grant_type: DEVICE_GRANT, device_code: connected.device_code });
    Object.assign(secrets, {
      connected_device_code: connected.device_code, connected_user_code: connected.user_code, device_access_token: tokens.access_token, device_refresh_token: tokens.refresh_token,
      device_code: waiting.device_code, user_code: waiting.user_code,
    });
  }

  it('have been created of every kind', () => {
    expect(Object.entries(secrets).filter(([, secret]) => typeof secret !== 'string' || secret.length < 9)).to.equal([]);
    expect(new Set(Object.values(secrets)).size).to.equal(Object.keys(secrets).length);
  });

  it('are shown once to their creator, and never when they are used', async () => {
    const { key, link, invitation, ticket } = secrets as Record<'key' | 'link' | 'invitation' | 'ticket', string>;
    expect((await hear('GET', '/api/workspaces', { 'x-api-key': key })).status).to.equal(200);
    expect((await hear('GET', '/api/entities', { authorization: `Bearer ${key}` })).status).to.equal(401);
    expect((await hear('GET', `/api/entities?api_key=${key}`)).status).to.equal(401);
    expect((await hear('GET', `/api/entities?key=${key}`)).status).to.equal(401);
    expect((await hear('GET', `/api/entities?query=${key}`)).status).to.equal(401);
    await fetch(`${served.url}/api/${key}`);
    await hear('GET', '/api/entities', { 'x-api-key': `${key}x` });
    await hear('GET', `/sign-in/link?token=${link}`);
    await hear('GET', `/device?user_code=${secrets.user_code}`);
    await hear('GET', `/sign-in?next=${encodeURIComponent(`/device?user_code=${secrets.user_code}`)}`, { accept: 'text/html' });
    await hear('GET', '/api/workspaces', { authorization: `Bearer ${secrets.registration_token}` });
    await hear('GET', '/oauth/register/none', { authorization: `Bearer ${secrets.registration_token}` });
    await hear('GET', '/api/workspaces', { authorization: basic });
    expect((await askOauth('/oauth/token', { grant_type: DEVICE_GRANT, device_code: secrets.device_code! })).error).to.equal('authorization_pending');
    await useTokens();
    await hear('GET', `/invitations?token=${invitation}`);
    await hear('GET', `/sign-in?next=${encodeURIComponent(`/invitations?token=${invitation}&x=1`)}`, { accept: 'text/html' });
    expect((await hear('POST', '/api/workspaces/join', { 'x-api-key': key }, { token: invitation })).status).to.equal(409);
    expect((await hear('POST', '/api/workspaces/join', { 'x-api-key': key }, { token: [invitation] })).status).to.equal(400);
    expect((await hear('GET', `/api/firehose/sessions/${session}/events?last_event_id=none&ticket=${ticket}`)).status).to.equal(400);
    expect((await hear('GET', `/api/firehose/sessions/${session}/snapshot?ticket=${ticket}`)).status).to.equal(401);
    await hear('POST', '/api/entities', { 'x-api-key': key }, { [key]: link });
    for (const path of ['/metrics', '/health/ready', '/openapi.json', '/api/workspaces']) await hear('GET', path, path === '/api/workspaces' ? { 'x-api-key': key } : {});
    await instance.civicInProcess('key', 'revoke', key.slice(6, 14));
    await hear('GET', '/api/workspaces', { 'x-api-key': key });
    for (const [where, text] of heard) {
      // A malformed body is described to its own sender in the words of that body. A link's page hands its token on to the button, and signing in leads back to it.
      if (where.startsWith('POST /api/entities') || /^GET \/(sign-in|invitations|device)\b/.test(where)) continue;
      for (const [name, secret] of Object.entries(secrets)) expect(text.includes(secret), `${name} in the answer to ${where.replaceAll(secret, '…')}`).to.be.false();
    }
  });

  /** Sends tokens and codes where they belong, and where they do not. */
  async function useTokens(): Promise<void> {
    const { access_token: token, refreshed_token: other } = secrets as Record<'access_token' | 'refreshed_token', string>;
    const mcp = (message: object, headers: Record<string, string> = {}, path = '/mcp') => hear('POST', path, { accept: 'application/json, text/event-stream', ...headers }, { jsonrpc: '2.0', id: 1, ...message });
    expect((await mcp({ method: 'tools/list' }, bearer(token).headers)).status).to.equal(200);
    expect((await mcp({ method: 'tools/list' }, bearer(`${token}x`).headers)).status).to.equal(401);
    expect((await mcp({ method: 'tools/call', params: { name: 'search_signals', arguments: {} } }, bearer(token).headers)).status).to.equal(403);
    expect((await mcp({ method: 'tools/list' }, {}, `/mcp?access_token=${token}`)).status).to.equal(401);
    expect((await hear('GET', `/mcp?token=${token}`)).status).to.equal(405);
    expect((await hear('GET', '/api/workspaces', bearer(token).headers)).status, 'a token of another resource').to.equal(401);
    expect((await mcp({ method: 'tools/list' }, bearer(token, { 'x-workspace-id': other }).headers)).status).to.equal(403);
    // The sender of a wrong message gets its own words back.
    const echo = async (body: string, headers: Record<string, string> = {}) => (await fetch(`${served.url}/mcp`, { method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...bearer(token).headers, ...headers }, body })).text();
    const call = (params: object) => echo(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
    expect(await call({ name: other, arguments: {} })).to.include(other);
    await call({ name: 'get_entity', arguments: { id: other, [other]: other } });
    await call({ name: 'search_entities', arguments: { query: other } });
    await echo(JSON.stringify({ jsonrpc: '2.0', id: other, method: 'resources/read', params: { uri: `civic://entities/${other}` } }));
    await echo(JSON.stringify({ jsonrpc: '2.0', id: 1, method: other }), { 'mcp-protocol-version': other });
    await echo(`{"${other}"`);
    for (const [path, form] of [
      ['/oauth/introspect', { token }], ['/oauth/introspect', { token: other, client_id: secrets.refresh_token! }], ['/oauth/revoke', { token: `${token}x` }],
      ['/oauth/token', { grant_type: 'refresh_token', refresh_token: `${secrets.refresh_token}x` }],
      ['/oauth/token', { grant_type: 'authorization_code', code: secrets.waiting_code!, redirect_uri: CALLBACK, code_verifier: 'x'.repeat(43) }],
      ['/oauth/token', { grant_type: secrets.device_code! }],
      [`/oauth/token?grant_type=authorization_code&code=${secrets.waiting_code}&code_verifier=${secrets.verifier}`, {}],
      [`/oauth/token?grant_type=refresh_token&refresh_token=${secrets.refresh_token}&client_secret=${secrets.client_secret}`, {}],
    ] as [string, Record<string, string>][]) {
      const body = await askOauth(path, form);
      for (const [name, secret] of Object.entries(secrets)) expect(JSON.stringify(body).includes(secret), `${name} in the response of ${path}`).to.be.false();
    }
    expect((await askOauth('/oauth/token', { grant_type: 'refresh_token', refresh_token: secrets.used_refresh_token! })).access_token, 'within the grace period').to.be.a.string();
  }

  it('are in no log, command, database file or backup', async () => {
    const said = new Map<string, string>();
    for (const args of [['config', 'show'], ['config', 'show', '--json'], ['doctor'], ['account', 'list', '--json'], ['key', 'list', '--json'], ['oauth', 'client', 'list', '--json'], ['audit', 'export'], ['events', 'list'], ['backup', '--json']]) {
      const { code, stdout, stderr } = await instance.civicInProcess(...args);
      expect(code, `${args.join(' ')}: ${stderr}`).to.equal(0);
      said.set(`civic ${args.join(' ')}`, stdout + stderr);
    }
    for (const kind of ['invitation_made', 'oauth_connected', 'oauth_request_refused', 'oauth_resource_refused', 'oauth_workspace_refused']) expect(said.get('civic audit export')!.includes(kind), kind).to.be.true();
    await served.stop();
    said.set('the log', served.output());
    expect(said.get('the log')).to.include('/api/entities?api_key=[masked]').and.to.include(`/${session}/events?last_event_id=none&ticket=[masked]`);
    for (const [path, text] of filesBelow(join(instance.folder, 'data'))) said.set(path.slice(instance.folder.length), text);
    expect([...said.keys()].filter((name) => name.includes('accounts_keys'))).to.have.length(1);
    expect([...said].flatMap(([where, text]) => Object.keys(secrets).filter((name) => text.includes(secrets[name]!)).map((name) => `${name} in ${where}`))).to.equal([]);
  });
});
