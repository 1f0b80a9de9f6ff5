import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../core/ids.ts';
import { stoppedClock, testDatabases, testServer, type TestServer } from '../../core/testing.ts';
import { openSite, type Site } from '../../plugins/ingest/test/site.ts';
import { joinWorkspace, runCommand } from '../../plugins/accounts/test/kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const vote = (id: number, person: string) => ({ VoteId: id, VotePersonName: person, VoteValueName: 'Affirmative' });
const council = (people: string[]) => ({
  EventId: 1, EventGuid: 'A', EventBodyName: 'Board of Aldermen', EventDate: '2026-02-10T00:00:00', EventTime: '6:00 PM', EventLocation: 'City Hall', EventAgendaStatusName: 'Final', EventInSiteURL: null,
  EventItems: [{ EventItemId: 11, EventItemTitle: 'Approve the budget', EventItemAgendaNumber: null, EventItemMatterFile: null, EventItemActionName: null, EventItemPassedFlagName: 'Pass', Votes: people.map((person, at) => vote(at + 1, person)) }],
});

for (const database of testDatabases()) {
  describe(`candidates of watched sources on ${database}`, { timeout: 120_000 }, () => {
    const clock = stoppedClock('2026-02-01T12:00:00.000Z');
    let kit: TestServer;
    let site: Site;
    const keys = {} as Record<'owner' | 'member' | 'reviewer' | 'stranger' | 'admin', string>;
    let run: { id: string; counts: { actors_proposed: number; candidates: number }; review_state: string };

    const as = (key: string, method: string, path: string, payload?: unknown) => kit.request(method, path, { headers: { 'x-api-key': key }, ...(payload !== undefined && { payload }) });
    const candidates = async (more = '') => (await as(keys.reviewer, 'GET', `/api/discovery-runs/${run.id}/candidates${more}`)).body;
    const named = async (name: string) => (await candidates('?limit=100')).data.find((one: { name: string }) => one.name === name);
    const path = (id: string) => `/api/discovery-runs/${run.id}/candidates/${id}`;
    const decide = (id: string, payload: object, key = keys.reviewer) => as(key, 'POST', `${path(id)}/decision`, payload);
    async function until<T>(read: () => Promise<T | undefined | null | false>): Promise<T> {
      for (let waited = 0; waited < 400; waited++) {
        const found = await read();
        if (found) return found;
        await sleep(50);
      }
      throw new Error(`Waited in vain for: ${read}`);
    }
    const watch = (name: string, key: string, more: object = {}) => as(key, 'POST', '/api/watched-sources', { url: `${site.url}/v1/${name}/events`, name: `Calendar ${name}`, place: 'st-louis,missouri', ...more });
    /** A person and a body that the directory has already. */
    const addKnown = (type: string, name: string) => as(keys.admin, 'POST', '/api/entities', {
      type, visibility: 'public', sources: [{ local_id: 's', url: `https://city.example/${newId()}` }], claims: [{ property: 'name', value: name, source_local_id: 's' }, { property: 'place', value: 'st-louis,missouri', source_local_id: 's' }],
    });

    before(async () => {
      site = await openSite();
      kit = await testServer({
        database, clock, plugins: ['accounts', 'directory', 'firehose', 'reader', 'discovery', 'ingest'],
        config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { reader: { delay_seconds: 0 } } },
      });
      const account = async (name: string, role = 'user') => (await runCommand(kit, 'account create', { name, role, plan: 'team' }, [])).id as string;
      const key = async (options: object) => (await runCommand(kit, 'key create', options as never, [])).key as string;
      const owner = await account('owner');
      keys.owner = await key({ account: owner });
      const workspace = (await as(keys.owner, 'POST', '/api/workspaces', { name: 'Newsroom' })).body.id as string;
      keys.owner = await key({ account: owner, workspace });
      for (const role of ['member', 'reviewer'] as const) {
        const id = await account(role);
        await joinWorkspace(kit, { owner: keys.owner, member: await key({ account: id }), member_id: id, path: `/api/workspaces/${workspace}`, role });
        keys[role] = await key({ account: id, workspace });
      }
      keys.stranger = await key({ account: await account('stranger') });
      keys.admin = await key({ account: await account('admin', 'admin') });
    });
    after(async () => {
      await kit.close();
      await site.close();
    });

    it('become of the people and bodies that a source names, with the passage of each', async () => {
      expect((await addKnown('organization', 'Board of Aldermen')).status).to.equal(201);
      site.pages['/v1/a/events'] = JSON.stringify([council(['Ada Brandt', 'Ben Okoro', 'Cleo Diaz'])]);
      expect((await watch('a', keys.owner)).status).to.equal(201);
      run = await until(async () => (await as(keys.owner, 'GET', '/api/discovery-runs')).body.data[0]);
      expect(run).to.include({ status: 'completed', location: 'Calendar a', place: 'st-louis,missouri', visibility: 'workspace', review_state: 'unreviewed' });
      expect(run.counts).to.include({ candidates: 4, actors_proposed: 4 });

      const person = await named('Ada Brandt');
      expect(person).to.include({ type: 'person', decision: 'pending', entity_id: null, note: null });
      const [name, affiliation] = person.claims;
      expect(name).to.include({ property: 'name', value: 'Ada Brandt', method: 'structured' });
      expect(name.excerpt).to.contain('Ada Brandt');
      expect(name.excerpt).to.equal(site.pages['/v1/a/events']!.slice(name.locator.start, name.locator.end));
      expect(affiliation.value.name).to.equal('Board of Aldermen');
      // The page does not name the place, which who added the source stated.
      expect(person.claims.map(({ property }: { property: string }) => property)).to.equal(['name', 'affiliation']);
      expect(person.sources[0].content_hash).to.match(/^[0-9a-f]{64}$/);
    });

    it('are compared with known actors, with the names that agree', async () => {
      const body = await until(async () => { const found = await named('Board of Aldermen'); return found.match && found; });
      expect(body.match).to.include({ name: 'Board of Aldermen' });
      expect(body.match.reasons[0]).to.equal('The same name: Board of Aldermen');
    });

    it('are read by members, decided by reviewers, and do not exist for others', async () => {
      const { id } = await named('Ada Brandt');
      expect((await as(keys.member, 'GET', path(id))).status).to.equal(200);
      expect((await decide(id, { decision: 'accept' }, keys.member)).body.code).to.equal('workspace_forbidden');
      for (const [method, where, payload] of [['GET', path(id), undefined], ['POST', `${path(id)}/decision`, { decision: 'accept' }], ['GET', `/api/discovery-runs/${run.id}`, undefined], ['DELETE', `${path(id)}/decision`, undefined]] as const) {
        expect((await as(keys.stranger, method, where, payload)).body.code).to.equal('unknown_run');
      }
      expect((await as(keys.stranger, 'GET', '/api/discovery-runs?scope=workspace')).body.total).to.equal(0);
      expect((await kit.request('GET', '/api/entities?query=Brandt')).body.total).to.equal(0);
    });

    it('are corrected before the decision, and accepted as an actor of the workspace only', async () => {
      const { id } = await named('Ada Brandt');
      expect((await as(keys.reviewer, 'PATCH', path(id), { claims: [{ property: 'email', value: 'no address', source_local_id: 'x' }] })).status).to.equal(400);
      const corrected = (await as(keys.reviewer, 'PATCH', path(id), { name: 'Ada K. Brandt' })).body;
      expect([corrected.name, corrected.claims[0].method]).to.equal(['Ada K. Brandt', 'manual']);
      const accepted = (await decide(id, { decision: 'accept', note: 'Known from the council' })).body;
      expect(accepted).to.include({ decision: 'accepted', note: 'Known from the council', warnings: [] });
      const actor = (await as(keys.reviewer, 'GET', `/api/entities/${accepted.entity_id}`)).body;
      expect(actor).to.include({ name: 'Ada K. Brandt', visibility: 'workspace', type: 'person' });
      expect((await kit.request('GET', `/api/entities/${accepted.entity_id}`)).status).to.equal(404);
      expect((await decide(id, { decision: 'reject' })).body.code).to.equal('candidate_decided');
      expect((await as(keys.reviewer, 'PATCH', path(id), { name: 'Else' })).body.code).to.equal('candidate_decided');
    });

    it('wait again after an undo, which deletes the actor', async () => {
      const { id, entity_id } = await named('Ada K. Brandt');
      expect((await as(keys.reviewer, 'DELETE', `${path(id)}/decision`)).body).to.include({ decision: 'pending', entity_id: null, note: null });
      expect((await as(keys.reviewer, 'GET', `/api/entities/${entity_id}`)).status).to.equal(404);
      expect((await as(keys.reviewer, 'DELETE', `${path(id)}/decision`)).body.code).to.equal('candidate_pending');
      const { entity_id: again } = (await decide(id, { decision: 'accept' })).body;
      clock.advance(1000);
      const edit = { sources: [{ local_id: 's', url: 'https://city.example/ada' }], add: [{ property: 'description', value: 'An alderwoman.', source_local_id: 's' }] };
      expect((await as(keys.reviewer, 'PATCH', `/api/entities/${again}`, edit)).status).to.equal(200);
      expect((await as(keys.reviewer, 'DELETE', `${path(id)}/decision`)).body.code).to.equal('actor_changed');
      expect((await as(keys.reviewer, 'GET', `/api/entities/${again}`)).status).to.equal(200);
    });

    it('are linked to a public actor, which a workspace reviewer does not change', async () => {
      const { id, match } = await named('Board of Aldermen');
      const sources = async () => (await kit.request('GET', `/api/entities/${match.entity_id}/sources`)).body.total;
      const before = await sources();
      expect((await decide(id, { decision: 'merge', into: newId() })).body.code).to.equal('unknown_actor');
      expect((await decide(id, { decision: 'merge' })).status).to.equal(400);
      expect((await decide(id, { decision: 'merge', into: match.entity_id })).body).to.include({ decision: 'merged', entity_id: match.entity_id });
      expect(await sources()).to.equal(before);
    });

    it('are remembered as rejected in runs of other sources, and reviewed when none waits', async () => {
      const { id } = await named('Ben Okoro');
      expect((await decide(id, { decision: 'reject', note: 'Not an alderman' })).body.decision).to.equal('rejected');
      expect((await decide((await named('Cleo Diaz')).id, { decision: 'reject' })).status).to.equal(200);
      expect((await as(keys.owner, 'GET', `/api/discovery-runs/${run.id}`)).body.review_state).to.equal('reviewed');
      site.pages['/v1/b/events'] = JSON.stringify([council(['Ben Okoro', 'Dan Lund'])]);
      await watch('b', keys.owner);
      run = await until(async () => (await as(keys.owner, 'GET', '/api/discovery-runs')).body.data.find(({ location }: { location: string }) => location === 'Calendar b'));
      expect(await named('Ben Okoro')).to.include({ decision: 'rejected', note: 'Not an alderman' });
      expect((await candidates('?decision=pending')).data.map(({ name }: { name: string }) => name)).to.equal(['Dan Lund', 'Board of Aldermen']);
    });

    it('of the operator are for instance reviewers, and a merge adds their claims until it is undone', async () => {
      site.pages['/v1/c/events'] = JSON.stringify([council(['Eva Lind'])]);
      expect((await watch('c', keys.admin, { visibility: 'public' })).status).to.equal(201);
      const open = '?visibility=public';
      const [found] = await until(async () => { const { data } = (await as(keys.admin, 'GET', `/api/discovery-runs${open}`)).body; return data.length > 0 && data; });
      expect((await as(keys.owner, 'GET', `/api/discovery-runs${open}`)).body.code).to.equal('permission_required');
      expect((await as(keys.owner, 'GET', `/api/discovery-runs/${found.id}`)).body.code).to.equal('unknown_run');
      const list = (await as(keys.admin, 'GET', `/api/discovery-runs/${found.id}/candidates${open}&limit=1`)).body;
      expect([list.total, list.data[0].name]).to.equal([2, 'Eva Lind']);
      const next = (await as(keys.admin, 'GET', `/api/discovery-runs/${found.id}/candidates?cursor=${encodeURIComponent(list.next_cursor)}`)).body;
      const body = await until(async () => { const one = (await as(keys.admin, 'GET', `/api/discovery-runs/${found.id}/candidates/${next.data[0].id}${open}`)).body; return one.match && one; });
      const decision = `/api/discovery-runs/${found.id}/candidates/${body.id}/decision${open}`;
      const sources = async () => (await kit.request('GET', `/api/entities/${body.match.entity_id}/sources`)).body.total;
      const before = await sources();
      expect((await as(keys.admin, 'POST', decision, { decision: 'merge', into: body.match.entity_id })).body.decision).to.equal('merged');
      expect(await sources()).to.equal(before + 1);
      expect((await as(keys.admin, 'DELETE', decision)).body.decision).to.equal('pending');
      expect(await sources()).to.equal(before);
    });

    it('never name people who asked not to be listed', async () => {
      await runCommand(kit, 'unlisted add', { name: 'Finn Moe', place: 'St. Louis, MO' }, []);
      site.pages['/v1/d/events'] = JSON.stringify([council(['Finn Moe', 'Gus Ray'])]);
      await watch('d', keys.owner);
      run = await until(async () => (await as(keys.owner, 'GET', '/api/discovery-runs')).body.data.find(({ location }: { location: string }) => location === 'Calendar d'));
      expect((await candidates()).data.map(({ name }: { name: string }) => name)).to.equal(['Gus Ray', 'Board of Aldermen']);
    });

    it('are not renamed to people who asked not to be listed', async () => {
      const { id } = await named('Gus Ray');
      expect((await as(keys.reviewer, 'PATCH', path(id), { name: 'Finn Moe' })).body).to.include({ status: 409, code: 'unlisted_person' });
      expect(await named('Gus Ray')).to.include({ decision: 'pending' });
      expect((await as(keys.reviewer, 'PATCH', path(id), { name: 'Finn Moe', type: 'organization' })).status).to.equal(200);
      expect((await as(keys.reviewer, 'PATCH', path(id), { type: 'person' })).body.code).to.equal('unlisted_person');
      expect((await as(keys.reviewer, 'PATCH', path(id), { name: 'Gus Ray', type: 'person' })).status).to.equal(200);
    });

    it('have the place only with the passage that names it, and no person as an organization', async () => {
      const events = ['Jane Doe', 'Planning Commission', 'Jane Church, City Council', 'City Clerk Jane Doe', 'Friends of the River'].map((organizer, at) => ({ id: at, title: `Meeting ${at}`, start: `2026-02-1${at}T18:00:00Z`, location: 'City Hall, St. Louis', organizer }));
      site.pages['/f.json'] = JSON.stringify({ events });
      site.pages['/g.ics'] = `BEGIN:VCALENDAR\r\nVERSION:2.0\r\n${events.map(({ organizer }, at) => `BEGIN:VEVENT\r\nUID:${at}\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:2026021${at}T000000Z\r\nSUMMARY:Meeting ${at}\r\nORGANIZER;CN="${organizer}":mailto:a@city.example\r\nEND:VEVENT\r\n`).join('')}END:VCALENDAR\r\n`;
      for (const name of ['f.json', 'g.ics']) expect((await watch(name.slice(0, 1), keys.owner, { url: `${site.url}/${name}` })).status).to.equal(201);
      run = await until(async () => (await as(keys.owner, 'GET', '/api/discovery-runs')).body.data.find(({ location }: { location: string }) => location === 'Calendar f'));
      const { data } = await candidates();
      expect(data.map(({ type, name }: { type: string; name: string }) => `${type} ${name}`).toSorted()).to.equal(['organization Friends of the River', 'organization Planning Commission']);
      for (const { claims } of data) {
        const place = claims.find(({ property }: { property: string }) => property === 'place');
        expect(place.value).to.equal('st-louis,missouri');
        expect(place.excerpt).to.contain('St. Louis');
        expect(place.locator.end - place.locator.start).to.equal(place.excerpt.length);
      }
      const meetings = await until(async () => {
        const { signals } = (await as(keys.owner, 'GET', '/api/firehose?visibility=workspace&limit=100')).body;
        const found = signals.filter(({ title }: { title: string }) => title.startsWith('Meeting '));
        return found.length === 10 && found;
      });
      expect(meetings.flatMap(({ actors }: { actors: { name: string }[] }) => actors.map(({ name }) => name)).toSorted()).to.equal(['Friends of the River', 'Friends of the River', 'Planning Commission', 'Planning Commission']);
    });

    it('are deleted when the person asks not to be listed later', async () => {
      run = (await as(keys.owner, 'GET', '/api/discovery-runs')).body.data.find(({ location }: { location: string }) => location === 'Calendar d');
      expect(await named('Gus Ray')).to.exist();
      await runCommand(kit, 'unlisted add', { name: 'Gus Ray', place: 'St. Louis, MO' }, []);
      clock.advance(3600_000);
      await until(async () => await named('Gus Ray') === undefined);
    });

    it('that wait are deleted with their source; decisions stay', async () => {
      const { data } = (await as(keys.owner, 'GET', '/api/watched-sources')).body;
      for (const name of ['Calendar a', 'Calendar d', 'Calendar f']) expect((await as(keys.owner, 'DELETE', `/api/watched-sources/${data.find((one: { name: string }) => one.name === name).id}`)).status).to.equal(204);
      const left = (await as(keys.owner, 'GET', '/api/discovery-runs')).body.data.map(({ location }: { location: string }) => location);
      expect(left).to.equal(['Calendar b', 'Calendar a']);
    });
  });
}
