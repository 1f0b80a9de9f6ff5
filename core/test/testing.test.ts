import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin, Joi, type Caller } from '../index.ts';
import { testServer, type TestRequest, type TestServer } from '../testing.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const ACCOUNT = 'a8f5f167-0000-4000-8000-000000000002';
const admitted: (string | undefined)[] = [];

const egrets = definePlugin({
  name: 'egrets',
  summary: 'Routes with every kind of check',
  scopes: { 'egrets:write': { label: 'Write egrets' } },
  limits: { egret_counts: { label: 'Egret counts', doc: 'How many egrets' } },
  capabilities: { egrets: { label: 'Egrets', limit: 'egret_counts' } },
  register(server, civic) {
    civic.admit((caller) => { admitted.push(caller?.account_id); });
    const options = { description: 'Returns the caller', validate: { query: Joi.object({}) }, response: { schema: Joi.object().unknown() } };
    const handler = ({ auth }: { auth: { credentials: object | null } }): object => auth.credentials ?? {};
    server.route([
      { method: 'GET', path: '/api/egrets/public', options, handler },
      { method: 'GET', path: '/api/egrets/scope', options: { ...options, auth: { mode: 'required', access: { scope: ['egrets:write'] } } }, handler },
      { method: 'GET', path: '/api/egrets/role', options: { ...options, auth: { mode: 'required' }, plugins: { civic: { role: 'reviewer' } } }, handler },
      { method: 'GET', path: '/api/egrets/plan', options: { ...options, auth: { mode: 'required' }, plugins: { civic: { plan: 'egrets' } } }, handler },
    ]);
  },
});

describe('A request of testServer with `as`', () => {
  let kit: TestServer;
  before(async () => { kit = await testServer({ plugins: [egrets] }); });
  after(() => kit.close());

  const codeOf = async (path: string, request?: TestRequest): Promise<unknown> => {
    const { status, body } = await kit.request('GET', `/api/egrets/${path}`, request);
    return status === 200 ? 200 : body.code;
  };

  it('has the given caller, completed by defaults', async () => {
    expect((await kit.request('GET', '/api/egrets/public', { as: { role: 'admin' } })).body).to.include({ via: 'key', scope: [], role: 'admin', plan: 'free', capabilities: [], workspace_id: null });
    expect((await kit.request('GET', '/api/egrets/public')).body).to.equal({});
  });

  it('passes the checks of scope, role and plan only with what they require', async () => {
    const allowed: Record<string, Partial<Caller>> = { scope: { scope: ['egrets:write'] }, role: { role: 'reviewer' }, plan: { capabilities: ['egrets'] } };
    const rejected = { scope: 'insufficient_scope', role: 'permission_required', plan: 'plan_required' };
    for (const [path, code] of Object.entries(rejected)) {
      expect(await codeOf(path, { as: allowed[path]! }), path).to.equal(200);
      expect(await codeOf(path, { as: {} }), path).to.equal(code);
      expect(await codeOf(path), path).to.equal('authentication_required');
      expect(await codeOf(path, { as: { ...allowed[path]!, via: 'session' } }), `${path} with a session`).to.equal('authentication_required');
    }
  });

  it('passes the gates of rate limits as this caller', async () => {
    admitted.length = 0;
    await kit.request('GET', '/api/egrets/public', { as: { account_id: ACCOUNT } });
    await kit.request('GET', '/api/egrets/public');
    expect(admitted).to.equal([ACCOUNT, undefined]);
  });
});
