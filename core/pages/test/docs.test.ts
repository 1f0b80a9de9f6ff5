import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import Joi from 'joi';
import { definePlugin, type Plugin } from '../../plugin.ts';
import { stoppedClock, testServer, type TestServer } from '../../testing.ts';
import type { Examples } from '../examples/types.ts';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

const list = { description: 'List', validate: { query: Joi.object({ limit: Joi.number().integer(), tag: Joi.array().items(Joi.string()).single() }) }, response: { schema: Joi.object({ data: Joi.array().required() }) } };
const one = { description: 'Read', validate: { query: Joi.object({}), params: Joi.object({ id: Joi.string() }) }, response: { schema: Joi.object().unknown() } };
const create = { description: 'Create', auth: { mode: 'required' as const }, validate: { query: Joi.object({}), payload: Joi.object({ name: Joi.string().required() }) }, response: { status: { 201: Joi.object().unknown() } } };

function plugin(name: string, examples: Examples = {}, more: Partial<Plugin> = {}): Plugin {
  return definePlugin({
    name,
    summary: `Keeps ${name}`,
    ...more,
    register(server, civic) {
      civic.examples(examples);
      server.route([
        { method: 'GET', path: `/api/${name}`, options: list, handler: () => ({ data: [] }) },
        { method: 'GET', path: `/api/${name}/{id}`, options: one, handler: () => ({}) },
        { method: 'POST', path: `/api/${name}`, options: create, handler: (_request, h) => h.response({ id: '1' }).code(201) },
        { method: 'DELETE', path: `/api/more/${name}/{id}`, options: { ...one, response: { status: { 204: Joi.any() } } }, handler: (_request, h) => h.response().code(204) },
      ]);
    },
  });
}

describe('The API page', () => {
  let kit: TestServer | undefined;
  afterEach(async () => {
    await kit?.close();
    kit = undefined;
  });

  const start = async (plugins: Plugin[], options: Partial<Parameters<typeof testServer>[0]> = {}): Promise<TestServer> => (kit = await testServer({ plugins, ...options }));
  const page = async (path: string, headers: Record<string, string> = {}): Promise<string> => (await kit!.request('GET', path, { headers: { accept: 'text/html', ...headers } })).text;
  const scriptsOf = (text: string, id: string): string[] => {
    const [, inside] = new RegExp(`id="${id}">([^]*?)(?=<details class="card|</section>)`).exec(text)!;
    return [...inside!.matchAll(/<pre tabindex="0"><code>((?:curl|\w+(?:=|&#x3D;))[^]*?)<\/code>/g)].map(([, script]) => script!.replaceAll('&#x27;', "'").replaceAll('&quot;', '"').replaceAll('&#x3D;', '=').replaceAll('&gt;', '>').replaceAll('&lt;', '<').replaceAll('&amp;', '&'));
  };

  it('shows plugins in the order that they declare, then core', async () => {
    await start([plugin('ants'), plugin('bees', {}, { reference: { title: 'Bees', order: 5, sections: { more: 'More bees', bees: 'All bees' } } })]);
    const text = await page('/docs');
    expect([...text.matchAll(/<div class="docs-group" id="group-(\w+)"/g)].map(([, name]) => name)).to.equal(['bees', 'ants', 'core', 'callers'].filter((name) => text.includes(`id="group-${name}"`)));
    const group = await page('/docs/bees');
    expect([...group.matchAll(/<h2 id="section-\w+">([^<]+)</g)].map(([, title]) => title)).to.equal(['More bees', 'All bees']);
    expect(kit!.composition.openApi().tags.map(({ name }) => name).slice(0, 2)).to.equal(['bees', 'ants']);
  });

  it('prints declared values, and steps that create what an example changes', async () => {
    await start([plugin('ants', {
      'GET /api/ants/{id}': async () => ({ params: { id: "it's" } }),
      'POST /api/ants': { body: { name: 'Ada' } },
      'DELETE /api/more/ants/{id}': { given: { ant: { of: 'POST /api/ants' } }, params: { id: '$ant' } },
    })]);
    const text = await page('/docs/ants');
    const url = kit!.composition.instance.public_url;
    expect(scriptsOf(text, 'getAnts')).to.equal([`curl '${url}/api/ants'`]);
    expect(scriptsOf(text, 'getAntsId')).to.equal([`curl '${url}/api/ants/it'\\''s'`]);
    expect(scriptsOf(text, 'deleteMoreAntsId')).to.equal([
      `ant=$(curl -s '${url}/api/ants' \\\n  -H "X-API-Key: $CIVIC_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{ "name": "Ada" }' | jq -r .id)\ncurl -X DELETE "${url}/api/more/ants/$ant"`,
    ]);
  });

  it('shows the response to a public read, shortened, without calling gates', async () => {
    let gated = 0;
    const bees = definePlugin({
      name: 'bees',
      summary: 'Keeps bees',
      register(server, civic) {
        civic.admit(() => { gated++; });
        server.route({ method: 'GET', path: '/api/bees', options: list, handler: () => ({ data: ['queen', 'x'.repeat(200), 'drone'] }) });
      },
    });
    await start([bees]);
    const text = await page('/docs/bees');
    expect(text).to.contain(['Response of this instance, shortened', '&quot;queen&quot;', `${'x'.repeat(120)}…`]);
    expect(text).to.not.contain('drone');
    expect(gated).to.equal(1);
  });

  it('marks values as placeholders where the instance has none', async () => {
    await start([plugin('ants', { 'GET /api/ants/{id}': async () => null })]);
    const text = await page('/docs/ants');
    expect(text.match(/The values are placeholders/g)!.length).to.equal(3);
    expect(text.match(/data-runs/g)!.length).to.equal(1);
  });

  it('looks values up again after a while, also for a page that is cached', async () => {
    const clock = stoppedClock();
    let id = 'first';
    await start([plugin('ants', { 'GET /api/ants/{id}': async () => ({ params: { id } }) })], { clock });
    expect(await page('/docs/ants')).to.contain('/api/ants/first');
    id = 'second';
    expect(await page('/docs/ants')).to.contain('/api/ants/first');
    clock.advance(60_000);
    expect(await page('/docs/ants')).to.contain('/api/ants/second');
  });

  it('does not show data that the instance has changed or withdrawn', async () => {
    const clock = stoppedClock();
    let phone = ['555-0100'];
    const bees = definePlugin({
      name: 'bees',
      summary: 'Keeps bees',
      register(server) { server.route({ method: 'GET', path: '/api/bees', options: list, handler: () => ({ data: phone }) }); },
    });
    await start([bees], { clock });
    expect(await page('/docs/bees')).to.contain('555-0100');
    phone = [];
    clock.advance(60_000);
    expect(await page('/docs/bees')).to.not.contain('555-0100');
  });

  it('is in the language of the reader, with descriptions marked as English', async () => {
    await start([plugin('ants')]);
    const text = await page('/docs/ants', { 'accept-language': 'es' });
    expect(text).to.contain(['Parámetros', 'lista de texto', 'número entero', '<span class="summary" lang="en">List</span>']);
    expect(text).to.not.contain(['Parameters', 'whole number']);
  });

  it('has forms that lead to the API without a script, and to nothing else', async () => {
    await start([plugin('ants')]);
    const get = async (path: string): Promise<[number, unknown]> => {
      const { status, headers } = await kit!.request('GET', path, { headers: { accept: 'text/html' } });
      return [status, headers.location];
    };
    expect(await page('/docs/ants')).to.contain('action="/docs/try/getAnts"');
    expect(await get('/docs/try/getAnts?limit=3&tag=&other=x')).to.equal([303, '/api/ants?limit=3']);
    expect(await get('/docs/try/getAntsId?id=%2F..%2Fx%3Fy')).to.equal([303, '/api/ants/%2F..%2Fx%3Fy']);
    expect((await get('/docs/try/getAntsId?id='))[0]).to.equal(400);
    for (const id of ['postAnts', 'nothing', '__proto__']) expect((await get(`/docs/try/${id}`))[0], id).to.equal(404);
    for (const group of ['nothing', '__proto__', 'try']) expect((await get(`/docs/${group}`))[0], group).to.equal(404);
  });

  it('rejects an example of an operation that is not there, at the start', async () => {
    const started = testServer({ plugins: [plugin('ants', { 'GET /api/bees': {} })] });
    await expect(started).to.reject(/ants declares an example of GET \/api\/bees, which is no operation of the API/);
  });
});
