import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { newId } from '../../core/ids.ts';
import { testDatabases, testServer, type TestResponse, type TestServer } from '../../core/testing.ts';
import { newPerson, runCommand, type Person } from '../../plugins/firehose/test/people.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** A request that succeeds. */
interface Attempt {
  path: string;
  payload?: unknown;
}

for (const database of testDatabases()) describe(`Idempotency-Key on every POST of the kit, on ${database}`, () => {
  let kit: TestServer;
  let admin: Person;
  let guest: Person;
  before(async () => {
    kit = await testServer({ plugins: ['directory', 'accounts', 'firehose'], database });
    admin = await newPerson(kit, { role: 'admin' });
    guest = await newPerson(kit);
  });
  after(() => kit.close());

  async function send(as: Person, { path, payload }: Attempt, key?: string): Promise<TestResponse> {
    const answer = await kit.request('POST', path, { payload, headers: { 'x-api-key': as.key, ...(key && { 'idempotency-key': key }) } });
    if (!key && answer.status >= 300) throw new Error(`POST ${path}: ${answer.text}`);
    return answer;
  }
  const draft = (visibility: 'public' | 'workspace') => ({ type: 'organization', visibility, sources: [{ local_id: 's', url: `https://example.org/${newId()}` }], claims: [{ property: 'name', value: `Actor ${newId()}`, source_local_id: 's' }] });
  const create = async (path: string, payload: unknown, as = admin): Promise<any> => (await send(as, { path, payload })).body;
  const actor = async (visibility: 'public' | 'workspace' = 'public'): Promise<string> => (await create('/api/entities', draft(visibility))).id;
  const workspace = async (): Promise<string> => (await create('/api/workspaces', { name: 'Ours' })).id;

  const invitation = async (): Promise<string> => (await create(`/api/workspaces/${await workspace()}/members`, { account_id: guest.id })).invitation_id;

  /** A successful request for each route. A new POST route needs an entry. */
  const attempts: Record<string, () => Promise<Attempt & { as?: Person }>> = {
    '/api/entities': async () => ({ path: '/api/entities', payload: draft('public') }),
    '/api/entities/{id}/merge': async () => ({ path: `/api/entities/${await actor()}/merge`, payload: { into: await actor(), reason: 'The same' } }),
    '/api/entities/{id}/publish': async () => ({ path: `/api/entities/${await actor('workspace')}/publish` }),
    async '/api/entities/{id}/split'() {
      const into = await actor();
      await send(admin, { path: `/api/entities/${await actor()}/merge`, payload: { into, reason: 'The same' } });
      return { path: `/api/entities/${into}/split`, payload: {} };
    },
    '/api/judgements': async () => ({ path: '/api/judgements', payload: { left_id: await actor(), right_id: await actor(), verdict: 'different' } }),
    '/api/rechecks/{source_id}': async () => ({ path: `/api/rechecks/${(await create('/api/entities', draft('public'))).sources[0].id}`, payload: { outcome: 'confirmed' } }),
    '/api/firehose/sessions': async () => ({ path: '/api/firehose/sessions', payload: {} }),
    '/api/firehose/sessions/{id}/tickets': async () => ({ path: `/api/firehose/sessions/${(await create('/api/firehose/sessions', {})).id}/tickets` }),
    '/api/invitations/{id}/accept': async () => ({ path: `/api/invitations/${await invitation()}/accept`, as: guest }),
    '/api/invitations/{id}/decline': async () => ({ path: `/api/invitations/${await invitation()}/decline`, as: guest }),
    '/api/workspaces': async () => ({ path: '/api/workspaces', payload: { name: 'Ours' } }),
    '/api/workspaces/join': async () => ({ path: '/api/workspaces/join', payload: { token: /token=([^&]+)/.exec((await create(`/api/workspaces/${await workspace()}/invitations`, {})).url)![1] }, as: guest }),
    '/api/workspaces/{id}/invitations': async () => ({ path: `/api/workspaces/${await workspace()}/invitations`, payload: {} }),
    '/api/workspaces/{id}/members': async () => ({ path: `/api/workspaces/${await workspace()}/members`, payload: { account_id: (await runCommand(kit, 'account create', { name: 'New' })).id } }),
  };

  it('covers every POST route under /api whose body is not streamed', () => {
    const routes = kit.server.table().filter(({ method, path, settings }) => method === 'post' && path.startsWith('/api/') && settings.payload?.output !== 'stream').map(({ path }) => path);
    expect(Object.keys(attempts).sort()).to.equal(routes.sort());
  });

  for (const [route, prepare] of Object.entries(attempts)) {
    it(`replays the first response of ${route}, or says that it showed a secret`, async () => {
      const { as = admin, ...attempt } = await prepare();
      const key = newId();
      const first = await send(as, attempt, key);
      expect(first.status, first.text).to.be.below(300);
      const second = await send(as, attempt, key);
      const isSecret = kit.server.match('post', attempt.path)!.settings.plugins?.civic?.secret === true;
      expect(second.headers['idempotency-replayed']).to.equal('true');
      if (isSecret) expect([second.status, second.body.code]).to.equal([409, 'secret_shown_once']);
      else {
        expect([second.status, second.text]).to.equal([first.status, first.text]);
        for (const name of ['content-type', 'location', 'etag', 'cache-control']) expect(second.headers[name], name).to.equal(first.headers[name]);
      }
    });
  }
});
