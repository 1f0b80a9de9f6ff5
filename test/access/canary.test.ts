import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { bundledPlugins } from '../../core/load.ts';
import { createInstance, type Instance, type Served } from '../support/civic.ts';

export const notQuick = 'it tries every route';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

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
    instance = createInstance({ plugins: Object.fromEntries(bundledPlugins().map((name) => [name, {}])), log: { level: 'debug' }, metrics: { enabled: true } }, { ready: true });
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
    const client = await json('oauth', 'client', 'create', '--name', 'Canary', '--redirect-uri', 'https://app.example.org/callback', '--device', '--confidential');
    secrets.client_secret = client.client_secret;
    const registered = await (await fetch(`${served.url}/oauth/register`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ redirect_uris: ['https://app.example.org/callback'] }) })).json() as any;
    secrets.registered_secret = registered.client_secret;
    secrets.registration_token = registered.registration_access_token;
    basic = `Basic ${Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')}`;
    const device = await (await fetch(`${served.url}/oauth/device`, { method: 'POST', headers: { authorization: basic }, body: new URLSearchParams({ scope: 'directory:read' }) })).json() as any;
    secrets.device_code = device.device_code;
    secrets.user_code = device.user_code;
  });
  after(async () => {
    await served.stop();
    instance.remove();
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
    await hear('GET', '/api/workspaces', { authorization: `Bearer ${secrets.registration_token}` });
    await hear('GET', '/oauth/register/none', { authorization: `Bearer ${secrets.registration_token}` });
    await hear('GET', '/api/workspaces', { authorization: basic });
    const poll = await fetch(`${served.url}/oauth/token`, { method: 'POST', headers: { authorization: basic }, body: new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: secrets.device_code! }) });
    expect([poll.status, (await poll.json() as any).error]).to.equal([400, 'authorization_pending']);
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

  it('are in no log, command, database file or backup', async () => {
    const said = new Map<string, string>();
    for (const args of [['config', 'show'], ['config', 'show', '--json'], ['doctor'], ['account', 'list', '--json'], ['key', 'list', '--json'], ['oauth', 'client', 'list', '--json'], ['audit', 'export'], ['events', 'list'], ['backup', '--json']]) {
      const { code, stdout, stderr } = await instance.civicInProcess(...args);
      expect(code, `${args.join(' ')}: ${stderr}`).to.equal(0);
      said.set(`civic ${args.join(' ')}`, stdout + stderr);
    }
    expect(said.get('civic audit export')).to.include('invitation_made');
    await served.stop();
    said.set('the log', served.output());
    expect(said.get('the log')).to.include('/api/entities?api_key=[masked]').and.to.include(`/${session}/events?last_event_id=none&ticket=[masked]`);
    for (const [path, text] of filesBelow(join(instance.folder, 'data'))) said.set(path.slice(instance.folder.length), text);
    expect([...said.keys()].filter((name) => name.includes('accounts_keys'))).to.have.length(1);
    for (const [where, text] of said) for (const [name, secret] of Object.entries(secrets)) expect(text.includes(secret), `${name} in ${where}`).to.be.false();
  });
});
