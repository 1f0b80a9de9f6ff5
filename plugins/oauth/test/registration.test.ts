import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createResources } from '../resources.ts';
import { configuration } from '../server/configuration.ts';
import { ALGORITHMS } from '../signing.ts';
import { approve, BASE, bearer, CALLBACK, connect, DEVICE_GRANT, newFlow, oauthKit, openConsent, redeem, refresh, type OauthKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('Metadata and registration', { timeout: 60_000 }, () => {
  let kit: OauthKit;
  before(async () => { kit = await oauthKit({ database: testDatabases()[0] }); });
  after(() => kit.close());

  const register = (metadata: object) => kit.send('POST', '/oauth/register', { json: { redirect_uris: [CALLBACK], ...metadata } });

  it('describes the server at every address that clients try', async () => {
    const expected = (await kit.send('GET', '/.well-known/oauth-authorization-server')).body;
    expect(expected).to.include({ issuer: BASE, code_challenge_methods_supported: ['S256'], response_types_supported: ['code'], client_id_metadata_document_supported: true, authorization_response_iss_parameter_supported: true });
    expect(expected.grant_types_supported).to.not.include('implicit').and.to.not.include('password').and.to.not.include('client_credentials');
    for (const path of ['/.well-known/oauth-authorization-server/mcp', '/.well-known/oauth-authorization-server/api', '/.well-known/openid-configuration', '/.well-known/openid-configuration/mcp']) {
      expect((await kit.send('GET', path)).body, path).to.equal(expected);
    }
    for (const [path, resource] of [['', BASE], ['/mcp', `${BASE}/mcp`], ['/api', `${BASE}/api`]]) {
      expect((await kit.send('GET', `/.well-known/oauth-protected-resource${path}`)).body, path).to.include({ resource, authorization_servers: [BASE], bearer_methods_supported: ['header'] });
    }
    expect((await kit.send('GET', '/.well-known/oauth-protected-resource')).body.scopes_supported).to.not.include('offline_access');
  });

  it('is at the root of the origin for an instance below a path', async () => {
    const below = await oauthKit({ config: { public_url: 'https://203.0.113.7/civic' } });
    try {
      for (const path of ['/.well-known/oauth-authorization-server/civic', '/.well-known/oauth-authorization-server/civic/mcp', '/civic/.well-known/oauth-authorization-server']) {
        expect((await below.send('GET', path)).body, path).to.include({ issuer: 'https://203.0.113.7/civic', token_endpoint: 'https://203.0.113.7/civic/oauth/token' });
      }
      expect((await below.send('GET', '/.well-known/oauth-protected-resource/civic/mcp')).body.resource).to.equal('https://203.0.113.7/civic/mcp');
      expect((await below.send('POST', '/mcp')).headers.get('www-authenticate')).to.include('resource_metadata="https://203.0.113.7/.well-known/oauth-protected-resource/civic/mcp"');
      const [ada, client] = [await below.person(), await below.register()];
      const started = await ada.browser.get(newFlow(client.client_id, { resource: 'https://203.0.113.7/civic/api' }).address);
      expect(started.headers.get('location')).to.match(/^\/civic\/connect\//);
      expect(client.registration_client_uri).to.match(/^https:\/\/203\.0\.113\.7\/civic\/oauth\/register\//);
    } finally {
      await below.close();
    }
  });

  it('is the same as the metadata of the library', async () => {
    const { Provider, errors, interactionPolicy: policy } = await import('oidc-provider');
    const keys = [generateKeyPairSync('ec', { namedCurve: 'P-256' }), generateKeyPairSync('rsa', { modulusLength: 2048 })].map(({ privateKey }, i) => ({ ...privateKey.export({ format: 'jwk' }), kid: `test ${i}`, alg: ALGORITHMS[1 - i]! }));
    const civic = { url: (path: string) => BASE + path, instance: { public_url: BASE }, config: kit.composition.config.plugins['oauth'] };
    const context = { civic, resources: createResources(civic as never), secret: { deriveKey: () => Buffer.alloc(32, 1) } };
    const provider = new Provider(BASE, configuration(context as never, { oidc: { Provider, errors, policy }, keys, families: {} as never, requests: new WeakMap(), hooks: {} as never }));
    provider.proxy = true;
    const listener = createServer(provider.callback());
    await new Promise<void>((done) => { listener.listen(0, '127.0.0.1', done); });
    const { host, protocol } = new URL(BASE);
    const response = await fetch(`http://127.0.0.1:${(listener.address() as AddressInfo).port}/.well-known/oauth-authorization-server`, { headers: { 'x-forwarded-host': host, 'x-forwarded-proto': protocol.slice(0, -1) } });
    const library = await response.json() as Record<string, unknown>;
    listener.close();
    const ours = (await kit.send('GET', '/.well-known/oauth-authorization-server')).body as Record<string, unknown>;
    const sorted = (value: unknown) => (Array.isArray(value) ? [...value as string[]].sort() : value);
    const differing = Object.keys(ours).filter((name) => name in library && JSON.stringify(sorted(ours[name])) !== JSON.stringify(sorted(library[name])));
    // The scopes are those of our resources; the library lists every algorithm that it knows.
    expect(differing).to.equal(['scopes_supported', 'response_modes_supported', 'token_endpoint_auth_signing_alg_values_supported']);
    expect(library['token_endpoint_auth_signing_alg_values_supported']).to.include(ours['token_endpoint_auth_signing_alg_values_supported']);
    expect(Object.keys(ours).filter((name) => !(name in library))).to.equal(['revocation_endpoint_auth_methods_supported', 'introspection_endpoint_auth_methods_supported', 'service_documentation']);
  });

  it('allows scripts of every website, without cookies', async () => {
    const origin = 'https://app.example.org';
    for (const [method, path, headers] of [['POST', '/oauth/token', 'content-type'], ['POST', '/oauth/register', 'content-type'], ['GET', '/.well-known/oauth-protected-resource/mcp', 'mcp-protocol-version'], ['POST', '/mcp', 'authorization,content-type,mcp-protocol-version']] as const) {
      const preflight = await kit.send('OPTIONS', path, { headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': headers } });
      expect([preflight.status, preflight.headers.get('access-control-allow-origin'), preflight.headers.get('access-control-allow-methods')], path).to.equal([204, '*', method]);
      const allowed = preflight.headers.get('access-control-allow-headers')!.toLowerCase().split(', ');
      expect(allowed, path).to.include(headers.split(','));
      expect(allowed).to.not.include('x-api-key');
      expect(preflight.headers.get('access-control-allow-credentials')).to.be.null();
    }
    const failed = await kit.send('POST', '/oauth/token', { headers: { origin }, form: { grant_type: 'x' } });
    expect([failed.status, failed.headers.get('access-control-allow-origin')]).to.equal([400, '*']);
    const registered = await kit.send('POST', '/oauth/register', { headers: { origin }, json: { redirect_uris: [CALLBACK] } });
    expect([registered.status, registered.headers.get('access-control-allow-origin')]).to.equal([201, '*']);
    const authorization = `Bearer ${registered.body.registration_access_token}`;
    const read = await kit.send('GET', `/oauth/register/${registered.body.client_id}`, { headers: { origin, authorization } });
    expect([read.status, read.headers.get('access-control-allow-origin')]).to.equal([200, '*']);
    const changed = await kit.send('PUT', `/oauth/register/${registered.body.client_id}`, { headers: { authorization }, json: {} });
    expect([changed.status, changed.headers.get('allow')]).to.equal([405, 'GET, HEAD']);
    const refused = await kit.send('POST', '/mcp', { headers: { origin } });
    expect(refused.headers.get('access-control-expose-headers')).to.include('WWW-Authenticate');
    // Other routes do not allow scripts of other websites.
    expect((await kit.send('OPTIONS', '/api/workspaces', { headers: { origin, 'access-control-request-method': 'POST' } })).headers.get('access-control-allow-origin')).to.be.null();
  });

  it('shows an error as a page to a browser that opens an address for programs', async () => {
    const browser = { 'accept': 'text/html,*/*;q=0.8', 'sec-fetch-dest': 'document' };
    // The /mcp of this kit is a route without a protocol of its own.
    for (const [path, status, type] of [['/oauth/nonsense', 404, 'application/json'], ['/oauth/token', 405, 'application/json'], ['/mcp', 405, 'application/problem+json']] as const) {
      const page = await kit.send('GET', path, { headers: browser });
      expect([page.status, page.headers.get('content-type')], path).to.equal([status, 'text/html; charset=utf-8']);
      expect((await kit.send('GET', path, { headers: { accept: browser.accept } })).headers.get('content-type')!, path).to.startWith(type);
    }
    expect((await kit.send('GET', '/api/nonsense', { headers: browser })).headers.get('content-type')).to.equal('application/problem+json');
  });

  it('registers a client with a secret, and later returns the registration without the secret', async () => {
    const { status, body } = await register({ client_name: 'App', token_endpoint_auth_method: 'client_secret_post' });
    expect(status).to.equal(201);
    expect(body).to.include({ token_endpoint_auth_method: 'client_secret_post', registration_client_uri: `${BASE}/oauth/register/${body.client_id}` });
    expect(body.client_secret).to.match(/^[\w-]{43,}$/);
    const read = await kit.send('GET', `/oauth/register/${body.client_id}`, bearer(body.registration_access_token));
    expect([read.status, read.body.client_name, read.body.client_secret]).to.equal([200, 'App', undefined]);
    expect((await kit.send('GET', `/oauth/register/${body.client_id}`, bearer('wrong'))).status).to.equal(401);
    const stored = JSON.stringify(await kit.db.read('oauth_clients')) + JSON.stringify(await kit.db.read('oauth_artifacts'));
    for (const secret of [body.client_secret, body.registration_access_token]) expect(stored).to.not.include(secret);
  });

  it('accepts apps that register twice, without application_type, or with a scope', async () => {
    for (const redirect_uris of [['http://localhost:3118/callback'], ['http://127.0.0.1:33418', 'https://vscode.dev/redirect'], ['cursor://anysphere.cursor-retrieval/oauth/user-mcp/callback'], [CALLBACK]]) {
      const [one, two] = [await register({ redirect_uris, token_endpoint_auth_method: 'none', scope: 'probe:read' }), await register({ redirect_uris, token_endpoint_auth_method: 'none' })];
      expect([one.status, two.status, one.body.scope], redirect_uris.join()).to.equal([201, 201, undefined]);
      expect(one.body.client_id).to.not.equal(two.body.client_id);
      expect(one.body.grant_types).to.include('refresh_token');
    }
  });

  it('lets an app that registers again while its user decides go on with either registration', async () => {
    const [ada, first] = [await kit.person(), await kit.register()];
    const flow = newFlow(first.client_id);
    const { path } = await openConsent(ada.browser, flow);
    const second = await kit.register();
    const code = (await approve(ada.browser, path, { workspace: ada.workspace_id })).searchParams.get('code')!;
    const tokens = [(await redeem(kit, first, flow, code)).body, (await connect(kit, ada, second)).tokens];
    for (const { access_token: token } of tokens) expect((await kit.send('GET', '/api/probe', bearer(token))).status).to.equal(200);
  });

  it('lets an app use any port of a loopback address, but no other scheme, host or path', async () => {
    const ada = await kit.person();
    const redirect_uris = ['localhost', '127.0.0.1', '[::1]'].flatMap((host) => [`http://${host}/without`, `http://${host}:5000/with`]);
    // Neither states which kind of app it is.
    const document = { client_id: 'https://editor.example.org/client.json', client_name: 'Editor', redirect_uris };
    kit.documents.set(document.client_id, document);
    const registered = await kit.register({ redirect_uris: [...redirect_uris, CALLBACK] });
    const isAccepted = async ({ client_id }: { client_id: string }, redirect_uri: string): Promise<boolean> => (await ada.browser.get(newFlow(client_id, { redirect_uri }).address)).headers.get('location')?.startsWith('/connect/') ?? false;
    for (const client of [registered, document]) {
      for (const uri of redirect_uris) for (const port of ['', ':5000', ':49152']) {
        const { protocol, hostname, pathname } = new URL(uri);
        expect(await isAccepted(client, `${protocol}//${hostname}${port}${pathname}`), `${uri} at ${port || 'no port'}`).to.be.true();
      }
      for (const uri of ['http://127.0.0.1:5000/other', 'http://127.0.0.2:5000/with', 'https://127.0.0.1:5000/with', 'http://localhost.example.org/without', 'http://localhost@example.org/without', 'http://[::2]/without']) expect(await isAccepted(client, uri), uri).to.be.false();
    }
    expect(await isAccepted(registered, CALLBACK)).to.be.true();
    expect(await isAccepted(registered, 'https://app.example.org:5000/callback')).to.be.false();
    const local = await kit.register({ redirect_uris: ['http://localhost/callback'] });
    for (const uri of ['http://127.0.0.1/callback', 'http://[::1]/callback']) expect(await isAccepted(local, uri), uri).to.be.false();
  });

  it('refuses unsafe clients', async () => {
    for (const metadata of [
      { redirect_uris: ['http://app.example.org/callback'] }, { redirect_uris: ['javascript:alert(1)'] }, { redirect_uris: ['data:text/html,x'] }, { redirect_uris: [`${CALLBACK}#x`] }, { redirect_uris: [] }, { redirect_uris: 'x' }, { redirect_uris: [1] },
      { redirect_uris: Array.from({ length: 21 }, (_, i) => `${CALLBACK}/${i}`) }, { redirect_uris: [`${CALLBACK}/${'x'.repeat(3000)}`] },
      { grant_types: ['password'] }, { grant_types: ['client_credentials'] }, { grant_types: ['implicit'], response_types: ['token'] }, { response_types: ['code token'] }, { token_endpoint_auth_method: 'client_secret_jwt' },
    ]) {
      const { status, body } = await register(metadata);
      expect([status, /^invalid_(client_metadata|redirect_uri|request)$/.test(body.error)], JSON.stringify(metadata).slice(0, 100)).to.equal([400, true]);
    }
    expect((await kit.send('POST', '/oauth/register', { form: { redirect_uris: CALLBACK } })).body.error).to.equal('invalid_request');
    const large = await kit.send('POST', '/oauth/register', { json: { redirect_uris: [CALLBACK], client_name: 'x'.repeat(100_000) } });
    expect([large.status, large.body.error]).to.equal([413, 'invalid_request']);
  });

  it('is 503 with Retry-After while the database cannot be written', async () => {
    const [ada, client] = [await kit.person(), await kit.register()];
    const { tokens } = await connect(kit, ada, client);
    const flow = newFlow(client.client_id);
    const device = await kit.register({ grant_types: [DEVICE_GRANT, 'authorization_code'] });
    const file = join(kit.composition.config.data_dir, 'civic.db');
    await rename(file, `${file}.aside`);
    try {
      const send = (path: string, form: Record<string, string>) => kit.send('POST', path, { form: { client_id: device.client_id, ...form } });
      const replies = [await refresh(kit, client, tokens.refresh_token), await register({}), await send('/oauth/device', {}), await send('/oauth/revoke', { client_id: client.client_id, token: tokens.refresh_token })];
      for (const reply of replies) {
        expect([reply.status, reply.body.error, reply.headers.get('retry-after'), reply.headers.get('content-type')]).to.equal([503, 'temporarily_unavailable', '5', 'application/json; charset=utf-8']);
      }
      const page = await ada.browser.get(flow.address);
      expect([page.status, page.headers.get('location')]).to.equal([503, null]);
    } finally {
      await rename(`${file}.aside`, file);
    }
    expect((await refresh(kit, client, tokens.refresh_token)).status).to.equal(200);
  });

  it('needs a whole secret in the key file', async () => {
    const data_dir = await mkdtemp(join(tmpdir(), 'civic-oauth-'));
    try {
      for (const [text, fault] of [['\n', 'has no secret'], ['short\n', 'has a secret of 5 characters']] as const) {
        await writeFile(join(data_dir, 'oauth.key'), text);
        await expect(oauthKit({ config: { data_dir } })).to.reject(new RegExp(`oauth\\.key ${fault}, not one of 32 or more: restore the file from a copy, or delete it`));
      }
    } finally {
      await rm(data_dir, { recursive: true });
    }
  });

  it('can be switched off', async () => {
    const closed = await oauthKit({ config: { plugins: { oauth: { registration: { enabled: false }, metadata_documents: { enabled: false } } } } });
    try {
      expect((await closed.send('GET', '/.well-known/oauth-authorization-server')).body).to.include({ client_id_metadata_document_supported: false }).and.to.not.include('registration_endpoint');
      expect((await closed.send('POST', '/oauth/register', { json: { redirect_uris: [CALLBACK] } })).status).to.equal(404);
      closed.documents.set('https://editor.example.org/client.json', { client_id: 'https://editor.example.org/client.json', redirect_uris: [CALLBACK] });
      const ada = await closed.person();
      expect((await ada.browser.get(newFlow('https://editor.example.org/client.json').address)).status).to.equal(400);
    } finally {
      await closed.close();
    }
  });
});
