import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases, testServer, type TestServer } from 'civic/testing';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import directory from '../index.ts';
import { run } from './command.ts';
import { runCommand } from './transfer.ts';

export const notQuick = 'it loads the demo';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

const OWN = '01890000-0000-7000-8000-0000000000aa';
const JUDGED = '01890000-0000-7000-8000-0000000000ab';
const NOW = '2026-03-02T15:00:00.000Z';

for (const database of testDatabases()) describe(`The demo, on ${database}`, { timeout: 60_000 }, () => {
  let kit: TestServer;
  let exported = '';
  const folder = mkdtempSync(join(tmpdir(), 'civic-demo-'));
  const format = database === 'sqlite' ? 'ndjson' : 'csv';
  before(async () => { kit = await testServer({ plugins: [directory], database, clock: stoppedClock(NOW) }); });
  after(async () => {
    rmSync(folder, { recursive: true });
    await kit.close();
  });

  const get = async (path: string) => kit.request('GET', path);
  const total = async (path: string): Promise<number> => (await get(path)).body.total;
  const rows = async (table: string): Promise<number> => Number((await kit.db.read(table).count({ count: '*' }))[0]!.count);
  const tables = ['records', 'sources', 'claims', 'origins', 'changes', 'judgements', 'actors', 'listings', 'place_sources', 'own_places'].map((name) => `directory_${name}`);
  const counted = async () => Object.fromEntries(await Promise.all(tables.map(async (table) => [table, await rows(table)] as const)));

  it('is loaded by one command, and says how much it is', async () => {
    const loaded = await run(kit, 'demo load');
    expect(loaded.loaded).to.be.true();
    expect(Number(loaded.places)).to.be.at.least(12);
    expect(Number(loaded.actors)).to.be.at.least(400);
    expect(Number(loaded.sources)).to.be.at.least(1_500);
    expect(Number(loaded.claims)).to.be.at.least(1_500);
    expect(await total('/api/entities?limit=1')).to.equal(loaded.actors);
  });

  it('is loaded once: the second time changes nothing', async () => {
    const before = await counted();
    expect(await run(kit, 'demo load')).to.equal({ loaded: false });
    expect(await counted()).to.equal(before);
  });

  it('has issue areas that are covered, thin and missing, and what is fresh and what is not', async () => {
    const { body } = await get('/api/places/harlow-ferry,tamarack/coverage');
    expect(Number(body.entity_count)).to.be.above(80);
    for (const list of ['covered_issue_areas', 'thin_issue_areas', 'missing_issue_areas']) expect(Number(body[list].length), list).to.be.above(2);
    for (const status of ['fresh', 'aging', 'stale']) expect(Number(body.freshness[status]), status).to.be.above(0);
    expect(Number((await get('/api/places/lower-kestrel,tamarack/coverage')).body.missing_issue_areas.length)).to.be.above(30);
  });

  it('says that it is made up wherever it is shown', async () => {
    expect((await get('/api/places/harlow-ferry,tamarack')).body.display_name).to.contain('(demo)');
    const { data } = (await get('/api/entities?limit=100&include=sources')).body;
    expect(data.length).to.equal(100);
    for (const actor of data) {
      expect(actor.identifiers.map(({ scheme }: { scheme: string }) => scheme), actor.name).to.include('demo');
      for (const source of actor.sources) expect(source.publication).to.match(/\(demo\)$/);
    }
    for (const file of ['feed.atom', 'feed.json', 'meetings.ics']) expect((await get(`/api/places/harlow-ferry,tamarack/${file}`)).text.match(/\(demo\)/g)!.length, file).to.be.above(10);
  });

  it('shows what was merged as one actor with all its names, and keeps namesakes apart', async () => {
    const { data } = (await get('/api/entities?query=Harlow%20Ferry%20Tenants%20Union&entity_type=organization&include=claims')).body;
    expect(data[0].name).to.equal('Harlow Ferry Tenants Union');
    const names = data[0].claims.filter(({ property }: { property: string }) => property === 'name').map(({ value }: { value: string }) => value);
    expect(names).to.include('HF Tenants Union');
    const nurses = (await get('/api/entities?query=no%20relation%20of%20the%20mayor&entity_type=person')).body.data;
    expect(nurses.length).to.equal(2);
    expect(await total(`/api/entities?query=${encodeURIComponent(nurses[0].name)}&entity_type=person`)).to.equal(2);
  });

  it('has people who belong to organizations that are there', async () => {
    const { data } = (await get('/api/places/pellam,tamarack/entities?entity_type=person&limit=5')).body;
    const [{ entity_id, name }] = data.find(({ affiliations }: { affiliations: object[] }) => affiliations.length > 0).affiliations;
    expect((await get(`/api/entities/${entity_id}`)).body).to.include({ name, type: 'organization' });
  });

  it('is exported with the places it made up', async () => {
    exported = (await get(`/api/exports/entities?format=${format}`)).text;
    expect(exported).to.contain('Tamarack (demo)');
  });

  it('is taken away by one command, with nothing left of it and nothing else gone', async () => {
    expect(Number((await run(kit, 'demo remove')).removed)).to.be.at.least(400);
    const left = await counted();
    expect(left).to.equal(Object.fromEntries(tables.map((table) => [table, 0])));
    expect((await get('/api/places/harlow-ferry,tamarack')).status).to.equal(404);
    expect((await get('/api/places/kansas-city,missouri')).status).to.equal(200);
    expect(await total('/api/entities')).to.equal(0);
    expect(await run(kit, 'demo remove')).to.equal({ removed: 0 });
  });

  it('is restored completely from an export, with its places', async () => {
    const file = join(folder, 'demo');
    writeFileSync(file, exported);
    const { value, out } = await runCommand(kit, 'import', [format, file]);
    expect(value.counts.rejected, out).to.equal(0);
    expect((await get(`/api/exports/entities?format=${format}`)).text).to.equal(exported);
  });

  // Once: the commands on Postgres are those above, and each takes seconds.
  if (database === 'sqlite') it('can still be taken away after that import, and leaves an actor of one’s own that was merged into one of it', async () => {
    const [shown] = (await get('/api/entities?query=Kestrel%20Valley%20Ledger')).body.data;
    const file = join(folder, 'own.ndjson');
    const source = { id: 's', url: 'https://own.example.org/', kind: 'other' };
    const claims = ['name', 'type'].map((property) => ({ property, value: property === 'name' ? 'Our own paper' : 'organization', source_id: 's' }));
    writeFileSync(file, `${JSON.stringify({ id: OWN, type: 'organization', sources: [source], claims })}\n${JSON.stringify({ judgement: { id: JUDGED, left_id: OWN, right_id: shown.id, verdict: 'same', at: NOW } })}\n`);
    const { value, out } = await runCommand(kit, 'import', ['ndjson', file]);
    expect(value.counts, out).to.include({ created: 2, rejected: 0 });
    expect((await get(`/api/entities/${OWN}`)).body.merged_into).to.equal(shown.id);
    await run(kit, 'demo remove');
    expect((await get(`/api/entities/${OWN}`)).body).to.include({ name: 'Our own paper' });
    expect([await total('/api/entities'), await rows('directory_records')]).to.equal([1, 1]);
    expect(await kit.composition.checks.find(({ name }) => name === 'directory')!.run()).to.include({ status: 'ok' });
  });
});

describe('The demo beside another taxonomy', { timeout: 60_000 }, () => {
  it('leaves out the issue areas that it does not have', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'civic-demo-'));
    const file = join(folder, 'taxonomy.yaml');
    writeFileSync(file, 'domains:\n  - slug: homes\n    name: Homes\n    description: Homes.\n    search_terms: [home]\n    issue_areas:\n      - { slug: housing_affordability, name: Rents, description: Rents., search_terms: [rent] }\n');
    const kit = await testServer({ plugins: [directory], clock: stoppedClock(NOW), config: { plugins: { directory: { taxonomy_file: file } } } });
    try {
      // The first records show it, as each organization has issue areas.
      const stopEarly = (done: number) => { if (done >= 100) throw new Error('enough'); };
      await expect(run(kit, 'demo load', {}, stopEarly)).to.reject('enough');
      const { data } = (await kit.request('GET', '/api/issue-areas')).body;
      expect(data.length).to.equal(1);
      expect(Number(data[0].entity_count)).to.be.above(0);
      expect((await kit.request('GET', '/api/entities?issue_area=public_transit')).body.total).to.equal(0);
    } finally {
      await kit.close();
      rmSync(folder, { recursive: true });
    }
  });
});
