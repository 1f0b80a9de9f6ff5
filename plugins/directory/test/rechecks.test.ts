import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { HALF_LIVES } from '../config.ts';
import { impactOf } from '../rechecks/impact.ts';
import { actorPayload, directoryKit, type DirectoryKit } from './kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const NOW = '2026-03-01T12:00:00.000Z';
const daysAgo = (days: number): string => new Date(Date.parse(NOW) - days * 86_400_000).toISOString();

describe('The impact of a re-check', () => {
  const impact = (cited: number, due: [property: string, days: number][], seen = 1) => impactOf({ cited, seen_at: daysAgo(seen) }, due.map(([property, days]) => ({ property: property as never, last_seen_at: daysAgo(days) })), HALF_LIVES, Date.parse(NOW));

  it('grows with citations, age and kind of statement, and is 0 without anything to check', () => {
    expect([impact(3, []), impact(0, [['phone', 400]])]).to.equal([0, 0]);
    expect(impact(1, [['phone', 360]])).to.equal(100 * 5 * 2);
    expect(impact(3, [['phone', 360]])).to.equal(2 * 100 * 5 * 2);
    expect(impact(1, [['phone', 360], ['description', 360]])).to.equal(impact(1, [['phone', 360]]));
    expect(impact(1, [['description', 730]])).to.equal(100 * 2 * 2);
    expect(impact(1, [['phone', 180 * 40]])).to.equal(impact(1, [['phone', 180 * 4]]));
    expect(impact(1, [], 730)).to.equal(100 * 2);
  });
});

for (const database of testDatabases()) {
  describe(`Sources to check again on ${database}`, { timeout: 120_000 }, () => {
    const clock = stoppedClock(NOW);
    let kit: DirectoryKit;
    let union: any;

    const compute = async () => {
      const jobs = kit.composition.jobs.of('directory');
      const id = await kit.db.write((tx) => jobs.enqueue(tx, 'directory.rechecks', {}));
      while ((await jobs.byId(id))?.state !== 'completed') await sleep(10);
    };
    const queue = async (query = '') => (await kit.get(`/api/rechecks${query}`, 'reviewer')).body;
    const check = (id: string, payload: object, who = 'reviewer') => kit.send('POST', `/api/rechecks/${id}`, payload, who);
    const create = async (days: number, what: object, type = 'organization') => {
      const payload = actorPayload({ type, ...what } as never);
      const [source] = payload.sources;
      return (await kit.send('POST', '/api/entities', { ...payload, sources: [{ ...source, retrieved_at: daysAgo(days), published_at: daysAgo(days) }] }, 'reviewer')).body;
    };

    before(async () => {
      kit = await directoryKit({ database, clock });
      union = await create(400, { name: 'Westside Tenants Union', url: 'https://union.example/contact', phone: '+18165550100', place: 'kansas-city,missouri' });
      await create(400, { name: 'Old Archive', url: 'https://archive.example/' });
      await create(10, { name: 'Fresh Start', url: 'https://fresh.example/', phone: '+18165550101' });
      await create(400, { name: 'Hearing', url: 'https://hearing.example/', event_start: '2025-02-01T18:00:00.000Z' }, 'event');
      await create(400, { name: 'Ada Brandt', url: 'https://paper.example/', description: 'Speaks at hearings' }, 'person');
      await compute();
    });
    after(() => kit.close());

    it('are listed by impact with the statements that are due, for reviewers only', async () => {
      const { data, total } = await queue();
      expect(data.map(({ source, cited, due }: any) => [source.url, cited, due])).to.equal([
        ['https://union.example/contact', 1, 2], ['https://paper.example/', 1, 1], ['https://hearing.example/', 1, 0], ['https://archive.example/', 1, 0],
      ]);
      expect(total).to.equal(4);
      expect(data[0].statements.map(({ entity, claim }: any) => [entity.name, claim.property])).to.equal([['Westside Tenants Union', 'phone'], ['Westside Tenants Union', 'place']]);
      expect(data.map(({ impact }: any) => impact)).to.equal([1111, 219, 110, 110]);
      expect([(await kit.get('/api/rechecks')).status, (await kit.get('/api/rechecks', 'member')).status, (await check(union.sources[0].id, { outcome: 'broken' }, 'member')).status]).to.equal([401, 403, 403]);
    });

    it('are paged', async () => {
      const first = await queue('?limit=1');
      const second = await queue(`?limit=1&cursor=${encodeURIComponent(first.next_cursor)}`);
      expect([first.data[0].source.url, second.data[0].source.url]).to.equal(['https://union.example/contact', 'https://paper.example/']);
    });

    it('leave the list when their statements are confirmed, which makes the actor fresh', async () => {
      const [{ source, statements }] = (await queue()).data;
      expect((await kit.get(`/api/entities/${union.id}`)).body.freshness.status).to.equal('aging');
      const named = statements.map(({ entity, claim }: any) => ({ entity_id: entity.id, claim_id: claim.id }));
      expect((await check(source.id, { outcome: 'confirmed', statements: named.slice(0, 1) })).status).to.equal(204);
      expect((await queue()).data.find((item: any) => item.source.id === source.id)).to.include({ due: 1 });
      expect((await check(source.id, { outcome: 'confirmed', statements: named.slice(1) })).status).to.equal(204);
      const { data } = await queue();
      expect(data.map((item: any) => item.source.id)).to.not.include(source.id);
      const actor = (await kit.get(`/api/entities/${union.id}`)).body;
      expect([actor.freshness.status, actor.sources[0].last_checked_at, actor.sources[0].url_status]).to.equal(['fresh', NOW, 'ok']);
      const [last] = (await kit.get(`/api/entities/${union.id}/history`)).body.data;
      expect([last.by, last.claims.map(({ change }: any) => change)]).to.equal(['reviewer', ['seen_again']]);
    });

    it('lose a statement that is retracted', async () => {
      const item = (await queue()).data.find(({ source }: any) => source.url === 'https://paper.example/');
      const statements = item.statements.map(({ entity, claim }: any) => ({ entity_id: entity.id, claim_id: claim.id }));
      expect((await check(item.source.id, { outcome: 'retracted', statements })).status).to.equal(204);
      expect((await kit.get(`/api/entities/${statements[0].entity_id}`)).body.description).to.be.null();
      expect((await queue()).data.map(({ source }: any) => source.url)).to.not.include('https://paper.example/');
      const again = await check(item.source.id, { outcome: 'retracted', statements });
      expect([again.status, again.body.code]).to.equal([400, 'unknown_claim']);
    });

    it('leave the list when they are broken, or there without a statement to confirm', async () => {
      const { data } = await queue();
      const [archive, hearing] = ['https://archive.example/', 'https://hearing.example/'].map((url) => data.find(({ source }: any) => source.url === url).source.id);
      expect((await check(archive, { outcome: 'broken' })).status).to.equal(204);
      expect((await kit.get(`/api/sources/${archive}`)).body).to.include({ url_status: 'broken', last_checked_at: NOW });
      expect((await check(hearing, { outcome: 'confirmed' })).status).to.equal(204);
      await compute();
      expect(await queue()).to.equal({ data: [], total: 0, next_cursor: null });
    });

    it('are those that exist, and statements those of the source', async () => {
      const foreign = { entity_id: union.id, claim_id: union.id };
      const [source] = union.sources;
      for (const [id, payload, status, code] of [
        ['x', { outcome: 'broken' }, 404, 'unknown_source'], [source.id, { outcome: 'confirmed', statements: [foreign] }, 400, 'unknown_claim'],
        [source.id, { outcome: 'retracted' }, 400, 'invalid_request'], [source.id, { outcome: 'broken', statements: [foreign] }, 400, 'invalid_request'],
      ] as const) {
        const refused = await check(id, payload);
        expect([refused.status, refused.body.code], JSON.stringify(payload)).to.equal([status, code]);
      }
    });
  });
}
