import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import { testDatabases } from 'civic/testing';
import type { DirectoryService } from '../offered/service.ts';
import { actorPayload, directoryKit, type DirectoryKit } from './kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

let service: DirectoryService;

/** A plugin that reads the directory. */
const reader = definePlugin({
  name: 'reader',
  summary: 'Reads the directory',
  needs: ['directory'],
  register: (_server, civic) => ({ start: async () => { service = civic.service('directory'); } }),
});

const PLACE = 'kansas-city,missouri';

for (const database of testDatabases()) {
  describe(`Tools of the directory on ${database}`, () => {
    let kit: DirectoryKit;
    const ids: string[] = [];
    before(async () => {
      kit = await directoryKit({ database, plugins: [reader] });
      for (const name of ['Bus Riders', 'Tram Riders', 'Walkers', 'Cyclists']) {
        ids.push((await kit.send('POST', '/api/entities', actorPayload({ name, place: PLACE, issue_area: 'public_transit' }), 'reviewer')).body.id as string);
      }
    });
    after(() => kit.close());

    it('return what the routes return', async () => {
      const same = async (tool: string, input: object, path: string): Promise<void> => {
        const { data } = await kit.tool(tool, input);
        const { body } = await kit.get(path);
        const timeless = (one: { generated_at?: string }) => ({ ...one, generated_at: null });
        expect(timeless(data), tool).to.equal(timeless(body));
      };
      await same('get_entity_sources', { id: ids[0] }, `/api/entities/${ids[0]}/sources?limit=10`);
      await same('search_places', { query: 'KCMO' }, '/api/places?query=KCMO');
      await same('get_place_coverage', { place_key: PLACE }, `/api/places/${PLACE}/coverage`);
      await same('get_place_sources', { place_key: 'kansas-city-mo' }, `/api/places/${PLACE}/sources?limit=10`);
      await same('search_entities', { query: 'riders' }, '/api/entities?query=riders&include=sources&limit=10');
      await same('get_place_entities', { place_key: PLACE, query: 'riders' }, `/api/places/${PLACE}/entities?query=riders&include=sources&limit=10`);
      const { data: { next_cursor: none, ...actor } } = await kit.tool('get_entity', { id: ids[0] });
      expect([none, actor]).to.equal([null, (await kit.get(`/api/entities/${ids[0]}`)).body]);
    });

    it('list all issue areas in parts, and find those of a topic', async () => {
      const { body } = await kit.get('/api/issue-areas');
      const slugs: string[] = [];
      let cursor: string | null = null;
      do {
        const { data } = await kit.tool('list_issue_areas', cursor ? { cursor } : {});
        slugs.push(...data.data.map(({ slug }: { slug: string }) => slug));
        cursor = data.next_cursor;
      } while (cursor);
      expect(slugs).to.equal(body.data.map(({ slug }: { slug: string }) => slug));
      expect((await kit.tool('resolve_issue_areas', { query: 'bus routes' })).data.data[0].slug).to.equal('public_transit');
    });

    it('return related actors in pages, as the route does', async () => {
      const first = await kit.get(`/api/entities/${ids[0]}/related?limit=2`);
      const second = await kit.get(`/api/entities/${ids[0]}/related?cursor=${first.body.next_cursor}`);
      const names = [...first.body.data, ...second.body.data].map(({ entity }) => entity.name as string);
      expect([first.body.total, second.body.next_cursor, names.toSorted()]).to.equal([3, null, ['Cyclists', 'Tram Riders', 'Walkers']]);
      const { data } = await kit.tool('get_related_entities', { id: ids[0], limit: 2 });
      expect(data.data.map(({ entity }: { entity: { id: string } }) => entity.id)).to.equal(first.body.data.map(({ entity }: { entity: { id: string } }) => entity.id));
      expect(data.data[0].entity.sources[0].url).to.be.a.string();
    });

    it('read the same as other plugins through the service', async () => {
      const [id = ''] = ids;
      const { actors, total } = await service.search('riders', 5);
      expect([total, actors.map(({ name, sources }) => [name, sources.length])]).to.equal([2, [['Bus Riders', 1], ['Tram Riders', 1]]]);
      expect(await service.detail(id, null)).to.equal((await kit.get(`/api/entities/${id}`)).body);
      expect((await service.related(id, null, 2)).map(({ entity }) => entity.id)).to.equal((await kit.get(`/api/entities/${id}/related?limit=2`)).body.data.map(({ entity }: { entity: { id: string } }) => entity.id));
      expect(await service.coverage('kansas-city-mo')).to.include({ entity_count: 4, source_count: 4 });
      await expect(service.detail('0190', null)).to.reject('No actor has the id 0190.');
      await expect(service.coverage('nowhere')).to.reject(/No place has the key "nowhere"/);
    });
  });
}
