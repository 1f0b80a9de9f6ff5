import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { newId } from 'civic';
import { testDatabases } from 'civic/testing';
import { confidenceOf, gapsOf, type AssessedSource } from '../briefs/assess.ts';
import { markdownHtml } from '../briefs/markdown.ts';
import { workspacesKit, type Person, type WorkspacesKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('The confidence of a brief', () => {
  const source = (freshness: AssessedSource['freshness'], isBroken = false): AssessedSource => ({ id: freshness, freshness, isBroken });
  const actors = new Map([['a', new Map([['housing', 3], ['water', 1]])]]);
  const NONE = { places: [], issue_areas: [], actors };

  it('is half the coverage of the scope and half the freshness of the sources', () => {
    const scope = { places: ['a', 'b'], issue_areas: ['housing', 'water'], actors };
    // Covered, thin, missing, missing: 0.375. Fresh and stale: 0.6.
    expect(confidenceOf(scope, [source('fresh'), source('stale')])).to.equal(0.49);
    expect(confidenceOf(scope, [])).to.equal(0.19);
    expect(confidenceOf({ ...scope, places: ['a'], issue_areas: ['housing'] }, [source('fresh')])).to.equal(1);
  });

  it('is the freshness alone without places, and 0 without anything', () => {
    expect(confidenceOf(NONE, [source('aging')])).to.equal(0.6);
    expect(confidenceOf(NONE, [source('fresh', true)])).to.equal(0);
    expect(confidenceOf(NONE, [])).to.equal(0);
  });

  it('comes with its gaps', () => {
    const scope = { places: ['a'], issue_areas: ['housing', 'water', 'transit'], actors };
    const gaps = gapsOf(scope, [source('fresh'), source('aging'), source('stale', true)], { sources: ['s'], entities: ['e'] });
    expect(gaps.map(({ type, issue_area, source_id, entity_id }) => [type, issue_area ?? source_id ?? entity_id])).to.equal([
      ['thin_coverage', 'water'], ['missing_coverage', 'transit'], ['aging_source', 'aging'], ['broken_source', 'stale'], ['unavailable_source', 's'], ['unavailable_entity', 'e'],
    ]);
    expect(gapsOf(NONE, [], { sources: [], entities: [] }).map(({ type }) => type)).to.equal(['no_sources']);
  });
});

describe('The Markdown of a brief', () => {
  it('becomes HTML below the heading of its section', async () => {
    expect(await markdownHtml('## One\n\n### Two')).to.equal('<h3>One</h3>\n<h4>Two</h4>');
    expect(await markdownHtml('# Rents\n\n*Up* by [a tenth](https://example.org/?a=1&b=2)')).to.equal('<h3>Rents</h3>\n<p><em>Up</em> by <a rel="nofollow noopener noreferrer" href="https://example.org/?a=1&amp;b=2">a tenth</a></p>');
  });

  it('has no HTML, script, image or local address of its author', async () => {
    const html = await markdownHtml([
      '<script>alert(1)</script>', '<img src=x onerror=alert(1)>', '![x](https://evil.example/pixel.png)', '[a](javascript:alert(1))', '[b](JaVaScRiPt:alert(1))', '[c](data:text/html,x)',
      '[d](/account)', '[e](//evil.example)', '[f](vbscript:x)', '<https://ok.example/"onmouseover=x>', '<h1 onclick=x>y</h1>', '[g](https://ok.example "a\\" onclick=x b")',
    ].join('\n\n'));
    expect(html).to.not.match(/<(script|img|h1)/);
    expect(html.replaceAll(/"[^"]*"/g, '""')).to.not.match(/<[^>]*\son\w+=/);
    expect([...html.matchAll(/href="([^"]*)"/g)].map(([, url]) => url).filter((url) => !url!.startsWith('https://'))).to.equal([]);
    expect(html).to.contain('&lt;script&gt;');
  });
});

for (const database of testDatabases()) describe(`Briefs, on ${database}`, () => {
  let kit: WorkspacesKit;
  let ada: Person;
  let bob: Person;
  let union: any;
  let secret: any;
  before(async () => {
    kit = await workspacesKit(database);
    [ada, bob] = [await kit.person(), await kit.person()];
    union = await kit.actor('Tenants Union');
    secret = await kit.actor('=HYPERLINK("x")', { workspace_id: ada.workspace_id, account_id: ada.id }, 'workspace');
  });
  after(() => kit.close());

  const path = (person: Person, rest = '') => `/api/workspaces/${person.workspace_id}/briefs${rest}`;
  const create = (body: object, person = ada) => kit.as(person.key, 'POST', path(person), body);
  const BRIEF = { title: 'Rents in Gladstone', scope: { places: ['gladstone-mo'], issue_areas: ['housing_affordability', 'energy_transition'] }, summary_md: '**Private** finding' };
  let brief: any;

  it('are created with computed confidence and gaps', async () => {
    const made = await create({ ...BRIEF, entity_ids: [union.id, secret.id], run_ids: [newId()] });
    expect(made.status).to.equal(201);
    brief = made.body;
    expect(brief).to.include({ title: BRIEF.title, summary_md: BRIEF.summary_md, entity_ids: [union.id, secret.id], created_by: ada.id });
    expect(brief.scope).to.equal({ places: ['gladstone,missouri'], issue_areas: BRIEF.scope.issue_areas });
    // Thin and missing are 0.25, fresh sources 1.
    expect(brief.confidence).to.equal(0.63);
    expect(brief.gaps.map(({ type, issue_area }: any) => [type, issue_area])).to.equal([['thin_coverage', 'housing_affordability'], ['missing_coverage', 'energy_transition']]);
    expect((await kit.as(ada.key, 'GET', path(ada))).body).to.include({ total: 1 });
  });

  it('are changed, and keep ids of records that were deleted later', async () => {
    const gone = await kit.actor('Short-lived');
    const made = (await create({ title: 'Two', entity_ids: [gone.id] })).body;
    expect((await kit.request('DELETE', `/api/entities/${gone.id}`, { as: { role: 'reviewer', scope: ['entities:write'] } })).status).to.equal(204);
    const changed = await kit.as(ada.key, 'PATCH', path(ada, `/${made.id}`), { title: 'Two again', entity_ids: [gone.id, union.id] });
    expect(changed.body).to.include({ title: 'Two again', entity_ids: [gone.id, union.id] });
    expect(changed.body.gaps).to.equal([{ type: 'unavailable_entity', place: null, issue_area: null, source_id: null, entity_id: gone.id }]);
    const exported = (await kit.as(ada.key, 'GET', path(ada, `/${made.id}/export`))).body;
    expect(exported.not_imported).to.equal({ entity_ids: [gone.id], source_ids: [] });
    expect((await create(exported.brief)).status).to.equal(201);
    expect((await kit.as(ada.key, 'DELETE', path(ada, `/${made.id}`))).status).to.equal(204);
  });

  it('refer only to what their workspace may see', async () => {
    expect((await create({ title: 'x', entity_ids: [secret.id] }, bob)).body.code).to.equal('unknown_actor');
    expect((await create({ title: 'x', source_ids: [newId()] })).body.code).to.equal('unknown_source');
    const wrong = await create({ title: 'x', scope: { places: ['nowhere,missouri'], issue_areas: ['no_such'] } });
    expect([wrong.status, wrong.body.errors.map(({ pointer }: any) => pointer)]).to.equal([400, ['/scope/places/0', '/scope/issue_areas/0']]);
    expect((await kit.as(bob.key, 'GET', path(ada, `/${brief.id}`))).status).to.equal(404);
    expect((await kit.as(bob.key, 'GET', path(ada, `/${brief.id}/export?format=md`))).status).to.equal(404);
    expect((await kit.as(bob.key, 'GET', path(bob, `/${brief.id}/export`))).body.code).to.equal('unknown_brief');
  });

  it('are exported and imported again', async () => {
    const { body: exported, headers } = await kit.as(ada.key, 'GET', path(ada, `/${brief.id}/export?format=json`));
    expect(headers['content-disposition']).to.match(/^attachment/);
    expect(exported.public_records.entities.map(({ name }: any) => name)).to.equal(['Tenants Union']);
    expect(exported.private_records.entities.map(({ name }: any) => name)).to.equal(['=HYPERLINK("x")']);
    const again = (await create(exported.brief)).body;
    const content = ({ id: _id, created_at: _created, updated_at: _updated, ...rest }: any) => rest;
    expect(again.id).to.not.equal(brief.id);
    expect(content(again)).to.equal(content(brief));
  });

  it('keep public records and private notes apart in every format, and cite every source', async () => {
    const text = async (format: string) => (await kit.as(ada.key, 'GET', path(ada, `/${brief.id}/export?format=${format}`))).text;
    const csv = await text('csv');
    expect(csv).to.contain('public,entity,').and.to.contain(`private,entity,,${secret.id},"'=HYPERLINK(""x"")"`).and.to.contain('can be imported');
    const markdown = await text('md');
    expect(markdown.indexOf('## Private note')).to.be.below(markdown.indexOf('## Public records'));
    expect(markdown.indexOf('Tenants Union')).to.be.below(markdown.indexOf('## Records of this workspace only'));
    const html = await text('html');
    const [shared, own] = html.split('Records of this workspace only') as [string, string];
    expect(shared).to.contain('Tenants Union').and.to.contain('href="#source-1"').and.to.contain('id="source-1"').and.to.contain('<strong>Private</strong>');
    expect(own).to.contain('=HYPERLINK(&quot;x&quot;)').and.to.contain('id="source-2"');
  });

  // Threads format it, whatever the database.
  if (database === 'sqlite') it('keep the server responding while a text is formatted that takes minutes, and show it as it is written', async () => {
    const made = (await create({ title: 'Deep', summary_md: '>'.repeat(50_000) })).body;
    let [longest, latest] = [0, performance.now()];
    const ticking = setInterval(() => {
      longest = Math.max(longest, performance.now() - latest);
      latest = performance.now();
    }, 20);
    const file = await kit.as(ada.key, 'GET', path(ada, `/${made.id}/export?format=html`));
    clearInterval(ticking);
    expect(file.status).to.equal(200);
    expect(file.text).to.contain(`<p>${'&gt;'.repeat(1000)}`);
    expect(longest).to.be.below(2500);
    const before = performance.now();
    await kit.as(ada.key, 'GET', path(ada, `/${made.id}/export?format=html`));
    expect(performance.now() - before, 'remembered').to.be.below(4000);
  });

  it('are created by assistants', async () => {
    const { data } = await kit.tool('create_brief', { title: 'By an assistant', entity_ids: [union.id] }, { as: { scope: ['workspace:write'], account_id: ada.id, workspace_id: ada.workspace_id, workspace_role: 'owner' } });
    expect(data).to.include({ title: 'By an assistant', created_by: ada.id, confidence: 1 });
  });
});
