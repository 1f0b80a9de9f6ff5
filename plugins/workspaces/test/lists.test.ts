import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Caller } from 'civic';
import { testDatabases } from 'civic/testing';
import { workspacesKit, type Person, type WorkspacesKit } from './kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

for (const database of testDatabases()) {
  describe(`Lists on ${database}`, () => {
    let kit: WorkspacesKit;
    let ada: Person;
    let bob: Person;
    let home: string;

    before(async () => {
      kit = await workspacesKit(database, { config: { max_records: 4, max_list_items: 3 } });
      ada = await kit.person();
      bob = await kit.person({ name: 'Bob' });
      home = `/api/workspaces/${ada.workspace_id}`;
    });
    after(() => kit.close());

    const asAda = (method: string, path: string, payload?: unknown, headers?: Record<string, string>) => kit.as(ada.key, method, path, payload, headers);

    it('are created, read, changed and deleted', async () => {
      const created = await asAda('POST', `${home}/lists`, { name: 'To call', description: 'Before June' });
      expect(created.status, created.text).to.equal(201);
      expect(created.body).to.include({ name: 'To call', description: 'Before June', item_count: 0, created_by: ada.id, items: [] });
      expect(String(created.headers['location']).endsWith(`${home}/lists/${created.body.id}`)).to.be.true();

      const path = `${home}/lists/${created.body.id}`;
      const read = await asAda('GET', path.toUpperCase().replace('/API/WORKSPACES', '/api/workspaces').replace('/LISTS/', '/lists/'));
      expect(read.body).to.equal(created.body);
      expect(read.headers['cache-control']).to.equal('private, no-store');
      expect((await asAda('GET', path, undefined, { 'if-none-match': String(read.headers['etag']) })).status).to.equal(304);

      const changed = await asAda('PATCH', path, { description: null }, { 'if-match': String(read.headers['etag']) });
      expect([changed.status, changed.body.name, changed.body.description]).to.equal([200, 'To call', null]);
      expect((await asAda('PATCH', path, { name: 'Late' }, { 'if-match': String(read.headers['etag']) })).body.code).to.equal('precondition_failed');
      expect((await asAda('DELETE', path, undefined, { 'if-match': String(read.headers['etag']) })).status).to.equal(412);
      expect((await asAda('DELETE', path)).status).to.equal(204);
      expect((await asAda('GET', path)).body.code).to.equal('unknown_list');
    });

    it('reject unknown members, empty changes and texts that a database cannot store', async () => {
      for (const payload of [{}, { name: '' }, { name: 'x', items: [] }, { name: 'x'.repeat(201) }, { name: 'a\u0000b' }, { name: '\ud800' }]) expect((await asAda('POST', `${home}/lists`, payload)).status, JSON.stringify(payload)).to.equal(400);
      const { id } = (await asAda('POST', `${home}/lists`, { name: 'x' })).body;
      expect((await asAda('PATCH', `${home}/lists/${id}`, {})).status).to.equal(400);
      expect((await asAda('GET', `${home}/lists?colour=red`)).status).to.equal(400);
      expect((await asAda('GET', `${home}/lists/none`)).body.code).to.equal('unknown_list');
      await asAda('DELETE', `${home}/lists/${id}`);
    });

    it('have entries that stay when an actor is merged or deleted', async () => {
      const list = `${home}/lists/${(await asAda('POST', `${home}/lists`, { name: 'Groups' })).body.id}`;
      const [one, two, gone] = [await kit.actor('One'), await kit.actor('Two'), await kit.actor('Gone')];
      const added = await asAda('POST', `${list}/items`, { entity_id: one.id.toUpperCase(), note: 'Call first' });
      expect(added.status, added.text).to.equal(201);
      expect(added.body).to.include({ entity_id: one.id, note: 'Call first', added_by: ada.id });
      expect(added.body.entity).to.include({ state: 'current', name: 'One', type: 'organization', visibility: 'public' });
      const again = await asAda('POST', `${list}/items`, { entity_id: one.id, note: 'Other' });
      expect([again.status, again.body.note]).to.equal([200, 'Call first']);
      await asAda('POST', `${list}/items`, { entity_id: gone.id });
      expect((await asAda('POST', `${list}/items`, { entity_id: 'none' })).body.code).to.equal('unknown_actor');

      const by: Partial<Caller> = { role: 'reviewer', scope: ['entities:write'] };
      await kit.request('POST', `/api/entities/${one.id}/merge`, { payload: { into: two.id, reason: 'The same' }, as: by });
      await kit.request('DELETE', `/api/entities/${gone.id}`, { as: by });
      const { data, total } = (await asAda('GET', `${list}/items`)).body;
      expect(total).to.equal(2);
      expect(data[0].entity).to.include({ state: 'merged', name: 'One', merged_into: two.id });
      expect(data[1].entity).to.include({ state: 'deleted', name: null, deleted_at: kit.clock.iso() });
      const merged = await asAda('POST', `${list}/items`, { entity_id: one.id });
      expect([merged.status, merged.body.code, merged.body.merged_into]).to.equal([404, 'unknown_actor', two.id]);

      expect((await asAda('PATCH', `${list}/items/${gone.id}`, { note: 'Why?' })).body.note).to.equal('Why?');
      expect((await asAda('DELETE', `${list}/items/${one.id}`)).status).to.equal(204);
      expect((await asAda('GET', `${list}/items/${one.id}`)).body.code).to.equal('unknown_list_item');
      expect((await asAda('GET', list)).body.item_count).to.equal(1);
      await asAda('DELETE', list);
    });

    it('refer to private actors of their own workspace only, and name them to callers who may read them', async () => {
      const list = `${home}/lists/${(await asAda('POST', `${home}/lists`, { name: 'Private' })).body.id}`;
      const own = await kit.actor('Own', { workspace_id: ada.workspace_id }, 'workspace');
      const foreign = await kit.actor('Foreign', { workspace_id: bob.workspace_id }, 'workspace');
      expect((await asAda('POST', `${list}/items`, { entity_id: own.id })).body.entity.name).to.equal('Own');
      expect((await asAda('POST', `${list}/items`, { entity_id: foreign.id })).body.code).to.equal('unknown_actor');
      const narrow = (await kit.run('key create', { account: ada.id, scopes: ['workspace:read'] })).key;
      const [item] = (await kit.as(narrow, 'GET', `${list}/items`)).body.data;
      expect(item.entity).to.include({ state: 'unavailable', name: null });
      await asAda('DELETE', list);
    });

    it('are bounded, also when they arrive at the same time', async () => {
      const responses = await Promise.all(Array.from({ length: 6 }, (_, at) => asAda('POST', `${home}/lists`, { name: `List ${at}` })));
      expect(responses.map(({ status }) => status).sort()).to.equal([201, 201, 201, 201, 409, 409]);
      expect(responses.find(({ status }) => status === 409)!.body).to.include({ code: 'record_limit', detail: 'A workspace can have 4 lists.' });
      const first = (await asAda('GET', `${home}/lists?limit=3`)).body;
      expect([first.total, first.data.length]).to.equal([4, 3]);
      const rest = (await asAda('GET', `${home}/lists?limit=3&cursor=${first.next_cursor}`)).body;
      expect([rest.data.length, rest.next_cursor]).to.equal([1, null]);

      const list = `${home}/lists/${first.data[0].id}`;
      const actors = await Promise.all(['A', 'B', 'C', 'D'].map((name) => kit.actor(name)));
      const added = await Promise.all(actors.map(({ id }) => asAda('POST', `${list}/items`, { entity_id: id })));
      expect(added.map(({ status }) => status).sort()).to.equal([201, 201, 201, 409]);
      const page = (await asAda('GET', `${list}/items?limit=2`)).body;
      expect([page.total, page.data.length]).to.equal([3, 2]);
      expect((await asAda('GET', `${list}/items?limit=2&cursor=${page.next_cursor}`)).body.data).to.have.length(1);
    });

    it('do not exist for other accounts', async () => {
      const { id } = (await asAda('GET', `${home}/lists`)).body.data[0];
      for (const path of [`${home}/lists`, `${home}/lists/${id}`, `${home}/lists/${id}/items`]) expect((await kit.as(bob.key, 'GET', path)).body.code, path).to.equal('unknown_workspace');
      expect((await kit.as(bob.key, 'GET', `/api/workspaces/${bob.workspace_id}/lists/${id}`)).body.code).to.equal('unknown_list');
      expect((await kit.request('GET', `${home}/lists`)).status).to.equal(401);
    });
  });
}
