import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { workspacesKit, type Person, type WorkspacesKit } from './kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const AREA = 'housing_affordability';

for (const database of testDatabases()) {
  describe(`Notes, coverage targets and reviews on ${database}`, () => {
    let kit: WorkspacesKit;
    let ada: Person;
    let home: string;
    let actor: any;

    before(async () => {
      kit = await workspacesKit(database);
      ada = await kit.person();
      home = `/api/workspaces/${ada.workspace_id}`;
      actor = await kit.actor('=Tenants, "Union"');
    });
    after(() => kit.close());

    const ask = (method: string, path: string, payload?: unknown, headers?: Record<string, string>) => kit.as(ada.key, method, `${home}${path}`, payload, headers);
    const created = async (path: string, payload: object) => {
      const made = await ask('POST', path, payload);
      expect(made.status, made.text).to.equal(201);
      return made.body;
    };

    it('keep notes about actors, places, sources and nothing in particular', async () => {
      const [source] = actor.sources;
      const free = await created('/notes', { text: 'Free' });
      expect(free.target).to.be.null();
      const about = await created('/notes', { target: { type: 'entity', id: actor.id }, text: '=HYPERLINK("https://example.org")\nSecond line' });
      expect(about.target).to.equal({ type: 'entity', id: actor.id, state: 'current', name: '=Tenants, "Union"', merged_into: null });
      const place = await created('/notes', { target: { type: 'place', id: 'gladstone-mo' }, text: 'Meets on Mondays' });
      expect(place.target).to.include({ id: 'gladstone,missouri', state: 'current', name: 'Gladstone, MO' });
      expect((await created('/notes', { target: { type: 'source', id: source.id }, text: 'Good' })).target).to.include({ name: source.title ?? source.url });

      for (const [target, code] of [[{ type: 'entity', id: 'none' }, 'unknown_actor'], [{ type: 'place', id: 'nowhere,nowhere' }, 'unknown_place'], [{ type: 'source', id: actor.id }, 'unknown_source'], [{ type: 'key', id: 'x' }, 'invalid_request']] as const) {
        expect((await ask('POST', '/notes', { target, text: 'x' })).body.code, code).to.equal(code);
      }
      expect((await ask('GET', `/notes?target_type=entity&target_id=${actor.id.toUpperCase()}`)).body.data.map(({ id }: any) => id)).to.equal([about.id]);
      expect((await ask('PATCH', `/notes/${about.id}`, { target: null })).body).to.include({ target: null, text: about.text });
      await ask('PATCH', `/notes/${about.id}`, { target: { type: 'entity', id: actor.id } });
    });

    it('compute how far a coverage target is from public entries', async () => {
      const target = await created('/coverage-targets', { place: 'gladstone,missouri', issue_areas: [AREA, 'public_transit'], wanted: 1, note: 'By June' });
      expect(target).to.include({ state: 'partial', wanted: 1, note: 'By June' });
      expect(target.progress.map(({ found, state }: any) => [found, state])).to.equal([[1, 'met'], [0, 'missing']]);
      expect((await ask('PATCH', `/coverage-targets/${target.id}`, { issue_areas: [AREA] })).body.state).to.equal('met');
      await kit.actor('Private tenants', { workspace_id: ada.workspace_id }, 'workspace');
      await ask('PATCH', `/coverage-targets/${target.id}`, { wanted: 2 });
      expect((await ask('GET', `/coverage-targets/${target.id}`)).body, 'private entries do not count').to.include({ state: 'partial' });
      await kit.actor('Second union');
      expect((await ask('GET', `/coverage-targets/${target.id}`)).body.state).to.equal('met');
      expect((await ask('POST', '/coverage-targets', { place: 'gladstone,missouri', issue_areas: ['none'], wanted: 1 })).body.errors[0].pointer).to.equal('/issue_areas/0');
    });

    it('record one review of an actor, by reviewers of the workspace', async () => {
      const review = await created('/reviews', { target: { type: 'entity', id: actor.id } });
      expect(review).to.include({ status: 'to_review', note: null, decided_by: ada.id });
      const again = await ask('POST', '/reviews', { target: { type: 'entity', id: actor.id } });
      expect([again.status, again.body.code, again.body.review_id]).to.equal([409, 'already_reviewed', review.id]);
      kit.clock.advance(1000);
      const noted = (await ask('PATCH', `/reviews/${review.id}`, { note: 'Called' })).body;
      expect(noted.decided_at, 'a note is no decision').to.equal(review.decided_at);
      expect((await ask('PATCH', `/reviews/${review.id}`, { status: 'confirmed' })).body).to.include({ status: 'confirmed', decided_at: kit.clock.iso() });
      expect((await ask('GET', '/reviews?status=rejected')).body.total).to.equal(0);
      for (const [id, total] of [[actor.id, 1], ['none', 0], [actor.id.slice(0, -1), 0]]) expect((await ask('GET', `/reviews?target_id=${id}`)).body.total, id).to.equal(total);
      expect((await ask('GET', '/reviews?status=rejected&status=confirmed')).body.total).to.equal(1);
      const others = await Promise.all(Array.from({ length: 3 }, async () => (await ask('POST', '/reviews', { target: { type: 'entity', id: actor.id } })).status));
      expect(others).to.equal([409, 409, 409]);
    });

    it('are exported as JSON, CSV and Markdown, and imported again', async () => {
      const bob = await kit.person();
      const bobs = `/api/workspaces/${bob.workspace_id}`;
      const texts = async (path: string) => (await kit.as(bob.key, 'GET', `${bobs}${path}`)).body.data;
      for (const [kind, shown] of [['notes', ({ target, text }: any) => [target?.id ?? null, text]], ['coverage-targets', ({ place, issue_areas, wanted, note }: any) => [place.place_key, issue_areas, wanted, note]], ['reviews', ({ target, status, note }: any) => [target.id, status, note]]] as const) {
        const own = (await ask('GET', `/${kind}`)).body.data.map(shown);
        const json = await ask('GET', `/${kind}/export`);
        expect(json.headers['content-disposition']).to.equal(`attachment; filename="${kind}.json"`);
        expect(json.body).to.include({ format: 'civic workspace export', version: 1, kind });
        expect((await kit.as(bob.key, 'POST', `${bobs}/${kind}/import`, json.body)).body).to.equal({ created: own.length, rejected: [] });
        expect((await texts(`/${kind}`)).map(shown).reverse(), kind).to.equal(own);
        for (const { id } of await texts(`/${kind}`)) await kit.as(bob.key, 'DELETE', `${bobs}/${kind}/${id}`);

        const csv = await ask('GET', `/${kind}/export?format=csv`);
        expect(String(csv.headers['content-type'])).to.startWith('text/csv');
        const imported = await kit.request('POST', `${bobs}/${kind}/import`, { payload: csv.text, headers: { 'x-api-key': bob.key, 'content-type': 'text/csv' } });
        expect(imported.body, imported.text).to.equal({ created: own.length, rejected: [] });
        expect((await texts(`/${kind}`)).map(shown).reverse(), kind).to.equal(own);

        const markdown = await ask('GET', `/${kind}/export?format=md`);
        expect(markdown.text).to.contain('This file is for reading. Import the JSON or the CSV export instead.');
      }
      const cells = (await ask('GET', '/notes/export?format=csv')).text;
      expect(cells).to.contain("\"'=HYPERLINK(").and.to.contain("'=Tenants");
      expect((await ask('GET', '/notes/export?format=md')).text).to.contain('> =HYPERLINK\\("https://example.org"\\)\n> Second line');
    });

    it('report the rows of an import that are refused, and create the others', async () => {
      const records = [{ text: 'Good' }, { text: '' }, { target: { type: 'entity', id: 'none' }, text: 'Bad' }, { text: 7 }];
      const before = (await ask('GET', '/notes')).body.total;
      const report = (await ask('POST', '/notes/import', { format: 'civic workspace export', version: 1, kind: 'notes', records })).body;
      expect(report.created).to.equal(1);
      expect(report.rejected.map(({ row, code }: any) => [row, code])).to.equal([[2, 'invalid_request'], [3, 'unknown_actor'], [4, 'invalid_request']]);
      expect((await ask('GET', '/notes')).body.total).to.equal(before + 1);
      expect((await ask('POST', '/notes/import', { format: 'civic workspace export', version: 1, kind: 'lists', records: [] })).body.code).to.equal('invalid_request');
      expect((await ask('POST', '/notes/import', { records: [] })).status).to.equal(400);
      const rows = await kit.request('POST', `/api/workspaces/${ada.workspace_id}/notes/import`, { payload: `text\r\n${'x\r\n'.repeat(5001)}`, headers: { 'x-api-key': ada.key, 'content-type': 'text/csv' } });
      expect([rows.status, rows.body.detail]).to.equal([400, 'The CSV has more than 5000 rows: import it in parts.']);
      expect((await ask('GET', '/notes')).body.total).to.equal(before + 1);
    });

    it('export lists with merged and deleted entries, and import what is still there', async () => {
      const list = await created('/lists', { name: '+Groups', description: 'To call' });
      const gone = await kit.actor('Soon gone');
      await ask('POST', `/lists/${list.id}/items`, { entity_id: actor.id, note: 'First' });
      await ask('POST', `/lists/${list.id}/items`, { entity_id: gone.id });
      await kit.request('DELETE', `/api/entities/${gone.id}`, { as: { role: 'reviewer', scope: ['entities:write'] } });
      expect((await ask('GET', `/lists/${list.id}/export?format=csv`)).text).to.contain(`${gone.id},,deleted,`).and.to.contain("'+Groups");
      expect((await ask('GET', `/lists/${list.id}/export?format=md`)).text).to.contain('(deleted)');
      const report = (await ask('POST', '/lists/import', (await ask('GET', `/lists/${list.id}/export`)).body)).body;
      expect([report.created, report.rejected.map(({ row, code }: any) => [row, code])]).to.equal([1, [[2, 'unknown_actor']]]);
      const [copy] = (await ask('GET', '/lists')).body.data;
      expect(copy).to.include({ name: '+Groups', description: 'To call', item_count: 1 });
      expect(copy.id).to.not.equal(list.id);
    });
  });
}
