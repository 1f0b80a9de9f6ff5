import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from '../../plugin.ts';
import { problem } from '../../problems.ts';
import { testServer, type TestServer } from '../../testing.ts';
import { formOptions } from '../forms.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const rejected: string[] = [];
const counted: string[] = [];

/** Takes tokens under `/gate`, as an authorization server and its resources do. */
const gate = definePlugin({
  name: 'gate',
  summary: 'Takes tokens',
  scopes: { 'gate:read': { label: 'Read' }, 'gate:write': { label: 'Write' } },
  paths: { '/gate': { audience: 'programs' }, '/form': { audience: 'people' } },
  register(server, civic) {
    civic.identify(({ headers }) => { if (headers.authorization === 'Bearer wrong') throw problem('invalid_credentials'); return null; });
    civic.admit((caller, { path }) => { counted.push(`${caller ? 'known' : 'anonymous'} ${path}`); });
    civic.challenge(({ path }) => (path.startsWith('/gate') ? { resource_metadata: civic.url('/.well-known/gate'), scope: 'gate:read gate:write' } : null));
    const internal = { plugins: { civic: { internal: true } } };
    server.route([
      { method: 'GET', path: '/gate/read', options: { ...internal, auth: { mode: 'required', access: { scope: ['gate:read'] } } }, handler: () => 'read' },
      { method: 'POST', path: '/gate/scoped', options: { plugins: { civic: { internal: true } } }, handler: () => { throw problem('insufficient_scope', { extra: { scopes: ['gate:write'] } }); } },
      {
        method: 'POST', path: '/gate/token',
        options: { plugins: { civic: { internal: true, ownCredentials: true, cors: { headers: ['X-Version'], expose: ['X-Left'] }, errors: ({ code, detail }) => ({ error: code, error_description: detail }) } } },
        handler: ({ headers }) => { if (headers['x-fail']) throw problem('bad_request', { detail: 'No.' }); return headers.authorization ?? 'none'; },
      },
      { method: 'POST', path: '/form', options: formOptions({}, { onReject: async ({ path }) => { rejected.push(path); } }), handler: () => 'sent' },
    ]);
  },
});

describe('Routes that take tokens', () => {
  let kit: TestServer;
  before(async () => { kit = await testServer({ plugins: [gate], config: { public_url: 'https://civic.example' } }); });
  after(() => kit.close());

  const challenge = async (method: string, path: string, options: Parameters<TestServer['request']>[2] = {}) => (await kit.request(method, path, options)).headers['www-authenticate'];

  it('are challenged with what plugins add, and with an error only when a token was sent', async () => {
    const added = 'resource_metadata="https://civic.example/.well-known/gate", scope="gate:read gate:write"';
    expect(await challenge('GET', '/gate/read')).to.equal(`Bearer realm="civic", ${added}`);
    expect(await challenge('GET', '/gate/read', { headers: { authorization: 'Bearer wrong' } })).to.equal(`Bearer realm="civic", error="invalid_token", ${added}`);
    expect(await challenge('GET', '/api/nothing', { headers: { authorization: 'Bearer wrong' } })).to.equal('Bearer realm="civic", error="invalid_token"');
  });

  it('name the scopes that are missing, besides those that the token has', async () => {
    const metadata = 'resource_metadata="https://civic.example/.well-known/gate"';
    expect(await challenge('GET', '/gate/read', { as: { via: 'token', scope: ['gate:write'] } })).to.equal(`Bearer realm="civic", error="insufficient_scope", scope="gate:write gate:read", ${metadata}`);
    expect(await challenge('GET', '/gate/read', { as: { via: 'key', scope: ['gate:write'] } })).to.equal(`Bearer realm="civic", error="insufficient_scope", scope="gate:read", ${metadata}`);
    expect(await challenge('POST', '/gate/scoped', { as: { via: 'token', scope: ['gate:read'] } })).to.equal(`Bearer realm="civic", error="insufficient_scope", scope="gate:read gate:write", ${metadata}`);
  });

  it('may read the credential themselves, and are counted all the same', async () => {
    counted.length = 0;
    expect((await kit.request('POST', '/gate/token', { headers: { authorization: 'Bearer wrong' } })).text).to.equal('Bearer wrong');
    expect((await kit.request('POST', '/gate/token', { headers: { authorization: 'Basic eDp5' }, as: { role: 'admin' } })).text).to.equal('Basic eDp5');
    expect(counted).to.equal(['anonymous /gate/token', 'anonymous /gate/token']);
    expect((await kit.request('POST', '/gate/scoped', { headers: { authorization: 'Bearer wrong' } })).status).to.equal(401);
  });

  it('may write errors in the form of their own protocol', async () => {
    const { status, body, headers } = await kit.request('POST', '/gate/token', { headers: { 'x-fail': '1' } });
    expect([status, body, headers['content-type']]).to.equal([400, { error: 'bad_request', error_description: 'No.' }, 'application/json; charset=utf-8']);
  });

  it('may be called by scripts of other websites, if they say so', async () => {
    const origin = 'https://app.example';
    const ask = (path: string, method: string) => kit.request('OPTIONS', path, { headers: { origin, 'access-control-request-method': method } });
    const { status, headers } = await ask('/gate/token', 'POST');
    expect([status, headers['access-control-allow-origin'], headers['access-control-allow-methods']]).to.equal([204, '*', 'POST']);
    expect(headers['access-control-allow-headers']).to.include('Authorization').and.to.include('X-Version').and.to.not.include('X-API-Key');
    const sent = await kit.request('POST', '/gate/token', { headers: { origin } });
    expect([sent.headers['access-control-allow-origin'], String(sent.headers['access-control-expose-headers']).endsWith('WWW-Authenticate, X-Left')]).to.equal(['*', true]);
    for (const [path, method] of [['/gate/scoped', 'POST'], ['/gate/read', 'GET'], ['/gate/token', 'DELETE'], ['/form', 'POST']]) expect((await ask(path!, method!)).headers['access-control-allow-origin'], path).to.be.undefined();
    expect((await kit.request('POST', '/gate/scoped', { headers: { origin } })).headers['access-control-allow-origin']).to.be.undefined();
  });
});

describe('A form with a rule for rejected ones', () => {
  it('reports those that another site sent, before it rejects them', async () => {
    const kit = await testServer({ plugins: [gate] });
    const send = (headers: Record<string, string>) => kit.request('POST', '/form', { payload: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers } });
    expect((await send({})).status).to.equal(200);
    expect(rejected).to.equal([]);
    expect((await send({ 'sec-fetch-site': 'cross-site' })).body.code).to.equal('foreign_form');
    expect(rejected).to.equal(['/form']);
    await kit.close();
  });
});
