import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from '../../core/testing.ts';
import { actorPayload, directoryKit, type DirectoryKit } from '../../plugins/directory/test/kit.ts';
import { covers } from './rows.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const KC = 'kansas-city,missouri';
const TYPES = ['person', 'organization', 'initiative', 'campaign', 'event'];

for (const database of testDatabases()) describe(`The directory, on ${database}`, { timeout: 60_000 }, () => {
  let civic: DirectoryKit;
  const ids: string[] = [];

  before(async () => {
    civic = await directoryKit({ database });
    for (const type of TYPES) {
      const made = await civic.send('POST', '/api/entities', actorPayload({ name: `A ${type}`, type, place: KC, issue_area: 'public_transit' }), 'reviewer');
      ids.push(made.body.id);
    }
    await civic.send('POST', '/api/entities', actorPayload({ name: 'Far away', place: 'portland,oregon' }), 'reviewer');
  });
  after(() => civic.close());

  it(covers('service.actor-types', 'all five types can be entered, and no other'), async () => {
    const { body } = await civic.get(`/api/places/${KC}/entities`);
    expect(body.data.map(({ type }: { type: string }) => type).sort()).to.equal(TYPES.toSorted());
    expect((await civic.send('POST', '/api/entities', actorPayload({ name: 'X', type: 'robot' }), 'reviewer')).status).to.equal(400);
  });

  it(covers('service.actor-has-sources', 'no actor is answered without a source'), async () => {
    for (const actor of (await civic.get('/api/entities?include=sources')).body.data) expect(actor.sources).to.not.be.empty();
    expect((await civic.send('POST', '/api/entities', { ...actorPayload({ name: 'X' }), sources: [] }, 'reviewer')).status).to.equal(400);
  });

  it(covers('service.source-content', 'a source has its address, title, publication, excerpt and dates'), async () => {
    const [source] = (await civic.get(`/api/entities/${ids[0]}/sources`)).body.data;
    expect(source).to.include(['url', 'title', 'publication', 'excerpt', 'published_at', 'retrieved_at']);
    expect([source.title, source.published_at]).to.equal(['About us', '2026-01-05T00:00:00.000Z']);
  });

  it(covers('service.kept-together', 'one answer has the actor, its places, claims and sources'), async () => {
    const { body } = await civic.get(`/api/entities/${ids[1]}`);
    const known = new Set(body.sources.map(({ id }: { id: string }) => id));
    expect(body.places).to.have.length(1);
    expect(body.claims.length > 3).to.be.true();
    for (const { source_id } of body.claims) expect(known.has(source_id)).to.be.true();
  });

  it(covers('resources.actor-id', 'an id that is cut short is 404'), async () => {
    expect((await civic.get(`/api/entities/${ids[0]}`)).body.id).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect((await civic.get(`/api/entities/${ids[0]!.slice(0, 18)}`)).status).to.equal(404);
    expect((await civic.get(`/api/entities/${ids[0]!.slice(0, 18)}/sources`)).status).to.equal(404);
  });

  it(covers('resources.actor-name', 'lists carry the name'), async () => {
    expect((await civic.get(`/api/places/${KC}/entities`)).body.data[0].name).to.equal('A campaign');
  });

  it(covers('resources.actor-type', 'lists carry the type'), async () => {
    expect((await civic.get(`/api/places/${KC}/entities`)).body.data[0].type).to.equal('campaign');
  });

  it(covers('resources.actor-gone', 'a deleted actor and a merged one are not found'), async () => {
    const [left, right] = await Promise.all(['Left', 'Right'].map(async (name) => (await civic.send('POST', '/api/entities', actorPayload({ name }), 'reviewer')).body.id));
    await civic.send('POST', `/api/entities/${left}/merge`, { into: right }, 'reviewer');
    expect((await civic.get(`/api/entities/${left}`)).status).to.equal(404);
    await civic.send('DELETE', `/api/entities/${right}`, undefined, 'reviewer');
    expect((await civic.get(`/api/entities/${right}`)).status).to.equal(404);
    expect((await civic.get(`/api/entities/${left}`)).body.merged_into).to.be.undefined();
  });

  it(covers('resources.place-key', 'a place is addressed by city and state, and by nothing that is not there'), async () => {
    expect((await civic.get(`/api/places/${KC}/entities`)).body.place.place_key).to.equal(KC);
    expect((await civic.get('/api/places/atlantis,missouri/entities')).status).to.equal(404);
  });

  it(covers('resources.place-key-wrong-form', 'a name with an abbreviation is no key, and the answer says what is'), async () => {
    const { status, body } = await civic.get('/api/places/Kansas%20City%20MO/entities');
    expect(status).to.equal(404);
    expect(body.detail).to.contain('kansas-city,missouri');
  });

  it(covers('resources.source-id', 'a source has an id, and is found by it'), async () => {
    const [source] = (await civic.get(`/api/entities/${ids[0]}/sources`)).body.data;
    expect((await civic.get(`/api/sources/${source.id}`)).body.id).to.equal(source.id);
  });

  it(covers('resources.issue-unknown', 'an issue area that does not exist matches nothing'), async () => {
    for (const path of [`/api/places/${KC}/entities?issue_area=unheard_of`, '/api/entities?issue_area=unheard_of', '/api/entities?place=atlantis,missouri', '/api/entities?state=zz', '/api/entities?state=North%20Carolina']) {
      const { status, body } = await civic.get(path);
      expect([status, body.data, body.total], path).to.equal([200, [], 0]);
    }
  });

  it(covers('endpoints.place-entities', 'everybody sees the actors of a place'), async () => {
    const { status, body } = await civic.get(`/api/places/${KC}/entities`);
    expect([status, body.total, body.next_cursor]).to.equal([200, 5, null]);
    expect((await civic.get('/api/places/kansas-city-mo/entities')).headers['content-location']).to.match(/\/api\/places\/kansas-city,missouri\/entities$/);
    expect((await civic.get('/api/places/st-louis,missouri/entities')).body.data).to.equal([]);
  });

  it(covers('endpoints.place-entities-issue-area', 'they are narrowed by an issue area'), async () => {
    expect((await civic.get(`/api/places/${KC}/entities?issue_area=public_transit`)).body.total).to.equal(5);
    expect((await civic.get(`/api/places/${KC}/entities?issue_area=housing_affordability`)).body.total).to.equal(0);
    expect((await civic.get(`/api/places/${KC}/entities?issue_area=housing_affordability&issue_area=public_transit&entity_type=event`)).body.total).to.equal(1);
  });

  it(covers('endpoints.place-coverage', 'everybody sees what is covered, thin and missing'), async () => {
    const { status, body } = await civic.get(`/api/places/${KC}/coverage`);
    expect([status, body.entity_count, body.source_count, body.covered_issue_areas, body.thin_issue_areas]).to.equal([200, 5, 5, ['public_transit'], []]);
    expect(body.missing_issue_areas).to.have.length(50);
    expect(body.uncovered_domains).to.have.length(10);
    expect(body.by_type).to.equal(TYPES.map((type) => ({ type, count: 1 })));
    expect(body.freshness).to.equal({ fresh: 5, aging: 0, stale: 0, unknown: 0 });
    expect(body.issue_counts.find(({ issue_area }: { issue_area: string }) => issue_area === 'public_transit')).to.include({ entity_count: 5, source_count: 5, status: 'covered' });
  });

  it(covers('endpoints.place-sources', 'everybody sees the sources of a place, page by page'), async () => {
    const first = (await civic.get(`/api/places/${KC}/sources?limit=3`)).body;
    const second = (await civic.get(`/api/places/${KC}/sources?limit=3&cursor=${first.next_cursor}`)).body;
    expect([first.total, first.data.length, second.data.length, second.next_cursor]).to.equal([5, 3, 2, null]);
    expect(new Set([...first.data, ...second.data].map(({ id }) => id)).size).to.equal(5);
  });

  it(covers('endpoints.entities', 'everybody searches actors'), async () => {
    const { status, body } = await civic.get('/api/entities?limit=2');
    expect([status, body.total, body.data.length]).to.equal([200, 6, 2]);
    expect((await civic.get(`/api/entities?cursor=${body.next_cursor}`)).body.data).to.have.length(4);
  });

  it(covers('endpoints.entities-query', 'by free text'), async () => {
    expect((await civic.get('/api/entities?query=camp')).body.data.map(({ name }: { name: string }) => name)).to.equal(['A campaign']);
    expect((await civic.get('/api/entities?query=zebra')).body.total).to.equal(0);
  });

  it(covers('endpoints.entities-state', 'by the abbreviation of a state, in either case'), async () => {
    expect((await civic.get('/api/entities?state=OR')).body.data.map(({ name }: { name: string }) => name)).to.equal(['Far away']);
    expect((await civic.get('/api/entities?state=mo')).body.total).to.equal(5);
  });

  it(covers('endpoints.entity-sources', 'everybody sees the sources of an actor; one that does not exist is 404'), async () => {
    expect((await civic.get(`/api/entities/${ids[0]}/sources`)).body.total).to.equal(1);
    expect((await civic.get('/api/entities/00000000-0000-7000-8000-000000000000/sources')).status).to.equal(404);
  });

  it(covers('auth.public-read', 'all of it is read without credentials'), async () => {
    const paths = ['/api/entities', `/api/entities/${ids[0]}/sources`, `/api/places/${KC}/entities`, `/api/places/${KC}/sources`, `/api/places/${KC}/coverage`, '/api/places?query=kcmo', '/api/issue-areas', '/api/domains'];
    for (const path of paths) expect((await civic.get(path)).status, path).to.equal(200);
  });
});
