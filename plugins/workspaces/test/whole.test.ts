import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { workspacesKit, type Person, type WorkspacesKit } from './kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const PLACE = 'gladstone,missouri';

for (const database of testDatabases()) describe(`Exports of a workspace, on ${database}`, () => {
  let kit: WorkspacesKit;
  let ada: Person;
  let bob: Person;
  before(async () => {
    kit = await workspacesKit(database, { plugins: ['firehose'] });
    [ada, bob] = [await kit.person(), await kit.person()];
  });
  after(() => kit.close());

  const ask = (person: Person, method: string, path: string, payload?: unknown) => kit.as(person.key, method, `/api/workspaces/${person.workspace_id}${path}`, payload);

  it('have all records in one file, whose parts are imported again', async () => {
    const [kept, gone] = [await kit.actor('River Watch'), await kit.actor('Closed group')];
    const list = (await ask(ada, 'POST', '/lists', { name: 'To call', description: 'Before June' })).body;
    await ask(ada, 'POST', `/lists/${list.id}/items`, { entity_id: kept.id, note: 'First' });
    await ask(ada, 'POST', '/lists', { name: 'Empty' });
    await ask(ada, 'POST', '/notes', { target: { type: 'entity', id: kept.id }, text: 'A note' });
    await ask(ada, 'POST', '/coverage-targets', { place: PLACE, issue_areas: ['housing_affordability'], wanted: 2 });
    await ask(ada, 'POST', '/reviews', { target: { type: 'entity', id: kept.id }, status: 'confirmed' });
    await ask(ada, 'POST', '/briefs', { title: 'Rents', scope: { places: [PLACE] }, entity_ids: [kept.id, gone.id] });
    await ask(ada, 'POST', '/watches', { target: { type: 'place', id: PLACE }, delivery: 'immediate' });
    await ask(ada, 'POST', '/watches', { target: { type: 'query', query: { places: [PLACE], signal_types: ['vote'] } } });
    await kit.request('DELETE', `/api/entities/${gone.id}`, { as: { role: 'reviewer', scope: ['entities:write'] } });

    const exported = await ask(ada, 'GET', '/export');
    expect(exported.headers).to.include({ 'content-disposition': 'attachment; filename="workspace.json"', 'cache-control': 'private, no-store' });
    const file = exported.body;
    expect(file).to.include({ format: 'civic workspace export', version: 1, kind: 'workspace' });
    expect(file.import).to.contain('/notes/import');
    expect(file.not_imported.join(' ')).to.contain('usage').and.to.contain('feeds');
    const import_ = async (path: string, body: unknown) => {
      const { status, text } = await ask(bob, 'POST', path, body);
      expect(status, `${path}: ${text}`).to.be.within(200, 201);
      expect(text).to.contain(path.endsWith('/import') ? '"rejected":[]' : '"id"');
    };
    for (const one of file.lists) await import_('/lists/import', one);
    await import_('/coverage-targets/import', file.coverage_targets);
    await import_('/notes/import', file.notes);
    await import_('/reviews/import', file.reviews);
    for (const one of file.briefs) await import_('/briefs', one);
    for (const one of file.watches) await import_('/watches', one);

    const again = (await ask(bob, 'GET', '/export')).body;
    expect(plain(again)).to.equal(plain(file));
    expect(again.briefs[0].entity_ids).to.equal([kept.id]);
    expect((await kit.as(bob.key, 'GET', `/api/workspaces/${ada.workspace_id}/export`)).status).to.equal(404);
    expect((await ask(ada, 'GET', '/usage')).body.data[0]).to.include({ meter: 'exports', amount: 1 });
  });

  /** What people wrote, without ids, times and authors; the order of an import is that of the file. */
  function plain({ lists, notes, coverage_targets: targets, reviews, briefs, watches }: any) {
    const sorted = (values: unknown[]) => values.map((value) => JSON.stringify(value)).sort();
    return {
      lists: sorted(lists.map(({ records: [{ name, description, items }] }: any) => [name, description, items.map(({ entity_id, note }: any) => [entity_id, note])])),
      notes: sorted(notes.records.map(({ target, text }: any) => [target?.id, text])),
      targets: sorted(targets.records.map(({ place, issue_areas, wanted }: any) => [place.place_key, issue_areas, wanted])),
      reviews: sorted(reviews.records.map(({ target, status, note }: any) => [target.id, status, note])),
      briefs: sorted(briefs.map(({ title, scope, summary_md, entity_ids }: any) => [title, scope, summary_md, entity_ids])),
      watches: sorted(watches.map(({ target, delivery }: any) => [target, delivery])),
    };
  }

  it('keep the name and the description of a list in CSV, and create no list from a CSV that cannot be read', async () => {
    const list = (await ask(ada, 'GET', '/lists')).body.data.find(({ name }: { name: string }) => name === 'To call');
    const csv = (await ask(ada, 'GET', `/lists/${list.id}/export?format=csv`)).text;
    const post = (payload: string) => kit.request('POST', `/api/workspaces/${bob.workspace_id}/lists/import`, { payload, headers: { 'x-api-key': bob.key, 'content-type': 'text/csv' } });
    expect((await post(csv)).body).to.equal({ created: 1, rejected: [] });
    const { data, total } = (await ask(bob, 'GET', '/lists')).body;
    expect(data[0]).to.include({ name: 'To call', description: 'Before June', item_count: 1 });
    expect((await post('entity_id,note\n"open')).body.code).to.equal('invalid_request');
    expect((await ask(bob, 'GET', '/lists')).body.total).to.equal(total);
  });

  it('state in each file what cannot be imported', async () => {
    const stated: Record<string, string> = {
      '/usage/export': '"import":"Usage cannot be imported."', '/usage/export?format=csv': 'Usage cannot be imported.',
      '/notes/export': '"import":', '/notes/export?format=md': 'This file is for reading.',
    };
    const brief = (await ask(ada, 'GET', '/briefs')).body.data[0].id;
    for (const format of ['csv', 'md', 'html']) stated[`/briefs/${brief}/export?format=${format}`] = 'can be imported';
    stated[`/briefs/${brief}/export`] = '"not_imported":';
    for (const [path, words] of Object.entries(stated)) expect((await ask(ada, 'GET', path)).text, path).to.contain(words);
  });
});
