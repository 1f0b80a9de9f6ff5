import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { createInstance, type Instance, type Served } from '../support/civic.ts';
import { createMachine, type Machine } from '../support/scout.ts';
import { LOCAL, startSite, type Site } from './site.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** One story, from a fresh machine and a fresh instance: each step begins where the one before ended. */
describe('A person who researches on their own machine', { timeout: 120_000 }, () => {
  let instance: Instance;
  let served: Served;
  let machine: Machine;
  let site: Site;
  let key: string;

  before(async () => {
    instance = createInstance({ plugins: { directory: {}, accounts: {}, workspaces: {}, reader: {}, discovery: {} } });
    served = await instance.serve();
    machine = createMachine(LOCAL);
    site = await startSite();
    await instance.civic('account', 'create', '--email', 'ada@example.org', '--name', 'Ada', '--plan', 'team', '--json');
    key = JSON.parse((await instance.civic('key', 'create', '--account', 'ada@example.org', '--json')).stdout).key;
  });
  after(async () => {
    machine.remove();
    await site.close();
    await served.stop();
    instance.remove();
  });

  const get = async (path: string): Promise<any> => (await fetch(served.url + path, { headers: { 'x-api-key': key } })).json();
  const scout = async (args: string[], lines: string[] = []): Promise<string> => {
    const { code, stdout, stderr } = await machine.spawn(args, lines);
    expect([code, code === 0 ? '' : stderr], args.join(' ')).to.equal([0, '']);
    return stdout;
  };

  it('begins with init, and finds candidates from a seed', async () => {
    await scout(['init'], [served.url]);
    expect(await scout(['config', 'get', 'instance.url'])).to.equal(`${served.url}\n`);
    expect(await scout(['run', '--location', 'Kansas City, MO', '--issue', 'housing_affordability', '--seed', `${site.url}/about`])).to.startWith('Completed.');
  });

  it('accepts two candidates', async () => {
    expect(await scout(['review'], ['a', 'a', 'q'])).to.contain('2 accepted, 0 rejected, 0 merged');
  });

  it('syncs them to the workspace, where they are private actors with their passages', async () => {
    await scout(['login', '--key'], [key]);
    const [receipt] = JSON.parse(await scout(['sync', '--json']));
    expect(receipt).to.include({ duplicate: false, visibility: 'workspace', entries_persisted: 2, sources_persisted: 1, part: 1, parts: 1 });
    const names = (JSON.parse(await scout(['entries', '--json'])) as { name: string }[]).map(({ name }) => name).sort();
    const { data } = await get('/api/entities?visibility=workspace');
    expect(data.map(({ name }: { name: string }) => name).sort()).to.equal(names);
    const { claims, sources, visibility, places } = await get(`/api/entities/${receipt.entry_links[0].entity_id}`);
    expect(visibility).to.equal('workspace');
    expect(places[0].place_key).to.equal('kansas-city,missouri');
    expect(claims.find(({ property }: { property: string }) => property === 'name').excerpt).to.be.a.string();
    expect(sources[0].url).to.equal(`${site.url}/about`);
    expect((await get(`/api/discovery-runs/${receipt.run_id}`)).status).to.equal('completed');
    expect((await (await fetch(`${served.url}/api/entities`)).json() as { total: number }).total).to.equal(0);
  });

  it('syncs again without any change, and what was accepted since', async () => {
    const [again] = JSON.parse(await scout(['sync', '--json']));
    expect(again.duplicate).to.be.true();
    expect((await get('/api/entities?visibility=workspace')).total).to.equal(2);
    await scout(['review'], ['a', 'q']);
    const [more] = JSON.parse(await scout(['sync', '--json']));
    expect(more).to.include({ run_id: again.run_id, duplicate: false });
    expect((await get('/api/entities?visibility=workspace')).total).to.equal(3);
    expect(await scout(['doctor'])).to.contain(`signed in at ${served.url} with an API key`);
  });
});
