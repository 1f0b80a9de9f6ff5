import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from 'civic/testing';
import { actorPayload, directoryKit, type DirectoryKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const KC = 'kansas-city,missouri';

for (const database of testDatabases()) {
  describe(`Actors on ${database}`, { timeout: 60_000 }, () => {
    const clock = stoppedClock('2026-02-01T12:00:00.000Z');
    let kit: DirectoryKit;

    before(async () => { kit = await directoryKit({ database, clock }); });
    after(() => kit.close());

    const enter = async (what: Parameters<typeof actorPayload>[0], who = 'reviewer') => {
      const answer = await kit.send('POST', '/api/entities', actorPayload(what), who);
      expect(answer.status, answer.text).to.equal(201);
      return answer.body;
    };
    const namesIn = async (path: string) => (await kit.get(path)).body.data.map(({ name }: { name: string }) => name);

    it('are entered with their sources and answered whole, claim by claim', async () => {
      const { status, headers, body } = await kit.send('POST', '/api/entities', actorPayload({
        name: 'Westside Tenants Union', url: 'https://Example.org:443/union?utm_source=x#top', description: 'Renters who organize', place: 'kansas-city-mo', issue_area: ['housing_affordability', 'homelessness_and_housing_insecurity'],
        website: 'https://union.example.org/', phone: '+1 816 555 0142', social: { network: 'mastodon', url: 'https://social.example/@union' }, identifier: { scheme: 'ein', value: '12-3456789' },
      }), 'reviewer');
      expect(status, JSON.stringify(body)).to.equal(201);
      expect(headers.location).to.equal(`${kit.server.app.civic.publicUrl}/api/entities/${body.id}`);
      expect(body).to.include({ type: 'organization', name: 'Westside Tenants Union', description: 'Renters who organize', status: 'active', visibility: 'public', source_count: 1, claim_count: 10, event: null });
      expect(body.slug).to.equal(`westside-tenants-union-${body.id.slice(-8)}`);
      expect(body.places).to.equal([{ place_key: KC, slug: 'kansas-city-mo', name: 'Kansas City', state: 'MO', country: 'US' }]);
      expect(body.contact).to.equal({ website: 'https://union.example.org/', email: null, phone: '+1 816 555 0142', social: [{ network: 'mastodon', url: 'https://social.example/@union' }] });
      expect(body.identifiers).to.equal([{ scheme: 'ein', value: '12-3456789' }]);
      expect(body.freshness).to.equal({ status: 'fresh', last_seen_at: clock.iso(), last_verified_at: clock.iso(), latest_source_at: '2026-01-05T00:00:00.000Z' });
      expect(body.sources).to.have.length(1);
      expect(body.sources[0]).to.include({ url: 'https://example.org/union', title: 'About us', publication: 'The Example', entity_ids: [body.id] });
      const phone = body.claims.find(({ property }: { property: string }) => property === 'phone');
      expect(phone).to.include({ value: '+1 816 555 0142', rank: 'normal', confidence: 1, method: 'manual', source_id: body.sources[0].id, locator: { start: 3, end: 20 }, status: 'active' });
      const again = await kit.get(`/api/entities/${body.id.toUpperCase()}`);
      expect(again.body).to.equal(body);
      expect((await kit.get(`/api/entities/by-slug/${body.slug}`)).body).to.equal(body);
      expect((await kit.get(`/api/entities/${body.id}/sources`)).body.data).to.equal(body.sources);
      expect((await kit.get(`/api/sources/${body.sources[0].id}`)).body).to.equal(body.sources[0]);
      expect((await kit.get(`/api/entities/${body.id}/claims?property=phone`)).body).to.equal({ data: [phone], total: 1, next_cursor: null });
    });

    it('cannot exist without a name, a source, or a source for each claim; all faults are reported at once', async () => {
      const bad = actorPayload({ name: 'X', place: 'nowhere,missouri', issue_area: 'unheard_of' });
      bad.claims[0]!.source_local_id = 'elsewhere';
      const { status, body } = await kit.send('POST', '/api/entities', bad, 'reviewer');
      expect(status).to.equal(400);
      expect(body.errors).to.equal([
        { pointer: '/claims/0/source_local_id', detail: 'no source has the local_id "elsewhere"' },
        { pointer: '/claims/1/value', detail: '"nowhere,missouri" is no place: write a key such as kansas-city,missouri' },
        { pointer: '/claims/2/value', detail: '"unheard_of" is no issue area: see /api/issue-areas' },
      ]);
      const nameless = actorPayload({ name: 'X', description: 'No name' });
      nameless.claims.shift();
      expect((await kit.send('POST', '/api/entities', nameless, 'reviewer')).body.errors[0].detail).to.equal('a claim with the property "name" is required');
      expect((await kit.send('POST', '/api/entities', { ...actorPayload({ name: 'X' }), sources: [] }, 'reviewer')).status).to.equal(400);
      expect((await kit.send('POST', '/api/entities', { ...actorPayload({ name: 'X' }), sources: [{ local_id: 's', title: 'No address' }] }, 'reviewer')).body.errors[0].pointer).to.equal('/sources/0/url');
    });

    it('are not created without credentials, scope or role', async () => {
      const body = actorPayload({ name: 'Sneaky' });
      expect((await kit.send('POST', '/api/entities', body)).status).to.equal(401);
      expect((await kit.send('POST', '/api/entities', body, 'reader')).status).to.equal(403);
      expect((await kit.send('POST', '/api/entities', body, 'member')).body.code).to.equal('permission_required');
      const { id } = await enter({ name: 'Public Thing' });
      for (const [method, path, payload] of [['PATCH', '', { retract: [] }], ['DELETE', '', undefined], ['POST', '/merge', { into: id }], ['POST', '/split', {}], ['POST', '/publish', undefined]] as const) {
        expect((await kit.send(method, `/api/entities/${id}${path}`, payload)).status, `${method} ${path}`).to.equal(401);
        expect((await kit.send(method, `/api/entities/${id}${path}`, payload, 'member')).status, `${method} ${path}`).to.equal(403);
      }
      expect(await namesIn('/api/entities?query=sneaky')).to.equal([]);
    });

    it('belong to a workspace until they are published, and do not exist for others', async () => {
      const { id, visibility } = await enter({ name: 'Hidden Garden', visibility: 'workspace', place: KC, issue_area: 'housing_affordability' }, 'member');
      expect(visibility).to.equal('workspace');
      for (const who of [undefined, 'stranger', 'reviewer']) {
        expect((await kit.get(`/api/entities/${id}`, who)).status, String(who)).to.equal(404);
        expect((await kit.send('PATCH', `/api/entities/${id}`, { retract: [] }, who ?? 'stranger')).status, String(who)).to.equal(404);
      }
      expect((await kit.get(`/api/entities/${id}`, 'member')).headers['cache-control']).to.equal('private, no-store');
      expect(await namesIn('/api/entities?query=hidden')).to.equal([]);
      expect((await kit.get(`/api/places/${KC}/entities`)).body.data.some((actor: { id: string }) => actor.id === id)).to.be.false();
      const own = await kit.get('/api/entities?query=hidden&visibility=workspace', 'member');
      expect([own.body.total, own.body.data[0].id, own.headers['cache-control']]).to.equal([1, id, 'private, no-store']);
      expect((await kit.get('/api/entities?query=hidden&visibility=workspace', 'stranger')).body.total).to.equal(0);
      expect((await kit.get('/api/entities?query=hidden&visibility=workspace')).status).to.equal(401);
      const before = (await kit.get(`/api/places/${KC}/coverage`)).body.entity_count;
      expect((await kit.send('POST', `/api/entities/${id}/publish`, undefined, 'member')).status).to.equal(403);
      const published = await kit.send('POST', `/api/entities/${id}/publish`, undefined, 'editor');
      expect([published.status, published.body.visibility]).to.equal([200, 'public']);
      expect((await kit.get(`/api/places/${KC}/coverage`)).body.entity_count).to.equal(before + 1);
      expect(await namesIn('/api/entities?query=hidden')).to.equal(['Hidden Garden']);
      expect((await kit.send('POST', `/api/entities/${id}/publish`, undefined, 'editor')).body.code).to.equal('already_public');
    });

    it('change by claims: a wrong one is kept and marked, and the history names the source', async () => {
      const made = await enter({ name: 'Old Name', phone: '+1 816 555 0100' });
      const wrong = made.claims.find(({ property }: { property: string }) => property === 'phone').id;
      const etag = String((await kit.get(`/api/entities/${made.id}`)).headers.etag);
      const patch = {
        sources: [{ local_id: 'n', url: 'https://example.org/new', title: 'News' }],
        add: [{ property: 'phone', value: '+1 816 555 0199', source_local_id: 'n' }, { property: 'name', value: 'New Name', source_local_id: 'n' }],
        rank: [{ claim_id: wrong, rank: 'deprecated' }],
      };
      const { status, body, headers } = await kit.send('PATCH', `/api/entities/${made.id}`, patch, 'reviewer', { 'if-match': etag });
      expect(status).to.equal(200);
      expect([body.contact.phone, body.source_count]).to.equal(['+1 816 555 0199', 2]);
      expect(body.claims.find(({ id }: { id: string }) => id === wrong)).to.include({ rank: 'deprecated', status: 'active', value: '+1 816 555 0100' });
      expect(headers.etag).to.not.equal(etag);
      expect((await kit.send('PATCH', `/api/entities/${made.id}`, { retract: [wrong] }, 'reviewer', { 'if-match': etag })).status).to.equal(412);
      const { body: history } = await kit.get(`/api/entities/${made.id}/history`);
      expect(history.total).to.equal(2);
      expect(history.data[0]).to.include({ action: 'updated', by: 'reviewer' });
      expect(history.data[0].claims.map(({ change, value, source_url }: Record<string, string>) => [change, value, source_url])).to.equal([
        ['added', '+1 816 555 0199', 'https://example.org/new'], ['added', 'New Name', 'https://example.org/new'], ['ranked', '+1 816 555 0100', made.sources[0].url],
      ]);
      expect(JSON.stringify(history)).to.not.contain('01890000-0000-7000-8000-000000000001');
      const retracted = await kit.send('PATCH', `/api/entities/${made.id}`, { retract: [wrong] }, 'reviewer');
      expect(retracted.body.claims.some(({ id }: { id: string }) => id === wrong)).to.be.false();
      expect((await kit.get(`/api/entities/${made.id}/claims?status=retracted`)).body.data[0].id).to.equal(wrong);
    });

    it('reject the id of a claim that they do not have, and say where it is', async () => {
      const made = await enter({ name: 'Claims of its own' });
      const [own, other] = [made.claims[0].id, '0190a6d2-3f3a-7b7c-8a55-000000000001'];
      for (const [patch, pointer] of [[{ retract: [own, other] }, '/retract/1'], [{ rank: [{ claim_id: other, rank: 'normal' }] }, '/rank/0/claim_id']] as const) {
        const { status, body } = await kit.send('PATCH', `/api/entities/${made.id}`, patch, 'reviewer');
        expect([status, body.code, body.errors]).to.equal([400, 'unknown_claim', [{ pointer, detail: 'is no claim of the actor' }]]);
      }
    });

    it('keep a name whatever is retracted, and a claim that is both ranked and retracted is both', async () => {
      const made = await enter({ name: 'Only Name', phone: '+1 816 555 0133' });
      const idOf = (property: string) => made.claims.find((claim: { property: string }) => claim.property === property).id;
      const refused = await kit.send('PATCH', `/api/entities/${made.id}`, { retract: [idOf('name')] }, 'reviewer');
      expect([refused.status, refused.body.code]).to.equal([409, 'claim_needed']);
      expect((await kit.get(`/api/entities/${made.id}`)).body).to.equal(made);
      await kit.send('PATCH', `/api/entities/${made.id}`, { retract: [idOf('phone')], rank: [{ claim_id: idOf('phone'), rank: 'deprecated' }] }, 'reviewer');
      expect((await kit.get(`/api/entities/${made.id}/claims?property=phone`)).body.data[0]).to.include({ status: 'retracted', rank: 'deprecated' });
    });

    it('have a claim once, though a request brings it twice', async () => {
      const { id } = await enter({ name: 'Twice ActorProperties' });
      const claim = { property: 'email', value: 'a@example.org', source_local_id: 'n' };
      const { body } = await kit.send('PATCH', `/api/entities/${id}`, { sources: [{ local_id: 'n', url: 'https://example.org/twice' }], add: [claim, claim] }, 'reviewer');
      expect(body.claims.filter(({ property }: { property: string }) => property === 'email')).to.have.length(1);
    });

    it('take many changes at once, and lose none', async () => {
      const { id } = await enter({ name: 'Busy Bureau', place: KC, url: 'https://example.org/busy' });
      const patches = Array.from({ length: 12 }, (_, index) => kit.send('PATCH', `/api/entities/${id}`, {
        sources: [{ local_id: 'n', url: `https://example.org/busy/${index}` }], add: [{ property: 'social', value: { network: 'web', url: `https://busy.example/${index}` }, source_local_id: 'n' }],
      }, 'reviewer'));
      expect((await Promise.all(patches)).map(({ status }) => status)).to.equal(Array.from({ length: 12 }, () => 200));
      const { body } = await kit.get(`/api/entities/${id}`);
      expect([body.contact.social.length, body.source_count]).to.equal([12, 13]);
      expect(await kit.composition.checks.find(({ name }) => name === 'directory')!.run()).to.include({ status: 'ok' });
    });

    it('are merged and split again with nothing lost; the merged id names its successor', async () => {
      const left = await enter({ name: 'Food Bank of KC', place: KC, phone: '+1 816 555 0111' });
      const right = await enter({ name: 'Kansas City Food Bank', place: KC, email: 'hello@example.org' });
      const before = (await kit.get(`/api/places/${KC}/entities`)).body.total;
      const merged = await kit.send('POST', `/api/entities/${left.id}/merge`, { into: right.id, reason: 'one office' }, 'reviewer');
      expect([merged.status, merged.body.id, merged.body.contact.phone, merged.body.contact.email, merged.body.source_count]).to.equal([200, right.id, '+1 816 555 0111', 'hello@example.org', 2]);
      const gone = await kit.get(`/api/entities/${left.id}`);
      expect([gone.status, gone.body.code, gone.body.merged_into]).to.equal([404, 'unknown_actor', right.id]);
      expect(gone.headers.link).to.equal(`<${kit.server.app.civic.publicUrl}/api/entities/${right.id}>; rel="successor-version"`);
      expect((await kit.get(`/api/places/${KC}/entities`)).body.total).to.equal(before - 1);
      expect((await kit.send('POST', `/api/entities/${left.id}/merge`, { into: right.id }, 'reviewer')).status).to.equal(404);
      const split = await kit.send('POST', `/api/entities/${right.id}/split`, {}, 'reviewer');
      expect(split.body.entities.map(({ id }: { id: string }) => id).sort()).to.equal([left.id, right.id].sort());
      const again = (await kit.get(`/api/entities/${left.id}`)).body;
      expect({ ...again, updated_at: left.updated_at }).to.equal({ ...left });
      expect((await kit.get(`/api/places/${KC}/entities`)).body.total).to.equal(before);
      expect((await kit.send('POST', `/api/entities/${right.id}/split`, {}, 'reviewer')).body.code).to.equal('not_merged');
    });

    it('are gone when deleted, everywhere, and stay so', async () => {
      const { id } = await enter({ name: 'Soon Gone Society', place: KC });
      expect(await namesIn('/api/entities?query=soon%20gone')).to.equal(['Soon Gone Society']);
      const before = (await kit.get(`/api/places/${KC}/coverage`)).body.entity_count;
      expect((await kit.send('DELETE', `/api/entities/${id}`, undefined, 'reviewer')).status).to.equal(204);
      expect((await kit.get(`/api/entities/${id}`)).status).to.equal(404);
      expect(await namesIn('/api/entities?query=soon%20gone')).to.equal([]);
      expect((await kit.get(`/api/places/${KC}/coverage`)).body.entity_count).to.equal(before - 1);
      expect((await kit.send('DELETE', `/api/entities/${id}`, undefined, 'reviewer')).status).to.equal(404);
    });

    it('age by what was not seen again for long', async () => {
      const { id } = await enter({ name: 'Aging Agency', phone: '+1 816 555 0122' });
      const statusOn = async (day: string) => {
        clock.set(`${day}T12:00:00.000Z`);
        return (await kit.get(`/api/entities/${id}`)).body.freshness.status;
      };
      expect(await statusOn('2026-07-31')).to.equal('fresh');
      expect(await statusOn('2026-08-01')).to.equal('aging');
      expect(await statusOn('2027-01-27')).to.equal('aging');
      expect(await statusOn('2027-01-28')).to.equal('stale');
      clock.set('2026-02-01T12:00:00.000Z');
    });

    it('are not found by an id that is cut short, unknown or no id', async () => {
      const { id } = await enter({ name: 'Known' });
      for (const wrong of [id.slice(0, -1), id.slice(0, 8), 'x', '00000000-0000-7000-8000-000000000000', `${id}%00`]) {
        for (const part of ['', '/sources', '/claims', '/history', '/related']) expect((await kit.get(`/api/entities/${wrong}${part}`)).status, wrong + part).to.equal(404);
      }
    });

    it('answer 304 to who has this version, and bytes once made are dropped when the data changes', async () => {
      const { id } = await enter({ name: 'Cached Co-op', place: KC, issue_area: 'housing_affordability' });
      for (const path of [`/api/entities/${id}`, `/api/places/${KC}/entities?issue_area=housing_affordability`, `/api/places/${KC}/coverage`, `/api/places/${KC}/sources`, '/api/issue-areas', '/api/entities?query=cached']) {
        const first = await kit.get(path);
        const second = await kit.get(path, undefined, { 'accept-encoding': 'gzip' });
        expect([first.status, second.headers.etag], path).to.equal([200, first.headers.etag]);
        const same = await kit.get(path, undefined, { 'if-none-match': String(first.headers.etag) });
        expect([same.status, same.headers.etag, same.headers['cache-control'], same.headers['content-location']], path).to.equal([304, first.headers.etag, first.headers['cache-control'], first.headers['content-location']]);
        expect((await kit.request('HEAD', path)).headers.etag, path).to.equal(first.headers.etag);
        await enter({ name: 'Another Cached Co-op', place: KC, issue_area: 'housing_affordability', url: 'https://example.org/shared' });
        await kit.send('PATCH', `/api/entities/${id}`, { sources: [{ local_id: 'n', url: `https://example.org/${Math.random()}` }], add: [{ property: 'description', value: `Now ${path}`, source_local_id: 'n' }] }, 'reviewer');
        expect((await kit.get(path)).headers.etag, path).to.not.equal(first.headers.etag);
      }
    });
  });
}
