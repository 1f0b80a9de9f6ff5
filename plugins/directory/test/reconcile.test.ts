import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from 'civic/testing';
import { actorPayload, directoryKit, type DirectoryKit, type ActorProperties } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

interface Result {
  id: string;
  name: string;
  score: number;
  match: boolean;
  type: { id: string; name: string }[];
  features: { id: string; value: number }[];
}

for (const database of testDatabases()) describe(`The reconciliation service, on ${database}`, { timeout: 60_000 }, () => {
  let kit: DirectoryKit;
  const ids: Record<string, string> = {};

  const enter = async (key: string, what: ActorProperties, who = 'reviewer') => {
    const { status, body, text } = await kit.send('POST', '/api/entities', actorPayload(what), who);
    expect(status, text).to.equal(201);
    ids[key] = body.id;
  };
  const form = (fields: Record<string, unknown>) => kit.request('POST', '/reconcile', {
    payload: new URLSearchParams(Object.entries(fields).map(([name, value]): [string, string] => [name, typeof value === 'string' ? value : JSON.stringify(value)])).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' },
  });
  const ask = async (query: object): Promise<Result[]> => {
    const { status, body, text } = await form({ queries: { q0: query } });
    expect(status, text).to.equal(200);
    return body.q0.result;
  };

  before(async () => {
    kit = await directoryKit({ database, clock: stoppedClock('2026-03-02T12:00:00.000Z') });
    const place = 'kansas-city,missouri';
    await enter('union', { name: 'Westside Tenants Union', place, website: 'https://union.example/', identifier: { scheme: 'ein', value: '12-3456789' }, issue_area: 'housing_affordability', description: 'Renters <b>who</b> organize' });
    await enter('far', { name: 'Westside Tenants Union', place: 'omaha,nebraska' });
    await enter('clinic', { name: 'Swope Free Clinic', place });
    await enter('ana', { type: 'person', name: 'Ana María Delgado', place, email: 'ana@council.example', affiliation: { name: 'City Council of Kansas City', role: 'Member' } });
    await enter('hearing', { type: 'event', name: 'Hearing on rents', place, event_start: '2026-03-09T23:30:00Z' });
    await enter('private', { name: 'Secret Garden Club', visibility: 'workspace', place, identifier: { scheme: 'ein', value: '98-1234567' } }, 'member');
  });
  after(() => kit.close());

  it('describes itself and its URLs in its manifest', async () => {
    const { status, headers, body } = await kit.request('GET', '/reconcile', { headers: { origin: 'http://127.0.0.1:3333' } });
    expect([status, headers['access-control-allow-origin']]).to.equal([200, '*']);
    expect(body.versions).to.equal(['0.1', '0.2']);
    expect(body).to.include(['name', 'identifierSpace', 'schemaSpace', 'defaultTypes', 'view', 'preview', 'suggest', 'extend']);
    expect(body.view.url).to.contain('{{id}}');
    expect(body.preview.url).to.contain('{{id}}');
    expect([Number.isInteger(body.preview.width), Number.isInteger(body.preview.height)]).to.equal([true, true]);
    for (const what of ['entity', 'type', 'property']) {
      const { service_url, service_path, flyout_service_url, flyout_service_path } = body.suggest[what];
      expect((await kit.request('GET', new URL(service_url + service_path).pathname + '?prefix=xyzzy')).body).to.equal({ result: [] });
      expect(flyout_service_url + flyout_service_path).to.contain('${id}');
    }
  });

  it('answers the batch that OpenRefine sends, query by query', async () => {
    const queries = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`q${index}`, { query: index % 2 ? 'Swope Free Clinic' : 'westside tenants union', type: 'organization', type_strict: 'should', limit: 3 }]));
    const { status, headers, body } = await form({ queries });
    expect(status).to.equal(200);
    expect(headers['content-type']).to.match(/^application\/json/);
    expect(headers['access-control-allow-origin']).to.equal('*');
    expect(Object.keys(body)).to.equal(Object.keys(queries));
    expect(body.q1.result[0]).to.include({ id: ids.clinic, name: 'Swope Free Clinic', type: [{ id: 'organization', name: 'Organization' }], match: true });
    expect(body.q0.result.map(({ id }: Result) => id).sort()).to.equal([ids.union, ids.far].sort());
    for (const { result } of Object.values(body) as { result: Result[] }[]) for (const one of result) expect(one.score).to.be.between(0, 101);
  });

  it('is sure of nothing when two have the name, until the place says which', async () => {
    expect((await ask({ query: 'Westside Tenants Union' })).map(({ match }) => match)).to.equal([false, false]);
    for (const v of ['Kansas City, MO', 'KCMO', 'kansas-city,missouri', { id: 'x', name: 'Kansas City, Missouri' }, ['Kansas City, MO']]) {
      const [first, second] = await ask({ query: 'Westside Tenants Union', properties: [{ pid: 'place', v }] });
      expect([first!.id, first!.match, second!.match], JSON.stringify(v)).to.equal([ids.union, true, false]);
      expect(first!.features).to.include([{ id: 'name', value: 100 }, { id: 'place', value: 100 }]);
    }
  });

  it('takes an EIN or a website as evidence, and a wrong EIN as evidence against', async () => {
    const [first] = await ask({ query: 'Westside Renters', properties: [{ pid: 'ein', v: '123456789' }] });
    expect([first!.id, first!.match]).to.equal([ids.union, true]);
    expect((await ask({ query: 'Westside Tenants Union', properties: [{ pid: 'website', v: 'http://www.union.example' }] }))[0]).to.include({ id: ids.union, match: true });
    for (const [pid, v] of [['ein', '12-3456789'], ['website', 'https://union.example'], ['identifier', 'ein:123456789']]) expect((await ask({ properties: [{ pid, v }] }))[0]?.id, pid).to.equal(ids.union);
    expect((await ask({ query: 'WTU', properties: [{ pid: 'ein', v: '12-3456789' }] }))[0]).to.include({ id: ids.union, match: true });
    const wrong = await ask({ query: 'Westside Tenants Union', properties: [{ pid: 'ein', v: '98-7654321' }, { pid: 'place', v: 'Kansas City, MO' }] });
    expect(wrong.filter(({ match }) => match)).to.equal([]);
  });

  it('never takes a person for the one of that name alone, nor by name and town', async () => {
    const name = 'Ana María Delgado';
    for (const properties of [[], [{ pid: 'place', v: 'Kansas City, MO' }]]) {
      const [first] = await ask({ query: name, type: 'person', properties });
      expect([first!.id, first!.match]).to.equal([ids.ana, false]);
    }
    expect((await ask({ query: name, properties: [{ pid: 'email', v: 'ana@council.example' }] }))[0]).to.include({ id: ids.ana, match: true });
    expect((await ask({ query: 'Ana Maria Delgado', properties: [{ pid: 'affiliation', v: 'City Council of Kansas City' }] }))[0]).to.include({ id: ids.ana, match: true });
  });

  it('finds names that are written otherwise: accents, order, a typing error, a word more or less', async () => {
    for (const query of ['Delgado, Ana Maria', 'ANA MARIA DELGADO', 'Ana María Delgdo']) expect((await ask({ query }))[0]?.id, query).to.equal(ids.ana);
    for (const query of ['The Swope Free Clinic, Inc.', 'Swope Clinic', 'Swope Free Community Clinic', 'Swoope Free Clinic']) expect((await ask({ query }))[0]?.id, query).to.equal(ids.clinic);
  });

  it('keeps to the types that are asked for, as a text or a list', async () => {
    expect(await ask({ query: 'Westside Tenants Union', type: 'person' })).to.equal([]);
    expect(await ask({ query: 'Westside Tenants Union', type: 'http://elsewhere.example/Thing' })).to.equal([]);
    expect(await ask({ query: 'Westside Tenants Union', type: ['person', 'organization'] })).to.have.length(2);
    expect(await ask({ query: 'Westside Tenants Union', limit: 1 })).to.have.length(1);
    expect(await ask({ query: 'Westside Tenants Union', limit: 1000 })).to.have.length(2);
  });

  it('returns no private actors of a workspace', async () => {
    expect(await ask({ query: 'Secret Garden Club' })).to.equal([]);
    expect(await ask({ query: 'Secret Garden Club', properties: [{ pid: 'ein', v: '98-1234567' }, { pid: 'place', v: 'KCMO' }] })).to.equal([]);
    expect((await kit.get('/reconcile/suggest/entity?prefix=secret', 'member')).body).to.equal({ result: [] });
    expect((await kit.get(`/reconcile/preview?id=${ids.private}`, 'member')).status).to.equal(404);
  });

  it('answers a single query and a GET too, and ignores what it does not know', async () => {
    const get = async (search: string) => (await kit.request('GET', `/reconcile?${search}`)).body;
    expect((await get('query=Swope%20Free%20Clinic&utm=1')).result[0].id).to.equal(ids.clinic);
    expect((await get(`query=${encodeURIComponent('{"query":"Swope Free Clinic","limit":1}')}`)).result[0].id).to.equal(ids.clinic);
    expect((await get(`queries=${encodeURIComponent('{"a":{"query":"Swope Free Clinic","unheard":true}}')}`)).a.result[0].id).to.equal(ids.clinic);
    expect(await get(`queries=${encodeURIComponent('{}')}`)).to.equal({});
    expect(await ask({ query: '   ' })).to.equal([]);
  });

  it('refuses in words of its own what it cannot read, and batches that are too large', async () => {
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`q${index}`, { query: 'x' }]));
    const cases: [string, string][] = [['{', 'is not JSON'], ['[]', 'must be an object'], ['{"q0":{"query":5}}', 'queries.q0'], [JSON.stringify(many), 'at most 50']];
    for (const [queries, words] of cases) {
      const { status, body, headers } = await form({ queries });
      expect([status, body.status], words).to.equal([400, 'error']);
      expect(body.message).to.contain(words);
      expect(headers['content-type']).to.match(/^application\/json/);
    }
    const plain = await kit.request('POST', '/reconcile', { payload: 'queries', headers: { 'content-type': 'text/plain' } });
    expect([plain.status, plain.body.status]).to.equal([415, 'error']);
  });

  it('wraps an answer for old clients in a function, but only by its name', async () => {
    const { headers, text } = await kit.request('GET', '/reconcile?callback=jQuery123_456.done');
    expect(headers['content-type']).to.match(/^text\/javascript/);
    expect(text).to.match(/^\/\*\*\/jQuery123_456\.done\(\{"versions"/);
    expect(headers).to.include({ 'x-content-type-options': 'nosniff', 'cross-origin-resource-policy': 'cross-origin' });
    for (const callback of ['alert(1)//', 'a..alert', 'alert.', '.alert', 'a.b.c.d.alert', '1alert', 'alert\n', '', `${'a'.repeat(96)}alert`]) {
      const { status, text: refused, headers: { 'content-type': type } } = await kit.request('GET', `/reconcile?callback=${encodeURIComponent(callback)}`);
      expect([status, type], callback).to.equal([400, 'application/json; charset=utf-8']);
      expect(refused).to.not.contain('alert');
    }
  });

  it('gives the pages of the instance no script', async () => {
    const script = async (site: string) => (await kit.request('GET', '/reconcile?callback=done', { headers: { 'sec-fetch-site': site, 'sec-fetch-dest': 'script' } })).headers['content-type'];
    expect(await script('same-origin')).to.match(/^application\/json/);
    expect(await script('cross-site')).to.match(/^text\/javascript/);
    expect((await kit.request('GET', '/reconcile', { headers: { 'sec-fetch-site': 'same-origin' } })).status).to.equal(200);
  });

  it('suggests actors, types and properties by their beginning', async () => {
    const result = async (path: string) => (await kit.request('GET', `/reconcile/suggest/${path}`)).body.result;
    expect((await result('entity?prefix=swo'))[0]).to.include({ id: ids.clinic, name: 'Swope Free Clinic', notable: [{ id: 'organization', name: 'Organization' }] });
    expect(await result('entity?prefix=westside&type=person')).to.equal([]);
    expect(await result('entity?prefix=westside&cursor=1')).to.have.length(1);
    expect((await result('type?prefix=org')).map(({ id }: { id: string }) => id)).to.equal(['organization']);
    expect((await result('property?prefix=web')).map(({ id }: { id: string }) => id)).to.equal(['website']);
    expect(await result('property?prefix=')).to.not.be.empty();
  });

  it('shows an actor as a small page that a frame may hold and that runs nothing', async () => {
    const { status, headers, text } = await kit.request('GET', `/reconcile/preview?id=${ids.union}`);
    expect(status).to.equal(200);
    expect(headers['content-type']).to.match(/^text\/html/);
    expect(headers['content-security-policy']).to.contain(["default-src 'none'", 'frame-ancestors *']).and.to.not.contain('unsafe');
    expect(text).to.contain(['Westside Tenants Union', 'Kansas City, MO', 'https://union.example/', '&lt;b&gt;who']);
    expect(text).to.not.contain('<b>who');
    expect((await kit.request('GET', '/reconcile/preview?id=nobody')).status).to.equal(404);
    expect((await kit.request('GET', `/reconcile/flyout/entity?id=${ids.union}`)).body).to.include({ id: ids.union });
    expect((await kit.request('GET', '/reconcile/flyout/type?id=person')).body.html).to.contain('Person');
    expect((await kit.request('GET', '/reconcile/flyout/property?id=nothing')).status).to.equal(404);
  });

  it('adds columns to what was found', async () => {
    const { properties } = (await kit.request('GET', '/reconcile/properties?type=organization&limit=5')).body;
    expect(properties).to.have.length(5);
    const { body } = await form({ extend: { ids: [ids.union, ids.hearing, 'gone'], properties: [{ id: 'website' }, { id: 'place' }, { id: 'event_start' }, { id: 'source_count' }] } });
    expect(body.meta.map(({ id }: { id: string }) => id)).to.equal(['website', 'place', 'event_start', 'source_count']);
    expect(body.rows[ids.union!]).to.equal({ website: [{ str: 'https://union.example/' }], place: [{ str: 'kansas-city,missouri' }], event_start: [], source_count: [{ int: 1 }] });
    expect(body.rows[ids.hearing!].event_start).to.equal([{ date: '2026-03-09T23:30:00.000Z' }]);
    expect(body.rows.gone).to.equal({ website: [], place: [], event_start: [], source_count: [] });
    expect((await form({ extend: { ids: [], properties: [{ id: 'shoe_size' }] } })).status).to.equal(400);
  });
});
