import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import type { AccountsService } from 'civic/accounts';
import { testDatabases } from 'civic/testing';
import { workspacesKit, type Person, type WorkspacesKit } from './kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const TABLES = ['workspaces_lists', 'workspaces_notes', 'workspaces_targets', 'workspaces_reviews', 'workspaces_totals', 'workspaces_usage', 'workspaces_usage_months'];

for (const database of testDatabases()) {
  describe(`A workspace that is renamed and deleted, on ${database}`, () => {
    let kit: WorkspacesKit;
    let accounts: AccountsService;
    let ada: Person;
    let bob: Person;
    let id: string;
    let key: string;

    before(async () => {
      const spy = definePlugin({ name: 'spy', summary: 'Uses workspaces for tests', needs: ['accounts', 'workspaces'], register: (_server, civic) => ({ async start() { accounts = civic.service('accounts'); } }) });
      kit = await workspacesKit(database, { plugins: [spy] });
      [ada, bob] = [await kit.person(), await kit.person({ name: 'Bob' })];
      id = (await kit.as(ada.key, 'POST', '/api/workspaces', { name: 'River desk' })).body.id;
      const { invitation_id } = (await kit.as(ada.key, 'POST', `/api/workspaces/${id}/members`, { account_id: bob.id, role: 'admin' })).body;
      await kit.as(bob.key, 'POST', `/api/invitations/${invitation_id}/accept`);
      key = (await kit.run('key create', { account: bob.id, workspace: id })).key;
      const actor = await kit.actor('Union');
      const list = (await kit.as(ada.key, 'POST', `/api/workspaces/${id}/lists`, { name: 'Groups' })).body;
      await kit.as(ada.key, 'POST', `/api/workspaces/${id}/lists/${list.id}/items`, { entity_id: actor.id });
      await kit.as(ada.key, 'POST', `/api/workspaces/${id}/notes`, { text: 'Private' });
      await kit.as(ada.key, 'POST', `/api/workspaces/${id}/coverage-targets`, { place: 'gladstone,missouri', issue_areas: ['housing_affordability'], wanted: 3 });
      await kit.as(ada.key, 'POST', `/api/workspaces/${id}/reviews`, { target: { type: 'entity', id: actor.id }, status: 'confirmed' });
    });
    after(() => kit.close());

    const workspace = (by: string, method: string, query = '', payload?: unknown) => kit.as(by, method, `/api/workspaces/${id}${query}`, payload);

    it('is renamed by administrators', async () => {
      expect((await workspace(bob.key, 'PATCH', '', { name: 'Harbour desk' })).body).to.include({ id, name: 'Harbour desk', role: 'admin' });
      expect((await workspace(ada.key, 'GET')).body.name).to.equal('Harbour desk');
      expect((await workspace(ada.key, 'PATCH', '', { name: '' })).status).to.equal(400);
      expect((await workspace(ada.key, 'GET', '/audit')).body.data[0]).to.include({ kind: 'workspace_renamed', detail: { from: 'River desk', to: 'Harbour desk' } });
    });

    it('is deleted by an owner who repeats its name', async () => {
      expect((await workspace(bob.key, 'DELETE', '?name=Harbour%20desk')).body.code).to.equal('workspace_forbidden');
      expect((await workspace(ada.key, 'DELETE')).status).to.equal(400);
      expect((await workspace(ada.key, 'DELETE', '?name=River%20desk')).body.code).to.equal('name_mismatch');
      expect((await kit.as(ada.key, 'DELETE', `/api/workspaces/${ada.workspace_id}?name=Ada`)).body.code).to.equal('personal_workspace');
      expect((await workspace(key, 'GET', '/notes')).status).to.equal(200);
      expect((await workspace(ada.key, 'DELETE', '?name=Harbour%20desk')).status).to.equal(204);
    });

    it('leaves no record, no access and no name', async () => {
      for (const table of TABLES) expect(await kit.db.read(table).where({ workspace_id: id }), table).to.equal([]);
      expect(await kit.db.read('workspaces_list_items')).to.equal([]);
      for (const path of ['', '/notes', '/lists', '/usage', '/members', '/audit']) expect((await workspace(ada.key, 'GET', path)).body.code, path).to.equal('unknown_workspace');
      expect((await workspace(key, 'GET', '/notes')).body.code).to.equal('invalid_credentials');
      expect((await kit.as(ada.key, 'GET', '/api/workspaces')).body.data.map((one: any) => one.id)).to.equal([ada.workspace_id]);
      expect((await kit.as(ada.key, 'GET', '/api/entities', undefined, { 'x-workspace-id': id })).body.code).to.equal('workspace_forbidden');
    });

    it('accepts no use of a transaction that began before the deletion', async () => {
      const unused = (await kit.as(ada.key, 'POST', '/api/workspaces', { name: 'Unused' })).body.id;
      expect((await kit.as(ada.key, 'DELETE', `/api/workspaces/${unused}?name=Unused`)).status).to.equal(204);
      for (const workspace_id of [id, unused]) {
        const use = kit.db.write((tx) => accounts.workspaceHooks.use(tx, { account_id: ada.id, via: 'key', workspace_id } as never, 'record_writes'));
        await expect(use).to.reject(Error, /./);
        expect(await kit.db.read('workspaces_usage').where({ workspace_id })).to.equal([]);
      }
    });

    it('stays a proof in the record of usage and in the audit record', async () => {
      expect((await kit.run('usage verify')).faults).to.equal([]);
      const kinds = (await kit.run('audit export')).map((line: string) => JSON.parse(line)).filter((row: any) => row.workspace_id === id).map(({ kind }: any) => kind);
      expect(kinds.slice(-2)).to.equal(['key_revoked', 'workspace_deleted']);
      await kit.db.write(async (tx) => { await tx('workspaces_usage_heads').where({ workspace_id: id }).update({ deleted_at: null }); });
      const message = await kit.run('usage verify').then(() => '', (error: Error) => error.message);
      expect(message).to.contain('the seal does not fit');
    });
  });
}
