import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { request as httpRequest } from 'node:http';
import { newId } from '../../core/ids.ts';
import { slowness, testDatabases } from '../../core/testing.ts';
import { workspacesKit, type Person, type WorkspacesKit } from '../../plugins/workspaces/test/kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SYNCS = '/api/discovery-runs/syncs';
const MEGABYTE = 1024 * 1024;
const entry = (id: string, name: string, type = 'organization') => ({ local_id: id, type, name, claims: [{ property: 'name', value: name, source_local_id: 's1' }, { property: 'place', value: 'gladstone,missouri', source_local_id: 's1' }] });
const bundle = (more: object = {}) => ({ tool: { name: 'scout', version: '1' }, local_run_id: newId(), location: 'Gladstone, MO', issue_areas: [], sources: [{ local_id: 's1', url: 'https://research.example/' }], entries: [entry('e1', `Synced ${newId()}`)], ...more });

for (const database of testDatabases()) {
  describe(`Syncs with workspaces on ${database}`, { timeout: 120_000 }, () => {
    let kit: WorkspacesKit;
    let owner: Person;
    let other: Person;
    const records = {} as { list: string; brief: string; target: string; foreign: string };
    const sync = (payload: unknown, key = owner.key) => kit.as(key, 'POST', SYNCS, payload);
    const record = async ({ key, workspace_id }: Person, kind: string, payload: object) => (await kit.as(key, 'POST', `/api/workspaces/${workspace_id}/${kind}`, payload)).body.id as string;
    const read = async (kind: string, id: string) => (await kit.as(owner.key, 'GET', `/api/workspaces/${owner.workspace_id}/${kind}/${id}`)).body;

    before(async () => {
      kit = await workspacesKit(database, { plugins: ['reader', 'discovery'], config: { max_list_items: 600 }, listen: true });
      [owner, other] = [await kit.person(), await kit.person()];
      records.list = await record(owner, 'lists', { name: 'Found' });
      records.brief = await record(owner, 'briefs', { title: 'Renters' });
      records.target = await record(owner, 'coverage-targets', { place: 'gladstone,missouri', issue_areas: ['housing_affordability'] });
      records.foreign = await record(other, 'lists', { name: 'Theirs' });
    });
    after(() => kit.close());

    it('adds the entries to the records of the workspace that the bundle names, each once', async () => {
      const links = { list_id: records.list, brief_id: records.brief, coverage_target_id: records.target };
      const sent = bundle({ links, entries: [entry('e1', `Linked ${newId()}`), entry('e2', `Linked ${newId()}`)] });
      const { status, body } = await sync(sent);
      expect([status, body.workspace_links], JSON.stringify(body)).to.equal([201, { lists: [records.list], briefs: [records.brief], coverage_targets: [records.target] }]);
      const third = (await sync({ ...sent, entries: [...sent.entries, entry('e3', `Linked ${newId()}`)] })).body;
      const ids = third.entry_links.map(({ entity_id: id }: { entity_id: string }) => id);
      const [list, brief] = [await read('lists', records.list), await read('briefs', records.brief)];
      expect([list.item_count, list.items.map(({ entity_id: id }: { entity_id: string }) => id).sort()]).to.equal([3, ids.toSorted()]);
      expect([brief.entity_ids.toSorted(), brief.run_ids]).to.equal([ids.toSorted(), [body.run_id]]);
      expect((await kit.as(owner.key, 'GET', `/api/discovery-runs/${body.run_id}`)).body.sync.links).to.equal(links);
    });

    it('stores nothing where a record is unknown, of another workspace or full, or the key may not change records', async () => {
      const total = async () => (await kit.as(owner.key, 'GET', '/api/discovery-runs')).body.total;
      const before = await total();
      const code = async (links: object, key = owner.key, more: object = {}) => { const { status, body } = await sync(bundle({ links, ...more }), key); return [status, body.code]; };
      expect(await code({ list_id: records.foreign })).to.equal([404, 'unknown_list']);
      expect(await code({ brief_id: newId() })).to.equal([404, 'unknown_brief']);
      expect(await code({ coverage_target_id: 'none' })).to.equal([404, 'unknown_coverage_target']);
      const narrow = (await kit.run('key create', { account: owner.id, scopes: ['discovery:write'] })).key;
      expect(await code({ list_id: records.list }, narrow)).to.equal([403, 'insufficient_scope']);
      const many = Array.from({ length: 300 }, (_, at) => entry(`m${at}`, `Many ${at} ${newId()}`));
      expect(await code({ list_id: records.list }, owner.key, { entries: many })).to.equal([201, undefined]);
      expect(await code({ list_id: records.list }, owner.key, { entries: many.map((one) => ({ ...one, local_id: `n${one.local_id}` })) })).to.equal([409, 'list_full']);
      expect(await total()).to.equal(before + 1);
      expect((await sync(bundle(), narrow)).status).to.equal(201);
    });

    it('never stores people who asked not to be listed', async () => {
      await kit.run('unlisted add', { name: 'Ada Brandt', place: 'gladstone,missouri' });
      const sent = bundle({ entries: [entry('e1', `Beside ${newId()}`), entry('e2', 'Ada Brandt', 'person')] });
      const { status, body } = await sync(sent);
      expect([status, body.code, body.errors[0].pointer]).to.equal([409, 'unlisted_person', '/entries/1']);
      expect((await sync({ ...sent, entries: [sent.entries[0]] })).body.entry_links[0].action).to.equal('created');
    });

    it('rejects one byte more than 32 MB, also without a length, and does not make others wait for 500 entries', async () => {
      const post = (length: number) => new Promise<number>((done, fail) => {
        const sending = httpRequest(`${kit.url}${SYNCS}`, { method: 'POST', headers: { 'x-api-key': owner.key, 'content-type': 'application/json', 'transfer-encoding': 'chunked' } }, (response) => { response.resume().on('end', () => { done(response.statusCode!); }); });
        sending.on('error', fail);
        const text = JSON.stringify(bundle());
        for (let left = length - text.length; left > 0; left -= MEGABYTE) sending.write(' '.repeat(Math.min(left, MEGABYTE)));
        sending.end(text);
      });
      expect(await post(32 * MEGABYTE + 1)).to.equal(413);
      const sent = bundle({ entries: Array.from({ length: 500 }, (_, at) => entry(`e${at}`, `Entry ${at} ${newId()}`)) });
      let isDone = false;
      const stored = sync(sent).then((response) => { isDone = true; return response; });
      let longest = 0;
      while (!isDone) {
        const start = performance.now();
        await kit.as(other.key, 'POST', `/api/workspaces/${other.workspace_id}/notes`, { text: 'Meanwhile' });
        longest = Math.max(longest, performance.now() - start);
      }
      const { status, body } = await stored;
      expect([status, body.entries_persisted]).to.equal([201, 500]);
      expect(longest).to.be.below(1000 * slowness);
    });

    it('deletes synced runs with their workspace', async () => {
      const { id, name } = (await kit.as(owner.key, 'POST', '/api/workspaces', { name: 'Short' })).body;
      const key = (await kit.run('key create', { account: owner.id, workspace: id })).key;
      const { body } = await sync(bundle(), key);
      expect((await kit.as(owner.key, 'DELETE', `/api/workspaces/${id}?name=${name}`)).status).to.equal(204);
      expect(await kit.db.read('discovery_runs').where({ id: body.run_id })).to.equal([]);
    });
  });
}
