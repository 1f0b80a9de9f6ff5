import { expect } from '@hapi/code';
import type { ServerRoute } from '@hapi/hapi';
import Lab from '@hapi/lab';
import { problem } from '../../problems.ts';
import { addHeaders } from '../state.ts';
import { someone, testServer, type TestServer } from './fixture.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const routes: ServerRoute[] = [
  { method: 'GET', path: '/api/public', handler: (request) => ({ account: request.auth.credentials?.account_id ?? null }) },
  { method: 'GET', path: '/api/private', options: { auth: { mode: 'required' } }, handler: () => 'private' },
  { method: 'GET', path: '/api/scoped', options: { auth: { mode: 'required', access: { scope: ['things:write'] } } }, handler: () => 'scoped' },
  { method: 'GET', path: '/api/reviewed', options: { auth: { mode: 'required' }, plugins: { civic: { role: 'reviewer' } } }, handler: () => 'reviewed' },
  { method: 'GET', path: '/api/paid', options: { auth: { mode: 'required' }, plugins: { civic: { plan: 'firehose' } } }, handler: () => 'paid' },
  { method: 'GET', path: '/page', handler: (request) => `hello ${request.auth.credentials?.account_id ?? 'nobody'}` },
];

/** A key is the JSON of what its owner has besides the usual. */
function withKeys(): TestServer {
  const made = testServer();
  made.server.route(routes);
  made.gates.resolvers.push(async ({ headers }) => {
    const key = headers['x-api-key'];
    if (key === undefined) return null;
    if (key === 'bad') throw problem('invalid_credentials', { headers: { 'WWW-Authenticate': 'Key' } });
    if (key === 'crash') throw new Error('the database is away');
    return { ...someone, ...JSON.parse(String(key)) };
  });
  return made;
}

async function codeOf({ server }: TestServer, url: string, headers: Record<string, string> = {}): Promise<[number, string | undefined]> {
  const res = await server.inject({ url, headers });
  const isProblem = res.headers['content-type'] === 'application/problem+json';
  return [res.statusCode, isProblem ? JSON.parse(res.payload).code : undefined];
}

describe('The caller', () => {
  it('is anonymous on a public route without credentials', async () => {
    const res = await withKeys().server.inject('/api/public');
    expect(res.result).to.equal({ account: null });
  });

  it('is known by what a resolver says', async () => {
    const res = await withKeys().server.inject({ url: '/api/public', headers: { 'x-api-key': '{}' } });
    expect(res.result).to.equal({ account: 'account-1' });
  });

  it('with a wrong credential is refused everywhere, and the handler does not run', async () => {
    const made = withKeys();
    let ran = false;
    made.server.route({ method: 'GET', path: '/watched', handler: () => { ran = true; return 'x'; } });
    for (const url of ['/watched', '/api/public', '/api/private', '/api/nothing']) {
      const res = await made.server.inject({ url, headers: { 'x-api-key': 'bad' } });
      expect([res.statusCode, JSON.parse(res.payload).code]).to.equal([401, 'invalid_credentials']);
      expect(res.headers['www-authenticate']).to.equal('Key');
    }
    expect(ran).to.be.false();
  });

  it('with a credential that no resolver knows is refused', async () => {
    expect(await codeOf(withKeys(), '/api/public', { authorization: 'Basic eDp5' })).to.equal([401, 'invalid_credentials']);
  });

  it('with two credentials is refused', async () => {
    expect(await codeOf(withKeys(), '/api/public', { authorization: 'Bearer x', 'x-api-key': '{}' })).to.equal([400, 'two_credentials']);
  });

  it('is not treated as anonymous when the resolver fails', async () => {
    const made = withKeys();
    expect(await codeOf(made, '/api/public', { 'x-api-key': 'crash' })).to.equal([500, 'internal_error']);
    expect(made.lines.filter((line) => line['err']?.message === 'the database is away')).to.have.length(1);
  });

  it('must be authenticated on a required route', async () => {
    const res = await withKeys().server.inject('/api/private');
    expect([res.statusCode, JSON.parse(res.payload).code]).to.equal([401, 'authentication_required']);
    expect(res.headers['www-authenticate']).to.exist();
    expect(await codeOf(withKeys(), '/api/private', { 'x-api-key': '{}' })).to.equal([200, undefined]);
  });

  it('cannot be authenticated where no plugin has accounts', async () => {
    const made = testServer();
    made.server.route(routes);
    expect(await codeOf(made, '/api/private')).to.equal([401, 'no_accounts']);
    expect(await codeOf(made, '/api/public', { 'x-api-key': '{}' })).to.equal([401, 'no_accounts']);
    expect(await codeOf(made, '/api/public')).to.equal([200, undefined]);
  });

  it('needs the scope of the route, which the challenge names', async () => {
    const res = await withKeys().server.inject({ url: '/api/scoped', headers: { 'x-api-key': '{}' } });
    expect([res.statusCode, JSON.parse(res.payload).code]).to.equal([403, 'insufficient_scope']);
    expect(JSON.parse(res.payload).detail).to.include('things:write');
    expect(res.headers['www-authenticate']).to.include('scope="things:write"');
    expect(await codeOf(withKeys(), '/api/scoped', { 'x-api-key': '{"scope":["things:write"]}' })).to.equal([200, undefined]);
  });

  it('needs the role and the plan of the route', async () => {
    expect(await codeOf(withKeys(), '/api/reviewed', { 'x-api-key': '{}' })).to.equal([403, 'permission_required']);
    expect(await codeOf(withKeys(), '/api/reviewed', { 'x-api-key': '{"role":"admin"}' })).to.equal([200, undefined]);
    expect(await codeOf(withKeys(), '/api/paid', { 'x-api-key': '{}' })).to.equal([403, 'plan_required']);
    expect(await codeOf(withKeys(), '/api/paid', { 'x-api-key': '{"capabilities":["firehose"]}' })).to.equal([200, undefined]);
  });

  it('without the plan gets the plans that include the capability', async () => {
    const made = withKeys();
    made.gates.plansWith = (capability) => [`all_${capability}`];
    const { plans, detail } = JSON.parse((await made.server.inject({ url: '/api/paid', headers: { 'x-api-key': '{}' } })).payload);
    expect(plans).to.equal(['all_firehose']);
    expect(detail).to.include('all_firehose');
  });

  it('is not known by a session under /api, only on pages', async () => {
    const made = testServer();
    made.server.route(routes);
    made.gates.resolvers.push(() => ({ ...someone, via: 'session' }));
    expect((await made.server.inject('/page')).payload).to.equal('hello account-1');
    expect((await made.server.inject('/api/public')).result).to.equal({ account: null });
    expect(await codeOf(made, '/api/private')).to.equal([401, 'authentication_required']);
  });
});

describe('The gates', () => {
  it('see every request once, authenticated, anonymous or rejected, also on unknown paths', async () => {
    const made = withKeys();
    const seen: (string | null)[] = [];
    made.gates.admit.push((caller) => { seen.push(caller && caller.account_id); });
    await made.server.inject('/api/public');
    await made.server.inject({ url: '/api/public', headers: { 'x-api-key': '{}' } });
    await made.server.inject({ url: '/api/public', headers: { 'x-api-key': 'bad' } });
    await made.server.inject('/api/nothing');
    await made.server.inject({ method: 'DELETE', url: '/api/public' });
    expect(seen).to.equal([null, 'account-1', null, null, null]);
  });

  it('are not asked about health and OPTIONS', async () => {
    const made = withKeys();
    let count = 0;
    made.gates.admit.push(() => { count++; });
    await made.server.inject('/health');
    await made.server.inject({ method: 'OPTIONS', url: '/api/public' });
    expect(count).to.equal(0);
  });

  it('are asked about malformed requests, which are refused in their own words behind them', async () => {
    const made = withKeys();
    let count = 0;
    made.gates.admit.push((_caller, request) => { count++; addHeaders(request, { 'ratelimit-remaining': '3' }); });
    const res = await made.server.inject({ url: '/api/public', headers: { 'x-request-id': 'a b', 'x-api-key': '{}' } });
    expect([res.statusCode, JSON.parse(res.payload).code, res.headers['ratelimit-remaining'], count]).to.equal([400, 'invalid_header', '3', 1]);
    for (const url of ['/api/%zz', '/api/%ff', '/api/public/%']) {
      const undecodable = await made.server.inject(url);
      expect([undecodable.statusCode, JSON.parse(undecodable.payload).code, undecodable.headers['ratelimit-remaining']], url).to.equal([400, 'bad_request', '3']);
    }
  });

  it('run one after the other, waiting only for those that take time, and the first refusal ends it', async () => {
    const made = withKeys();
    const seen: string[] = [];
    made.gates.admit.push(() => { seen.push('at once'); });
    made.gates.admit.push(async () => { await Promise.resolve(); seen.push('later'); });
    made.gates.admit.push((_caller, request) => { seen.push('last'); if (request.path === '/api/nothing') throw problem('too_many_requests'); });
    made.gates.admit.push(() => { seen.push('not asked'); });
    expect(await codeOf(made, '/api/nothing')).to.equal([429, 'too_many_requests']);
    expect(await codeOf(made, '/api/nothing', { 'x-api-key': 'bad' })).to.equal([429, 'too_many_requests']);
    expect(seen).to.equal(['at once', 'later', 'last', 'at once', 'later', 'last']);
  });

  it('may refuse, with headers of their own, and the handler does not run', async () => {
    const made = withKeys();
    made.gates.admit.push(async () => { throw problem('too_many_requests', { headers: { 'Retry-After': '7' } }); });
    const res = await made.server.inject('/api/public');
    expect([res.statusCode, JSON.parse(res.payload).code]).to.equal([429, 'too_many_requests']);
    expect(res.headers['retry-after']).to.equal('7');
  });
});
