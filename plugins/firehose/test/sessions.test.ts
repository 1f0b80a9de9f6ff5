import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from 'civic/testing';
import { joinWorkspace, type Person } from './people.ts';
import { openEvents, readersKit, titles, type ReadersKit } from './readers.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SESSIONS = '/api/firehose/sessions';
const DAY = 86_400_000;

for (const database of testDatabases()) {
  describe(`Sessions on ${database}`, { timeout: 60_000 }, () => {
    let kit: ReadersKit;
    let ada: Person;
    let stranger: Person;
    before(async () => {
      kit = await readersKit({ database });
      [ada, stranger] = [await kit.person(), await kit.person()];
    });
    after(() => kit.close());

    /** On Postgres a signal is numbered a moment after it is written. */
    async function found(count: number): Promise<void> {
      while ((await kit.as(ada, 'GET', '/api/firehose?limit=1')).body.summary.total_signals < count) await new Promise((done) => { setTimeout(done, 10); });
    }

    it('are made with the defaults of GET, and say where they are read', async () => {
      const { status, body, headers } = await kit.as(ada, 'POST', SESSIONS, { payload: {} });
      expect(status).to.equal(201);
      expect(body.id).to.match(/^fhs_[0-9a-f]{32}$/);
      const { url } = kit;
      const base = `${kit.server.app.civic.publicUrl}${SESSIONS}/${body.id}`;
      expect(url).to.exist();
      expect(headers['location']).to.equal(base);
      expect(body).to.include({ state: 'active', delivery: { mode: 'sse' }, snapshot_url: `${base}/snapshot`, events_url: `${base}/events`, socket_url: `${base.replace('http', 'ws')}/socket` });
      expect(body.query).to.equal({
        places: [], issues: [], actor_types: [], signal_types: [], source_classes: [], visibility: 'workspace', since: null, until: null, cursor: null, limit: 50, sort: 'detected_at_desc',
      });
      expect(body.workspace.id).to.equal(ada.workspace_id);
      expect(body.usage.query_fingerprint).to.be.a.string();
      expect(Date.parse(body.expires_at) - Date.parse(body.last_seen_at)).to.equal(30 * DAY);
      expect((await kit.as(ada, 'GET', `${SESSIONS}/${body.id}`)).body).to.equal(body);
    });

    it('need no body at all', async () => {
      expect((await kit.as(ada, 'POST', SESSIONS)).status).to.equal(201);
    });

    it('keep the query they are given', async () => {
      const query = { places: ['kansas-city,missouri'], issues: ['housing'], actor_types: ['person'], signal_types: ['vote'], source_classes: ['news'], visibility: 'public', since: '2026-01-01', until: null, limit: 7, sort: 'relevance_desc' };
      const { body } = await kit.as(ada, 'POST', SESSIONS, { payload: { query, delivery: { mode: 'websocket' } } });
      expect(body.query).to.equal({ ...query, since: '2026-01-01T00:00:00.000Z', cursor: null });
      expect(body.delivery).to.equal({ mode: 'websocket' });
    });

    it('refuse what they do not know and what does not fit, naming it', async () => {
      for (const [payload, pointer] of [
        [{ queries: {} }, '/queries'], [{ query: { place: 'x' } }, '/query/place'], [{ query: { limit: 201 } }, '/query/limit'], [{ query: { limit: '5' } }, '/query/limit'],
        [{ query: { visibility: 'secret' } }, '/query/visibility'], [{ query: { since: 'yesterday' } }, '/query/since'], [{ delivery: { mode: 'pigeon' } }, '/delivery/mode'], [{ delivery: { way: 'sse' } }, '/delivery/way'],
      ] as const) {
        const { status, body } = await kit.as(ada, 'POST', SESSIONS, { payload });
        expect([status, body.code, body.errors?.[0]?.pointer], JSON.stringify(payload)).to.equal([400, 'invalid_request', pointer]);
      }
      const { status, headers } = await kit.as(ada, 'POST', SESSIONS, { payload: 'query=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } });
      expect([status, headers['accept-post']]).to.equal([415, 'application/json']);
      expect((await kit.as(ada, 'POST', SESSIONS, { payload: { query: { visibility: 'reviewer' } } })).body.code).to.equal('visibility_forbidden');
    });

    it('are answered in short when that is preferred', async () => {
      const { body, headers } = await kit.as(ada, 'POST', SESSIONS, { payload: {}, headers: { prefer: 'return=minimal' } });
      expect(Object.keys(body)).to.equal(['id', 'snapshot_url', 'events_url', 'socket_url']);
      expect(headers['preference-applied']).to.equal('return=minimal');
      const whole = await kit.as(ada, 'POST', SESSIONS, { payload: {}, headers: { prefer: 'return=representation' } });
      expect([whole.headers['preference-applied'], whole.body.state]).to.equal(['return=representation', 'active']);
      expect((await kit.as(ada, 'POST', SESSIONS, { payload: {}, headers: { prefer: 'respond-async' } })).headers['preference-applied']).to.be.undefined();
    });

    it('are listed to their workspace, the newest first, page by page', async () => {
      const owner = await kit.person();
      const ids: string[] = [];
      for (let i = 0; i < 5; i++) ids.unshift((await kit.session(owner)).id);
      const listed: string[] = [];
      for (let path: string | null = `${SESSIONS}?limit=2`; path;) {
        const { body, headers }: { body: any; headers: any } = await kit.as(owner, 'GET', path);
        expect(body.total).to.equal(5);
        listed.push(...body.data.map(({ id }: { id: string }) => id));
        path = body.next_cursor && `${SESSIONS}?limit=2&cursor=${body.next_cursor}`;
        expect(headers['link'] === undefined).to.equal(path === null);
      }
      expect(listed).to.equal(ids);
      expect((await kit.as(owner, 'GET', `${SESSIONS}?limit=101`)).status).to.equal(400);
      expect((await kit.as(stranger, 'GET', SESSIONS)).body).to.include({ data: [], total: 0, next_cursor: null });
    });

    it('do not exist for other workspaces, nor for any caller once deleted', async () => {
      const { id } = await kit.session(ada);
      const paths = [`${SESSIONS}/${id}`, `${SESSIONS}/${id}/snapshot`, `${SESSIONS}/${id}/events`];
      const codes = async (person: Person) => {
        const answers = await Promise.all(paths.map((path) => kit.as(person, 'GET', path)));
        return [...answers, await kit.as(person, 'POST', `${SESSIONS}/${id}/tickets`), await kit.as(person, 'DELETE', `${SESSIONS}/${id}`)].map(({ status, body }) => `${status} ${body.code}`);
      };
      const unknown = Array.from({ length: 5 }, () => '404 unknown_session');
      expect(await codes(stranger)).to.equal(unknown);
      expect((await kit.as(ada, 'DELETE', `${SESSIONS}/${id}`)).status).to.equal(204);
      expect(await codes(ada)).to.equal(unknown);
      expect((await kit.as(ada, 'GET', `${SESSIONS}/fhs_0`)).body.code).to.equal('unknown_session');
    });

    it('need a key with the scope and a plan with the Firehose', async () => {
      expect((await kit.request('POST', SESSIONS, { payload: {} })).body.code).to.equal('authentication_required');
      const narrow = await kit.person({}, { scopes: ['workspace:read'] });
      expect((await kit.as(narrow, 'POST', SESSIONS, { payload: {} })).body.code).to.equal('insufficient_scope');
    });

    it('belong to the workspace: another member reads what one made', async () => {
      const { body: workspace } = await kit.as(ada, 'POST', '/api/workspaces', { payload: { name: 'Ours' } });
      const guest = await kit.person();
      await joinWorkspace(kit, ada, workspace.id, guest);
      const inside = { headers: { 'x-workspace-id': workspace.id } };
      const { body } = await kit.as(ada, 'POST', SESSIONS, { payload: {}, ...inside });
      expect((await kit.as(guest, 'GET', `${SESSIONS}/${body.id}`, inside)).body.workspace).to.equal({ id: workspace.id, name: 'Ours' });
      expect((await kit.as(guest, 'GET', `${SESSIONS}/${body.id}`)).status).to.equal(404);
    });

    it('have a snapshot that is the answer to their query, names them, and is conditional', async () => {
      await kit.publish('Before');
      await found(1);
      const made = await kit.session(ada, { query: { signal_types: ['vote'], limit: 1 } });
      const { status, body, headers } = await kit.as(ada, 'GET', `${SESSIONS}/${made.id}/snapshot`);
      expect(status).to.equal(200);
      expect(body.session.id).to.equal(made.id);
      expect(body.query).to.equal(made.query);
      expect(body.signals).to.have.length(1);
      expect((await kit.as(ada, 'GET', `${SESSIONS}/${made.id}/snapshot`, { headers: { 'if-none-match': headers['etag'] as string } })).status).to.equal(304);
      const plain = await kit.as(ada, 'GET', '/api/firehose?signal_type=vote&limit=1');
      expect(body.signals).to.equal(plain.body.signals);
      expect(plain.body.session).to.be.null();
    });

    it('go on page by page, and may begin where a page of GET ended', async () => {
      await kit.publish('P1', 'P2', 'P3', 'P4');
      await found(4);
      const address = '/api/firehose?signal_type=vote&limit=1';
      const first = (await kit.as(ada, 'GET', address)).body;
      const second = (await kit.as(ada, 'GET', `${address}&cursor=${first.next_cursor}`)).body;
      const third = (await kit.as(ada, 'GET', `${address}&cursor=${second.next_cursor}`)).body;
      const { id, query } = await kit.session(ada, { query: { cursor: first.next_cursor, limit: 1 } });
      expect(query, 'a cursor is enough by itself').to.include({ signal_types: ['vote'], cursor: first.next_cursor });
      const page = (await kit.as(ada, 'GET', `${SESSIONS}/${id}/snapshot`)).body;
      expect(page.signals).to.equal(second.signals);
      const next = await kit.as(ada, 'GET', `${SESSIONS}/${id}/snapshot?cursor=${page.next_cursor}`);
      expect(next.body.signals).to.equal(third.signals);
      expect(new URL(page.links.next).search).to.equal(`?cursor=${page.next_cursor}`);
      for (const cursor of ['nonsense', page.next_cursor]) expect((await kit.as(ada, 'POST', SESSIONS, { payload: { query: { cursor } } })).body.code).to.equal('invalid_cursor');
      expect((await kit.as(ada, 'POST', SESSIONS, { payload: { query: { cursor: first.next_cursor, visibility: 'public' } } })).body.code, 'one of another query').to.equal('invalid_cursor');
      expect((await kit.as(ada, 'GET', `${SESSIONS}/${id}/snapshot?cursor=nonsense`)).body.code).to.equal('invalid_cursor');
    });

    it('wait for what comes next when that is preferred', async () => {
      const { id } = await kit.session(ada);
      const { headers } = await kit.as(ada, 'GET', `${SESSIONS}/${id}/snapshot`);
      const waiting = kit.as(ada, 'GET', `${SESSIONS}/${id}/snapshot`, { headers: { 'if-none-match': headers['etag'] as string, prefer: 'wait=20' } });
      await new Promise((done) => { setTimeout(done, 100); });
      await kit.publish('Waited for');
      const { status, body, headers: told } = await waiting;
      expect([status, body.signals[0].title, told['preference-applied']]).to.equal([200, 'Waited for', 'wait=20']);
      const long = await kit.as(ada, 'GET', `${SESSIONS}/${id}/snapshot`, { headers: { prefer: 'wait=31' } });
      expect([long.status, long.headers['retry-after']]).to.equal([503, '30']);
    });

    it('lose nothing between being made and being read first, and go on after the id that is presented', async () => {
      const { id } = await kit.session(ada);
      const path = `${SESSIONS}/${id}/events`;
      await kit.publish('One', 'Two');
      const first = await openEvents(kit, path, { 'x-api-key': ada.key });
      const [one] = await first.has(2);
      expect(titles(first.messages.slice(1))).to.equal(['One', 'Two']);
      expect(first.messages[0]).to.include({ type: 'firehose.ready', session_id: id });
      expect(first.messages[0].resume.status).to.equal('complete');
      first.close();

      const again = await openEvents(kit, path, { 'x-api-key': ada.key });
      expect(titles(await again.has(2)), 'reading alone moves nothing').to.equal(['One', 'Two']);
      again.close();

      const second = await openEvents(kit, path, { 'x-api-key': ada.key, 'last-event-id': one.event_id });
      expect(titles(await second.has(1))).to.equal(['Two']);
      second.close();
      const third = await openEvents(kit, path, { 'x-api-key': ada.key });
      expect(titles(await third.has(1))).to.equal(['Two']);
      expect(third.messages[0].resume.requested).to.equal(one.event_id);
      third.close();
      const whole = await openEvents(kit, `${path}?last_event_id=0`, { 'x-api-key': ada.key });
      expect(titles(await whole.has(2)).slice(-2), 'an earlier id is for that consumer alone').to.equal(['One', 'Two']);
      whole.close();
    });

    it('believe the first id that is presented, also one from before they were made', async () => {
      const earlier = await kit.session(ada);
      await kit.publish('Before', 'Also before');
      const stream = await openEvents(kit, `${SESSIONS}/${earlier.id}/events`, { 'x-api-key': ada.key });
      const [before] = await stream.has(2);
      stream.close();
      const { id } = await kit.session(ada);
      const path = `${SESSIONS}/${id}/events`;
      const first = await openEvents(kit, path, { 'x-api-key': ada.key, 'last-event-id': before.event_id });
      expect(titles(await first.has(1))).to.equal(['Also before']);
      first.close();
      const again = await openEvents(kit, path, { 'x-api-key': ada.key });
      expect(titles(await again.has(1)), 'cut before it said more').to.equal(['Also before']);
      again.close();
    });

    it('say so when the stored or presented position is of another life of the log', async () => {
      const { id } = await kit.session(ada);
      const stream = await openEvents(kit, `${SESSIONS}/${id}/events`, { 'x-api-key': ada.key, 'last-event-id': 'abcdefgh-5' });
      const [ready] = await stream.has(1, 'firehose.ready');
      expect(ready.resume).to.include({ requested: 'abcdefgh-5', status: 'epoch_changed' });
      stream.close();
      expect((await openEvents(kit, `${SESSIONS}/${id}/events?last_event_id=nonsense`, { 'x-api-key': ada.key })).problem.code).to.equal('invalid_event_id');
    });

    it('serve several consumers, each with everything', async () => {
      const { id } = await kit.session(ada, { query: { signal_types: ['vote'] } });
      const readers = await Promise.all([1, 2, 3].map(() => openEvents(kit, `${SESSIONS}/${id}/events`, { 'x-api-key': ada.key })));
      await kit.publish('For all');
      for (const reader of readers) {
        expect(titles(await reader.has(1))).to.equal(['For all']);
        reader.close();
      }
    });

    it('end their streams when they are deleted', async () => {
      const { id } = await kit.session(ada);
      const stream = await openEvents(kit, `${SESSIONS}/${id}/events`, { 'x-api-key': ada.key });
      await stream.has(1, 'firehose.ready');
      await kit.as(ada, 'DELETE', `${SESSIONS}/${id}`);
      await stream.ended;
      expect((await openEvents(kit, `${SESSIONS}/${id}/events`, { 'x-api-key': ada.key })).status).to.equal(404);
    });

    it('have no HEAD for what has no end', async () => {
      const { id } = await kit.session(ada);
      for (const part of ['events', 'socket']) {
        const { status, headers } = await kit.as(ada, 'HEAD', `${SESSIONS}/${id}/${part}`);
        expect([status, headers['allow']], part).to.equal([405, 'GET, OPTIONS']);
      }
      expect((await kit.as(ada, 'HEAD', `${SESSIONS}/${id}/snapshot`)).status).to.equal(200);
    });
  });

  describe(`The life of sessions on ${database}`, { timeout: 60_000 }, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let kit: ReadersKit;
    before(async () => { kit = await readersKit({ database, clock, config: { plugins: { firehose: { session_days: 2 } } } }); });
    after(() => kit.close());

    it('extends with use, rounded to the minute', async () => {
      const ada = await kit.person();
      const { id } = await kit.session(ada);
      const shown = async () => (await kit.as(ada, 'GET', `${SESSIONS}/${id}`)).body;
      clock.advance(1.5 * DAY);
      expect((await shown()).last_seen_at, 'being looked at is no use').to.equal('2026-03-01T12:00:00.000Z');
      await kit.as(ada, 'GET', `${SESSIONS}/${id}/snapshot`);
      const used = clock.iso();
      for (let i = 0; i < 100 && (await shown()).last_seen_at !== used; i++) await new Promise((done) => { setTimeout(done, 20); });
      clock.advance(30_000);
      await kit.as(ada, 'GET', `${SESSIONS}/${id}/snapshot`);
      expect((await shown()).last_seen_at).to.equal(used);
      clock.advance(DAY);
      expect(await shown()).to.include({ id, expires_at: new Date(Date.parse(used) + 2 * DAY).toISOString() });
      clock.advance(DAY);
      expect(await shown()).to.include({ status: 404, code: 'unknown_session' });
      expect((await kit.as(ada, 'GET', SESSIONS)).body.total).to.equal(0);
    });

    it('ends for good by a job, with the tickets, and leaves the others', async () => {
      const ada = await kit.person();
      await kit.ticket(ada, (await kit.session(ada)).id);
      clock.advance(3 * DAY);
      const { id } = await kit.session(ada);
      await kit.ticket(ada, id);
      const jobs = kit.composition.jobs.of('firehose');
      const job = await kit.db.write((tx) => jobs.enqueue(tx, 'firehose.prune_sessions', {}));
      while ((await jobs.byId(job))?.state !== 'completed') await new Promise((done) => { setTimeout(done, 10); });
      expect(await kit.db.read('firehose_sessions').pluck('id')).to.equal([id]);
      expect(await kit.db.read('firehose_tickets').pluck('key')).to.have.length(1);
    });

    it('makes room in the plan when it ends, and the plan holds against many at once', async () => {
      const ada = await kit.person({ plan: 'individual' });
      const answers = await Promise.all(Array.from({ length: 25 }, () => kit.as(ada, 'POST', SESSIONS, { payload: {} })));
      expect(answers.filter(({ status }) => status === 201)).to.have.length(20);
      const refused = answers.find(({ status }) => status !== 201)!;
      expect([refused.status, refused.body.code, refused.body.detail]).to.equal([429, 'too_many_sessions', 'The plan individual has 20 sessions, and all are in use.']);
      expect(refused.headers).to.include({ 'retry-after': '60', 'x-ratelimit-limit': '20', 'x-ratelimit-remaining': '0' });
      expect(Number(refused.headers['x-ratelimit-reset'])).to.be.above(1_700_000_000);
      const { id } = answers.find(({ status }) => status === 201)!.body;
      await kit.as(ada, 'DELETE', `${SESSIONS}/${id}`);
      await kit.session(ada);
      clock.advance(3 * DAY);
      await kit.session(ada);
      expect((await kit.as(ada, 'GET', SESSIONS)).body.total).to.equal(1);
    });
  });
}
