import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import { testDatabases } from 'civic/testing';
import type { FlagCounts } from '../types.ts';
import type { DirectoryService } from '../offered/service.ts';
import { actorPayload, directoryKit, type DirectoryKit } from './kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const NONE: FlagCounts = { open: 0, total: 0, latest_at: null };
const SOME: FlagCounts = { open: 1, total: 3, latest_at: '2026-03-01T12:00:00.000Z' };

for (const database of testDatabases()) {
  describe(`Flags of actors and sources on ${database}`, () => {
    let kit: DirectoryKit;
    let service: DirectoryService;
    let [left, right]: { id: string; sources: { id: string }[] }[] = [];

    const set = (actors: [string, FlagCounts][], sources: [string, FlagCounts][] = []) => kit.db.write((tx) => service.setFlags(tx, { actors: new Map(actors), sources: new Map(sources) }));
    const flagsOf = async (id: string) => (await kit.get(`/api/entities/${id}`)).body.flags;
    const found = async (query: string) => (await kit.get(`/api/entities?${query}`)).body.data.map(({ name }: { name: string }) => name);

    before(async () => {
      const reports = definePlugin({
        name: 'reports', summary: 'Sets flags for tests', needs: ['directory'],
        register: (_server, civic) => ({ async start() { service = civic.service('directory'); } }),
      });
      kit = await directoryKit({ database, plugins: [reports] });
      const create = async (name: string) => (await kit.send('POST', '/api/entities', actorPayload({ name, place: 'gladstone,missouri' }), 'reviewer')).body;
      left = await create('Left Tenants');
      right = await create('Right Tenants');
    });
    after(() => kit.close());

    it('are zero before the first', async () => {
      expect(await flagsOf(left!.id)).to.equal(NONE);
      expect(await found('has_flags=false')).to.equal(['Left Tenants', 'Right Tenants']);
      expect(await found('has_flags=true')).to.equal([]);
    });

    it('are shown at once on an actor, with another ETag, and are a filter of every list', async () => {
      const etag = (await kit.get(`/api/entities/${left!.id}`)).headers.etag;
      await set([[left!.id, SOME]]);
      const shown = await kit.get(`/api/entities/${left!.id}`, undefined, { 'if-none-match': String(etag) });
      expect([shown.status, shown.body.flags]).to.equal([200, SOME]);
      for (const query of ['', '&query=tenants', '&place=gladstone,missouri', '&query=tenants&sort=name']) {
        expect(await found(`has_flags=true${query}`), query).to.equal(['Left Tenants']);
        expect(await found(`has_flags=false${query}`), query).to.equal(['Right Tenants']);
      }
    });

    it('are shown on a source, in the detail of its actors and in the list of its place', async () => {
      const [source] = left!.sources;
      await kit.get('/api/places/gladstone,missouri/sources');
      await set([], [[source!.id, SOME]]);
      expect((await kit.get(`/api/entities/${left!.id}`)).body.sources[0].flags).to.equal(SOME);
      const listed = (await kit.get('/api/places/gladstone,missouri/sources')).body.data.find(({ id }: { id: string }) => id === source!.id);
      expect(listed.flags).to.equal(SOME);
    });

    it('of merged actors are counted together', async () => {
      await set([[right!.id, { open: 1, total: 1, latest_at: '2026-04-01T12:00:00.000Z' }]]);
      const merged = await kit.send('POST', `/api/entities/${right!.id}/merge`, { into: left!.id }, 'reviewer');
      expect(merged.status, merged.text).to.equal(200);
      expect(await flagsOf(left!.id)).to.equal({ open: 2, total: 4, latest_at: '2026-04-01T12:00:00.000Z' });
    });

    it('can be set back to none, and an unknown id changes nothing', async () => {
      await set([[left!.id, { ...SOME, open: 0 }], [right!.id, NONE], ['01890000-0000-7000-8000-00000000dead', SOME]]);
      expect(await flagsOf(left!.id)).to.equal({ ...SOME, open: 0 });
      expect(await found('has_flags=true')).to.equal([]);
    });
  });
}
