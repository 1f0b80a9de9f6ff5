import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { until } from '../../core/test/wait.ts';
import { bundledPlugins } from '../../core/load.ts';
import { testDatabases, testServer, type TestServer } from '../../core/testing.ts';
import { runCommand } from '../../plugins/accounts/test/kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

for (const database of testDatabases()) {
  describe(`A workspace that is deleted with data of every plugin (${database})`, { timeout: 60_000 }, () => {
    let kit: TestServer;
    let key: string;
    let id: string;
    const ask = (method: string, path: string, payload?: unknown) => kit.request(method, path, { payload, headers: { 'x-api-key': key, 'x-workspace-id': id } });

    before(async () => {
      kit = await testServer({ database, plugins: bundledPlugins() });
      const account = await runCommand(kit, 'account create', { name: 'Ada', plan: 'team', role: 'user' }, []);
      key = (await runCommand(kit, 'key create', { account: account.id }, [])).key;
      id = (await kit.request('POST', '/api/workspaces', { payload: { name: 'Desk' }, headers: { 'x-api-key': key } })).body.id;
    });
    after(() => kit.close());

    it('loses its private entries and its sessions, which were counted as uses', async () => {
      const actor = (await ask('POST', '/api/entities', { type: 'organization', sources: [{ local_id: 's', url: 'https://example.org/private' }], claims: [{ property: 'name', value: 'Private', source_local_id: 's' }] })).body.id;
      const session = await ask('POST', '/api/firehose/sessions', {});
      expect(session.status, session.text).to.equal(201);
      expect((await ask('GET', `/api/workspaces/${id}/usage`)).body.data.map(({ meter }: any) => meter)).to.equal(['stream_sessions', 'entity_writes']);

      const deleted = await kit.request('DELETE', `/api/workspaces/${id}?name=Desk`, { headers: { 'x-api-key': key } });
      expect(deleted.status, deleted.text).to.equal(204);
      expect(await kit.db.read('firehose_sessions')).to.equal([]);
      await until(async () => (await kit.db.read('directory_records').where({ id: actor }).first()).deleted_at !== null);
      expect((await runCommand(kit, 'usage verify', {}, [])).faults).to.equal([]);
    });
  });
}
