import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases, testServer, type TestServer } from '../../core/testing.ts';
import { runCommand } from '../../plugins/accounts/test/kit.ts';
import { covers } from './rows.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const ACTOR = { type: 'organization', visibility: 'workspace', sources: [{ local_id: 's', url: 'https://example.org/about' }], claims: [{ property: 'name', value: 'Tenants of Elm Street', source_local_id: 's' }] };

for (const database of testDatabases()) {
  describe(`Authentication on ${database}`, { timeout: 60_000 }, () => {
    let civic: TestServer;
    let key: string;
    let workspace: string;
    before(async () => {
      civic = await testServer({ plugins: ['directory', 'accounts'], database });
      const { id } = await runCommand(civic, 'account create', { name: 'Ada', plan: 'individual', role: 'user' }, []);
      ({ key, workspace_id: workspace } = await runCommand(civic, 'key create', { account: id }, []));
    });
    after(() => civic.close());

    const ask = (method: string, path: string, headers: Record<string, string> = {}, payload?: unknown) => civic.request(method, path, { headers, payload });

    it(covers('auth.api-key-header', 'an API key in X-API-Key lets its owner in'), async () => {
      expect((await ask('GET', '/api/workspaces', { 'x-api-key': key })).status).to.equal(200);
    });

    it(covers('auth.key-not-authorization', 'an API key in Authorization is refused, with the right header named'), async () => {
      for (const authorization of [`Bearer ${key}`, key, `ApiKey ${key}`]) {
        const { status, body } = await ask('GET', '/api/entities', { authorization });
        expect(status).to.equal(401);
        expect(body.detail).to.include('X-API-Key');
      }
    });

    it(covers('auth.keys-paid', 'a free account gets no key, and its plan says so at /api/plans'), async () => {
      const { id } = await runCommand(civic, 'account create', { name: 'Free', plan: 'free', role: 'user' }, []);
      await expect(runCommand(civic, 'key create', { account: id }, [])).to.reject(/no API keys/);
      const { body } = await ask('GET', '/api/plans');
      expect(body.data.filter(({ keys }: { keys: number }) => keys > 0).map(({ name }: { name: string }) => name)).to.equal(['individual', 'research_pass', 'team']);
      expect(body.data.find(({ name }: { name: string }) => name === 'individual').price).to.include('5');
    });

    it(covers('auth.writes-authenticated', 'writes, imports and workspace data need credentials, reads none'), async () => {
      for (const [method, path] of [['POST', '/api/entities'], ['POST', '/api/imports?format=ndjson'], ['GET', '/api/workspaces'], ['GET', `/api/workspaces/${workspace}`], ['GET', `/api/workspaces/${workspace}/members`]] as const) {
        expect((await ask(method, path, {}, method === 'POST' ? ACTOR : undefined)).status, `${method} ${path}`).to.equal(401);
      }
      expect((await ask('GET', '/api/entities')).status).to.equal(200);
      expect((await ask('POST', '/api/entities', { 'x-api-key': key }, ACTOR)).status).to.equal(201);
    });

    it(covers('auth.403', 'a known caller without the plan, the workspace or the permission is 403, each by its code'), async () => {
      const codeOf = async (...asked: Parameters<typeof ask>) => {
        const { status, body } = await ask(...asked);
        return [status, body.code];
      };
      const made = await runCommand(civic, 'account create', { name: 'Lapsed', plan: 'individual', role: 'user' }, []);
      const lapsed = await runCommand(civic, 'key create', { account: made.id }, []);
      await runCommand(civic, 'account set-plan', { account: made.id, plan: 'free' }, []);
      expect(await codeOf('GET', '/api/workspaces', { 'x-api-key': lapsed.key })).to.equal([403, 'plan_required']);
      expect(await codeOf('GET', '/api/workspaces', { 'x-api-key': key, 'x-workspace-id': lapsed.workspace_id })).to.equal([403, 'workspace_forbidden']);
      const { body } = await ask('POST', '/api/entities', { 'x-api-key': key }, ACTOR);
      expect(await codeOf('POST', `/api/entities/${body.id}/publish`, { 'x-api-key': key }, {})).to.equal([403, 'permission_required']);
    });

    it(covers('service.workspace-single', 'a caller with one workspace is bound to it without asking'), async () => {
      const { body } = await ask('GET', '/api/workspaces', { 'x-api-key': key });
      expect(body.data.map(({ id, role }: { id: string; role: string }) => [id, role])).to.equal([[workspace, 'owner']]);
      expect((await ask('GET', '/api/entities?visibility=workspace', { 'x-api-key': key })).body.data).to.not.be.empty();
    });
  });
}
