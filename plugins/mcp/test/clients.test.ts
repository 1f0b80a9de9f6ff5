import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addActor, argumentsFor, connect2025, connect2026, KANSAS_CITY, mcpKit, type AnyClient, type McpKit } from './kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

let kit: McpKit;
let id: string;
let large: string;
before(async () => {
  kit = await mcpKit();
  id = await addActor(kit, 'River Watch', { place: KANSAS_CITY, issue_area: 'public_transit', website: 'https://river.example' });
  large = await addActor(kit, 'River Council', { affiliation: Array.from({ length: 100 }, (_, i) => ({ name: `Member ${i} ${'x'.repeat(280)}`, role: 'r'.repeat(200) })) });
  await addActor(kit, 'Friends of the River', { place: KANSAS_CITY, issue_area: 'public_transit' });
});
after(() => kit.close());

it('The README names every tool, resource and prompt', () => {
  const readme = readFileSync(join(import.meta.dirname, '../../../../plugins/mcp/README.md'), 'utf8');
  const { tools, resources, prompts } = kit.composition.assistant;
  const names = [...tools.keys(), ...resources.keys(), ...prompts.keys()];
  expect(names.length).to.be.above(15);
  expect(names.filter((name) => !readme.includes(`\`${name}\``))).to.equal([]);
});

const ERAS: [name: string, connect: (url: string, token: string) => Promise<AnyClient>][] = [
  ['the client for revisions up to 2025-11-25', connect2025 as never],
  ['the client for revision 2026-07-28', connect2026 as never],
];

for (const [name, connect] of ERAS) {
  describe(`With ${name}`, () => {
    let client: AnyClient;
    before(async () => { client = await connect(kit.url, 'subscriber'); });
    after(() => client.close());

    it('a client connects and gets the name of the server', () => {
      expect(client.getServerVersion()).to.include({ name: 'civic' });
    });

    it('every tool is listed with a title and hints, and can be called', async () => {
      const { tools } = await client.listTools();
      const given = argumentsFor(id);
      expect(tools.map((tool) => tool.name).toSorted()).to.equal(Object.keys(given).toSorted());
      for (const tool of tools) {
        expect(tool.title, tool.name).to.be.a.string();
        expect(tool.annotations, tool.name).to.include({ readOnlyHint: true, destructiveHint: false });
        // The clients validate the structured result with the listed schema.
        const result = await client.callTool({ name: tool.name, arguments: given[tool.name]! }) as { isError?: boolean; structuredContent?: object; content: { text: string }[] };
        expect(result.isError, `${tool.name}: ${result.content[0]?.text}`).to.not.equal(true);
        expect(result.structuredContent, tool.name).to.be.an.object();
        expect(result.content[0]!.text, tool.name).to.be.a.string();
      }
    });

    it('a truncated result matches the schema of its tool', async () => {
      await client.listTools();
      for (const [tool, given, pointer] of [['search_entities', { query: 'council' }, '/data/0/affiliations'], ['get_entity', { id: large }, '/affiliations']] as const) {
        const { structuredContent } = await client.callTool({ name: tool, arguments: given }) as { structuredContent: { truncated: { pointer: string }[] } };
        expect(structuredContent.truncated[0]!.pointer, tool).to.equal(pointer);
      }
      const { contents: [actor] } = await client.readResource({ uri: `civic://entities/${large}` }) as { contents: [{ text: string }] };
      expect(JSON.parse(actor.text)).to.include({ id: large, name: 'River Council' });
    });

    it('resources are read by their templates', async () => {
      const { resourceTemplates } = await client.listResourceTemplates();
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).to.equal(['civic://entities/{id}', 'civic://places/{place_key}/coverage']);
      const { contents: [actor] } = await client.readResource({ uri: `civic://entities/${id}` }) as { contents: [{ text: string }] };
      expect(JSON.parse(actor.text)).to.include({ id, name: 'River Watch' });
      const { contents: [coverage] } = await client.readResource({ uri: `civic://places/${encodeURIComponent(KANSAS_CITY)}/coverage` }) as { contents: [{ text: string }] };
      expect(JSON.parse(coverage.text)).to.include({ entity_count: 2 });
      await expect(client.readResource({ uri: 'civic://entities/unknown' })).to.reject(/No actor has the id unknown/);
      await expect(client.readResource({ uri: 'civic://nothing/here' })).to.reject(/There is no resource/);
    });

    it('prompts are listed, and return their message', async () => {
      const { prompts } = await client.listPrompts();
      expect(prompts.map((prompt) => prompt.name)).to.equal(['research_place', 'find_civic_actors', 'inspect_source_trail', 'assess_coverage_gaps']);
      const { messages } = await client.getPrompt({ name: 'research_place', arguments: { place: 'Kansas City, MO' } });
      expect((messages[0]!.content as { text: string }).text).to.include('Kansas City, MO');
      await expect(client.getPrompt({ name: 'research_place', arguments: {} })).to.reject(/place/);
    });

    it('a tool returns what its route returns, and an unknown one is an error', async () => {
      const read = async (path: string) => (await fetch(kit.url + path)).json() as Promise<object>;
      const call = async (name: string, given: Record<string, unknown>) => (await client.callTool({ name, arguments: given }) as { structuredContent: object }).structuredContent;
      expect(await call('get_entity', { id })).to.equal({ ...await read(`/api/entities/${id}`), next_cursor: null });
      const coverage = await read(`/api/places/${KANSAS_CITY}/coverage`);
      expect({ ...await call('get_place_coverage', { place_key: KANSAS_CITY }), generated_at: null }).to.equal({ ...coverage, generated_at: null });
      await expect(client.callTool({ name: 'get_entitty', arguments: {} })).to.reject(/Did you mean get_entity/);
    });

    it('an error of a tool is a result with the next step', async () => {
      const result = await client.callTool({ name: 'get_place_entities', arguments: { place_key: 'kansas city' } }) as { isError: boolean; content: { text: string }[] };
      expect(result.isError).to.be.true();
      expect(result.content[0]!.text).to.match(/unknown_place[^]*Next: Call search_places/);
    });
  });
}
