import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin, type Caller } from 'civic';
import { stoppedClock, testDatabases, testServer, type TestServer } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { rebuildCounts } from '../counts-store.ts';
import { rebuildQueue } from '../review/queue.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const REPORTER = '01890000-0000-7000-8000-000000000001';
const UNKNOWN = '01890000-0000-7000-8000-00000000dead';
const RECEIPT = /^[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){4}$/;

async function until(isDone: () => Promise<boolean> | boolean): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (await isDone()) return;
    await sleep(50);
  }
  throw new Error(`Waited in vain for: ${isDone}`);
}

/** Records events. */
const observer = (events: unknown[]) => definePlugin({
  name: 'observer', summary: 'Records events for tests', needs: ['flags'],
  register(_server, civic) { for (const name of ['flags.created', 'flags.decided'] as const) civic.watch(name, ({ payload }) => { events.push([name, payload]); }); },
});

for (const database of testDatabases()) {
  describe(`Flags on ${database}`, () => {
    let kit: TestServer;
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    const events: any[] = [];
    let actor: any;
    let hidden: any;

    const reporter: Partial<Caller> = { account_id: REPORTER };
    const reviewer: Partial<Caller> = { account_id: UNKNOWN, role: 'reviewer', scope: ['flags:review'] };
    const entities: Partial<Caller> = { role: 'reviewer', scope: ['entities:write'], workspace_id: '01890000-0000-7000-8000-00000000000a', workspace_role: 'member' };

    const post = (path: string, payload: object, as?: Partial<Caller>) => kit.request('POST', path, { payload, ...(as && { as }) });
    const flag = (more: object = {}, as?: Partial<Caller>) => post('/api/entity-flags', { entity_id: actor.id, reason: 'The office moved.', flag_type: 'stale', ...more }, as);
    const decide = (id: string, status: string, as: Partial<Caller> | undefined = reviewer) => kit.request('PATCH', `/api/flags/${id}`, { payload: { status, note: 'Called them.' }, as });
    const list = async (query = '') => (await kit.request('GET', `/api/flags${query}`, { as: reviewer })).body;
    const shownFlags = async () => (await kit.request('GET', `/api/entities/${actor.id}`)).body.flags;

    const create = async (name: string, visibility: string, places = ['gladstone,missouri']) => (await post('/api/entities', {
      type: 'organization', visibility, sources: [{ local_id: 's', url: `https://example.org/${encodeURIComponent(name)}` }],
      claims: [{ property: 'name', value: name, source_local_id: 's' }, ...places.map((value) => ({ property: 'place', value, source_local_id: 's' }))],
    }, entities)).body;

    before(async () => {
      kit = await testServer({ database, clock, plugins: ['directory', 'flags', 'firehose', observer(events)], config: { plugins: { firehose: { anonymous: true } } } });
      actor = await create('Gladstone Tenants', 'public');
      hidden = await create('Secret Tenants', 'workspace');
    });
    after(() => kit.close());

    it('are created by anyone, with a receipt that shows the status and no reason', async () => {
      const created = await flag({ claim_id: actor.claims[0].id.toUpperCase() });
      expect(created.status, created.text).to.equal(201);
      expect(created.body).to.include({ target_type: 'entity', target_id: actor.id, claim_id: actor.claims[0].id, flag_type: 'stale', reason: 'The office moved.', status: 'open', created_at: '2026-03-01T12:00:00.000Z' });
      expect(created.body.receipt).to.match(RECEIPT);
      expect(created.headers['cache-control']).to.equal('private, no-store');
      const typed = created.body.receipt.toLowerCase().replaceAll('-', ' ');
      const receipt = await kit.request('GET', `/api/flags/receipts/${encodeURIComponent(typed)}`);
      expect(receipt.body).to.equal({ id: created.body.id, flag_type: 'stale', status: 'open', created_at: '2026-03-01T12:00:00.000Z', decided_at: null });
      expect(await shownFlags()).to.equal({ open: 1, total: 1, latest_at: '2026-03-01T12:00:00.000Z' });
      await until(() => events.length > 0);
      expect(events).to.equal([['flags.created', { id: created.body.id, target_type: 'entity', target_id: actor.id, flag_type: 'stale', status: 'open', is_suspected: false }]]);
    });

    it('of one account are returned again while they are open; anonymous flags are always new', async () => {
      const first = await flag({}, reporter);
      const again = await flag({ reason: 'Other words' }, reporter);
      expect([first.status, again.status]).to.equal([201, 200]);
      expect(again.body).to.equal(first.body);
      expect((await flag({ flag_type: 'closed' }, reporter)).status).to.equal(201);
      expect((await flag()).status).to.equal(201);
    });

    it('of one account at the same time are one flag', async () => {
      const sent = await Promise.all(Array.from({ length: 5 }, () => flag({ flag_type: 'duplicate' }, reporter)));
      expect(sent.map(({ status }) => status).sort()).to.equal([200, 200, 200, 200, 201]);
      expect(new Set(sent.map(({ body }) => body.id)).size).to.equal(1);
    });

    it('need a public target that exists', async () => {
      for (const entity_id of [UNKNOWN, 'x', actor.id.slice(0, 30), hidden.id]) {
        const response = await flag({ entity_id }, entities);
        expect([response.status, response.body.code], entity_id).to.equal([404, 'unknown_actor']);
      }
      const other = await flag({ claim_id: hidden.claims[0].id });
      expect([other.status, other.body.code, other.body.errors[0].pointer]).to.equal([400, 'unknown_claim', '/claim_id']);
      for (const source_id of [UNKNOWN, 'x', hidden.sources[0].id]) {
        const response = await post('/api/source-flags', { source_id, reason: 'Gone', flag_type: 'broken_link' }, entities);
        expect([response.status, response.body.code], source_id).to.equal([404, 'unknown_source']);
      }
    });

    it('need a type of their target, and a reason of 1 to 2,000 characters', async () => {
      for (const wrong of [{ flag_type: 'broken_link' }, { reason: '  ' }, { reason: 'x'.repeat(2001) }, { reason: 'a\u0000b' }, { colour: 'red' }, { claim_id: 5 }]) {
        expect((await flag(wrong)).status, JSON.stringify(wrong).slice(0, 60)).to.equal(400);
      }
      expect((await flag({ reason: 'x'.repeat(2000), flag_type: 'other' })).status).to.equal(201);
      const wrong = await post('/api/source-flags', { source_id: actor.sources[0].id, reason: 'Gone', flag_type: 'stale' });
      expect([wrong.status, wrong.body.errors[0].detail]).to.equal([400, 'must be one of [broken_link, outdated, misattributed, paywalled, wrong_excerpt, other]']);
    });

    it('of sources are shown on the source', async () => {
      const created = await post('/api/source-flags', { source_id: actor.sources[0].id, reason: 'Gone', flag_type: 'broken_link' });
      expect([created.status, created.body.target_type]).to.equal([201, 'source']);
      expect((await kit.request('GET', `/api/entities/${actor.id}`)).body.sources[0].flags.open).to.equal(1);
    });

    it('are listed for reviewers, the latest first, by every filter', async () => {
      const all = await list();
      expect(all.data.length).to.equal(all.total);
      expect(all.data[0]).to.include({ flag_type: 'broken_link', reason: 'Gone', account_id: null, note: null, suspicion: null });
      const ids = [];
      for (let cursor: string | null = null; ;) {
        const page: any = await list(`?limit=2${cursor ? `&cursor=${cursor}` : ''}`);
        ids.push(...page.data.map(({ id }: any) => id));
        if (!(cursor = page.next_cursor)) break;
      }
      expect(ids).to.equal(all.data.map(({ id }: any) => id));
      expect((await list('?target_type=source')).total).to.equal(1);
      expect((await list('?flag_type=stale&flag_type=closed')).total).to.equal(4);
      expect((await list('?place=gladstone,missouri')).total).to.equal(all.total);
      expect(await list('?place=nowhere,xx')).to.equal({ data: [], total: 0, next_cursor: null });
      const [city, both] = [await create('In Kansas City', 'public', ['kansas-city,missouri']), await create('In both', 'public', ['kansas-city,missouri', 'gladstone,missouri'])];
      for (const { id: entity_id } of [city, both]) await flag({ entity_id, flag_type: 'wrong_place' });
      const inPlaces = async (query: string) => { const page = await list(`?limit=3&${query}`); return [page.total, ...page.data.map(({ target_id }: any) => target_id)]; };
      expect(await inPlaces('place=kansas-city-mo')).to.equal([2, both.id, city.id]);
      expect((await inPlaces('place=gladstone-mo')).slice(0, 2)).to.equal([all.total + 1, both.id]);
      for (const query of ['place=kansas-city-mo&place=gladstone-mo', 'place=']) expect((await kit.request('GET', `/api/flags?${query}`, { as: reviewer })).status, query).to.equal(400);
      expect(await inPlaces('place=gladstone-mo&flag_type=wrong_place&status=open&target_type=entity')).to.equal([1, both.id]);
      const deep = [];
      for (let cursor = ''; ;) {
        const page: any = await list(`?place=gladstone-mo&limit=3${cursor}`);
        deep.push(...page.data.map(({ id }: any) => id));
        if (page.next_cursor === null) break;
        cursor = `&cursor=${page.next_cursor}`;
      }
      expect([deep.length, new Set(deep).size]).to.equal([all.total + 1, all.total + 1]);
      expect((await list('?status=resolved')).total).to.equal(0);
      expect((await list('?status=open&status=open')).total).to.equal(all.total + 2);
      expect((await kit.request('GET', '/api/flags?limit=101', { as: reviewer })).status).to.equal(400);
      expect((await kit.request('GET', '/api/flags?status=lost', { as: reviewer })).status).to.equal(400);
    });

    it('are for reviewers with the scope only', async () => {
      const [{ id }] = (await list()).data;
      for (const as of [reporter, { ...reviewer, role: 'user' as const }, { ...reviewer, scope: ['flags:write'] }]) {
        expect((await kit.request('GET', '/api/flags', { as })).status).to.equal(403);
        expect((await decide(id, 'accepted', as)).status).to.equal(403);
      }
      expect((await kit.request('GET', '/api/flags')).status).to.equal(401);
      expect((await kit.request('PATCH', `/api/flags/${id}`, { payload: { status: 'accepted' } })).status).to.equal(401);
    });

    it('are accepted and resolved, or dismissed, and nothing else', async () => {
      const { body: { id, receipt } } = await flag({ flag_type: 'wrong_place' }, reporter);
      const before = await shownFlags();
      expect((await decide(id, 'resolved')).body).to.include({ status: 409, code: 'flag_transition', detail: 'The flag is open and cannot become resolved: it can become accepted or dismissed.' });
      clock.advance(1000);
      expect((await decide(id, 'accepted')).body).to.include({ status: 'accepted', note: 'Called them.', decided_by: UNKNOWN, decided_at: '2026-03-01T12:00:01.000Z' });
      expect(await shownFlags()).to.include({ open: before.open - 1, total: before.total });
      for (const status of ['accepted', 'dismissed']) expect((await decide(id, status)).status).to.equal(409);
      expect((await decide(id, 'resolved')).status).to.equal(200);
      expect((await decide(id, 'dismissed')).body.detail).to.contain('its decision is final');
      expect((await kit.request('GET', `/api/flags/receipts/${receipt}`)).body).to.include({ status: 'resolved', decided_at: '2026-03-01T12:00:01.000Z' });
      expect((await flag({ flag_type: 'wrong_place' }, reporter)).status, 'once more, as the first is closed').to.equal(201);
      await until(() => events.slice(-3).map(([name, { status }]: any) => `${name} ${status}`).join() === 'flags.decided accepted,flags.decided resolved,flags.created open');
    });

    it('of a type that this version does not know, such as from a backup of a later one, are shown and decided as other', async () => {
      const { body: { id: likeId } } = await flag({ flag_type: 'duplicate', reason: 'Like one of a later version' });
      const { key: _, ...like } = await kit.db.read('flags_flags').where({ id: likeId }).first();
      const [id, receipt] = ['01890000-0000-7000-8000-00000000beef', 'BBBBB-BBBBB-BBBBB-BBBBB-BBBBB'];
      await kit.db.write((tx) => tx('flags_flags').insert({ ...like, id, receipt, flag_type: 'of_later_version' }));
      for (const rebuild of [rebuildQueue, rebuildCounts]) await rebuild({ from: null, write: kit.db.write, progress: async () => undefined });
      expect((await list()).data[0]).to.include({ id, flag_type: 'other' });
      const accepted = await decide(id, 'accepted');
      expect([accepted.status, accepted.body.flag_type], accepted.text).to.equal([200, 'other']);
      expect((await kit.request('GET', `/api/flags/receipts/${receipt}`)).body).to.include({ flag_type: 'other', status: 'accepted' });
      await until(() => events.some(([name, payload]) => name === 'flags.decided' && payload.id === id && payload.flag_type === 'other'));
      expect(await kit.db.read('flags_queue').where({ place_key: '', state: 'accepted', target_id: actor.id }).select('severity')).to.equal([{ severity: 0 }]);
      expect((await decide(likeId, 'dismissed')).status).to.equal(200);
    });

    it('are unknown by a wrong id or receipt', async () => {
      for (const id of [UNKNOWN, 'x']) expect((await decide(id, 'accepted')).body.code).to.equal('unknown_flag');
      for (const receipt of ['x', 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAA', 'ÀÀÀÀÀ']) expect((await kit.request('GET', `/api/flags/receipts/${encodeURIComponent(receipt)}`)).body.code).to.equal('unknown_receipt');
    });

    it('publish a signal when they are resolved, without the reason, and withdraw it when the actor is deleted', async () => {
      const signals = async () => (await kit.request('GET', '/api/firehose?visibility=public&signal_type=flag_resolved')).body.signals;
      const [signal] = await signals();
      expect(signal).to.include({ type: 'flag_resolved', title: 'Report about Gladstone Tenants resolved', source_class: 'review', places: ['gladstone,missouri'] });
      expect(JSON.stringify(signal)).to.not.contain('office moved').and.not.contain('Called them');
      await kit.request('DELETE', `/api/entities/${actor.id}`, { as: entities });
      await until(async () => (await signals()).length === 0);
    });

    it('of sources and places publish signals; that of a source is withdrawn when no public actor cites it any more', async () => {
      const [first, second] = [await create('Cited Tenants', 'public'), await create('Other Tenants', 'public')];
      const [{ id: source_id, url }] = first.sources;
      const titles = async () => (await kit.request('GET', '/api/firehose?visibility=public&signal_type=flag_resolved')).body.signals.map(({ title }: any) => title);
      const resolve = async (id: string) => { for (const status of ['accepted', 'resolved']) expect((await decide(id, status)).status).to.equal(200); };
      await resolve((await post('/api/source-flags', { source_id, reason: 'Gone', flag_type: 'broken_link' })).body.id);
      const sent = await kit.request('POST', '/report', { payload: 'place=gladstone%2Cmissouri&kind=missing&words=More', headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' } });
      expect(sent.status, sent.text).to.equal(303);
      await resolve((await list('?target_type=place')).data[0].id);
      const [ofPlace, ofSource] = ['Report about Gladstone, MO resolved', `Report about the source “${url}” resolved`];
      await until(async () => (await titles()).join() === `${ofPlace},${ofSource}`);
      const cited = await kit.request('PATCH', `/api/entities/${second.id}`, { payload: { sources: [{ local_id: 's', url }], add: [{ property: 'description', value: 'Cites it too', source_local_id: 's' }] }, as: entities });
      expect(cited.status, cited.text).to.equal(200);
      await kit.request('DELETE', `/api/entities/${first.id}`, { as: entities });
      await sleep(500);
      expect(await titles()).to.equal([ofPlace, ofSource]);
      const claim = cited.body.claims.find(({ property }: any) => property === 'description').id;
      expect((await kit.request('PATCH', `/api/entities/${second.id}`, { payload: { retract: [claim] }, as: entities })).status).to.equal(200);
      await until(async () => (await titles()).join() === ofPlace);
    });

    it('that arrive and are decided at the same time are all counted', async () => {
      const { id: entity_id, sources: [{ id: source_id }] } = await create('Crowded Tenants', 'public');
      const shown = async () => (await kit.request('GET', `/api/entities/${entity_id}`)).body;
      const sent = await Promise.all(Array.from({ length: 12 }, (_, index) => Promise.all([
        flag({ entity_id, reason: `Wrong in way ${index}` }),
        post('/api/source-flags', { source_id, reason: `Gone in way ${index}`, flag_type: 'outdated' }),
      ])));
      expect((await shown()).flags).to.include({ open: 12, total: 12 });
      expect((await shown()).sources[0].flags).to.include({ open: 12, total: 12 });
      const dismissed = (await list('?place=gladstone,missouri&status=dismissed')).total;
      await Promise.all(sent.flat().map(({ body }) => decide(body.id, 'dismissed')));
      expect((await list('?place=gladstone,missouri&status=dismissed')).total).to.equal(dismissed + 24);
      expect((await shown()).flags).to.include({ open: 0, total: 12 });
      expect((await shown()).sources[0].flags).to.include({ open: 0, total: 12 });
    });
  });
}

describe('Flags that may be spam', () => {
  let kit: TestServer;
  const actors: any[] = [];
  before(async () => {
    kit = await testServer({ plugins: ['directory', 'flags'], config: { plugins: { flags: { max_links: 1, max_repeats: 2 } } } });
    for (const name of ['One', 'Two', 'Three', 'Four']) {
      actors.push((await kit.request('POST', '/api/entities', {
        payload: { type: 'organization', visibility: 'public', sources: [{ local_id: 's', url: `https://example.org/${name}` }], claims: [{ property: 'name', value: name, source_local_id: 's' }] },
        as: { role: 'reviewer', scope: ['entities:write'] },
      })).body);
    }
  });
  after(() => kit.close());

  const flag = async (index: number, reason: string) => (await kit.request('POST', '/api/entity-flags', { payload: { entity_id: actors[index].id, reason, flag_type: 'other' } })).body;
  const open = async (index: number) => (await kit.request('GET', `/api/entities/${actors[index].id}`)).body.flags.open;
  const reviewed = async () => (await kit.request('GET', '/api/flags', { as: { role: 'reviewer', scope: ['flags:review'] } })).body.data[0];

  it('have too many links, markup for links, or the text of several others', async () => {
    for (const [reason, suspicion] of [['See https://a.example', null], ['See https://a.example and www.b.example', 'links'], ['<A HREF="x">buy</a>', 'markup'], ['[url]x[/url]', 'markup']] as const) {
      await flag(0, reason);
      expect((await reviewed()).suspicion, reason).to.equal(suspicion);
    }
    for (const [index, suspicion] of [null, null, 'repeated', 'repeated'].entries()) {
      await flag(index, index % 2 ? 'BUY Pills!' : 'buy pills');
      expect((await reviewed()).suspicion, String(index)).to.equal(suspicion);
    }
  });

  it('have a receipt, but are not counted until they are accepted', async () => {
    expect([await open(0), await open(3)]).to.equal([2, 0]);
    const { id, receipt } = await flag(3, '[url]x[/url]');
    expect(receipt).to.match(RECEIPT);
    expect(await open(3)).to.equal(0);
    const accepted = await kit.request('PATCH', `/api/flags/${id}`, { payload: { status: 'accepted' }, as: { role: 'reviewer', scope: ['flags:review'] } });
    expect(accepted.body.suspicion).to.be.null();
    expect((await kit.request('GET', `/api/entities/${actors[3].id}`)).body.flags.total).to.equal(1);
  });

  it('do not tell their reporter', async () => {
    expect(Object.keys(await flag(3, '[url]y[/url]'))).to.not.include('suspicion');
  });

  it('are compared by all of their text when it has no letters', async () => {
    for (const [index, reason] of ['!!!', '???', '…', '!?'].entries()) {
      await flag(index, reason);
      expect((await reviewed()).suspicion, reason).to.be.null();
    }
  });

  it('are not what tools report on behalf of an account with the scope', async () => {
    const [{ id: entity_id, sources: [{ id: source_id }] }] = actors;
    const as = { account_id: REPORTER, scope: ['flags:write'] };
    const first = await kit.tool('flag_entity', { entity_id, reason: 'Left office.', flag_type: 'stale' }, { as });
    expect(first.text).to.match(/^The report was stored; reviewers will check it\. Receipt: "[0-9A-Z-]{29}"\.$/);
    expect((await reviewed()).suspicion).to.be.null();
    expect((await kit.tool('flag_entity', { entity_id, reason: 'Left.', flag_type: 'stale' }, { as })).text).to.contain('reported this already');
    expect((await kit.tool('flag_source', { source_id, reason: 'Gone.', flag_type: 'broken_link' }, { as })).data).to.include({ target_type: 'source', status: 'open' });
    await expect(kit.tool('flag_entity', { entity_id, reason: 'x', flag_type: 'stale' })).to.reject();
  });
});
