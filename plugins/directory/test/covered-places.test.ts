import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { actorPayload, directoryKit, type DirectoryKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const TOWNS = ['gladstone,missouri', 'liberty,missouri', 'overland-park,kansas', 'st-louis,missouri', 'toronto,ontario'];

for (const database of testDatabases()) {
  describe(`GET /api/places without a query on ${database}`, () => {
    let kit: DirectoryKit;
    const add = async (place: string | string[], more: object = {}, who = 'reviewer') => (await kit.send('POST', '/api/entities', actorPayload({ name: `Group ${Math.random()}`, place, ...more }), who)).body;
    before(async () => {
      kit = await directoryKit({ database });
      for (const town of TOWNS) await add(town);
      await add(['gladstone,missouri', 'missouri']);
      await add('ferguson,missouri', { visibility: 'workspace' }, 'member');
    });
    after(() => kit.close());

    const list = async (search = '') => (await kit.get(`/api/places${search}`)).body;
    const keysOf = (body: { data: { place_key: string; entity_count: number }[] }) => body.data.map(({ place_key, entity_count }) => [place_key, entity_count]);

    it('lists the places that have public actors, with their number', async () => {
      const body = await list();
      expect(keysOf(body)).to.equal([['gladstone,missouri', 2], ['liberty,missouri', 1], ['missouri', 1], ['overland-park,kansas', 1], ['st-louis,missouri', 1], ['toronto,ontario', 1]]);
      expect([body.total, body.next_cursor, 'ambiguous' in body]).to.equal([6, null, false]);
      expect(body.data[0]).to.include({ slug: 'gladstone-mo', county: 'clay-county,missouri', time_zone: 'America/Chicago' });
      // Independent cities belong to no county.
      expect(body.data[4]).to.include({ county: null });
      expect(body.data[5]).to.include({ county: null, time_zone: 'America/Toronto', slug: null });
    });

    it('shows nothing of private actors to any caller', async () => {
      expect((await kit.get('/api/places', 'member')).text).to.equal((await kit.get('/api/places')).text).and.not.contain('ferguson');
    });

    it('is paged, and a page is stable while places are added', async () => {
      const first = await kit.get('/api/places?limit=2&state=MO');
      expect(first.body.total).to.equal(4);
      expect(first.headers.link).to.contain('rel="next"');
      await add('buckner,missouri');
      const second = await list(`?limit=2&cursor=${first.body.next_cursor}`);
      expect([...keysOf(first.body), ...keysOf(second)].map(([key]) => key)).to.equal(['gladstone,missouri', 'liberty,missouri', 'missouri', 'st-louis,missouri']);
      expect(second.next_cursor).to.be.null();
      for (const search of [`?cursor=${first.body.next_cursor}&state=KS`, `?cursor=${first.body.next_cursor}x`, `?cursor=${first.body.next_cursor}&query=gladstone`]) {
        expect((await kit.get(`/api/places${search}`)).status, search).to.equal(400);
      }
      const both = await list(`?cursor=${first.body.next_cursor}&query=gladstone`);
      expect([both.detail, both.errors]).to.equal(['cursor cannot be combined with query', [{ parameter: 'cursor', detail: 'cannot be combined with query' }]]);
    });

    it('narrows down to a state by abbreviation or name, and an unknown one matches nothing', async () => {
      expect(keysOf(await list('?state=kansas'))).to.equal([['overland-park,kansas', 1]]);
      expect(await list('?state=Freedonia')).to.equal({ data: [], total: 0, next_cursor: null });
    });

    it('changes with the actors, and has an ETag', async () => {
      const { headers: { etag } } = await kit.get('/api/places?state=IA');
      expect((await kit.get('/api/places?state=IA', undefined, { 'if-none-match': String(etag) })).status).to.equal(304);
      const { id } = await add('ames,iowa');
      expect(keysOf(await list('?state=IA'))).to.equal([['ames,iowa', 1]]);
      await kit.send('DELETE', `/api/entities/${id}`, undefined, 'reviewer');
      expect((await list('?state=IA')).total).to.equal(0);
    });

    it('walks the gazetteer in the same order where most places have actors', async () => {
      const keys: number[] = await kit.db.read('directory_places').where({ state: 'OH' }).orderBy('place_key').limit(4001).pluck('key');
      const some: number[] = await kit.db.read('directory_places').whereNotIn('state', ['OH', 'MO', 'KS']).limit(4001 - keys.length).pluck('key');
      await kit.db.write(async (tx) => {
        for (let at = 0; at < 4001; at += 100) await tx('directory_counts').insert([...keys, ...some].slice(at, at + 100).map((place) => ({ place, issue_area: '', type: '', actors: 1 })));
      });
      const found: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const body: { data: { place_key: string }[]; next_cursor: string | null; total: number } = await list(`?limit=100${cursor && `&cursor=${cursor}`}`);
        found.push(...body.data.map(({ place_key }) => place_key));
        cursor = body.next_cursor;
        expect(body.total).to.equal(4008);
      }
      expect(found).to.have.length(4008);
      expect(found).to.equal([...new Set(found)].sort());
    });
  });
}
