import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases, testServer, type TestServer } from 'civic/testing';
import { definePlugin, newId } from 'civic';
import type { ReaderService } from 'civic/reader';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSite, type Site } from './site.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const HOUR = 3600_000;
const COUNCIL = { EventId: 1, EventGuid: 'A', EventBodyName: 'City Council', EventDate: '2026-02-10T00:00:00', EventTime: '6:00 PM', EventLocation: 'City Hall', EventAgendaStatusName: 'Final', EventInSiteURL: 'https://city.example/meeting/1', EventItems: [item(11, 'Approve the minutes')] };
const ZONING = { EventId: 2, EventGuid: 'B', EventBodyName: 'Zoning Board', EventDate: '2026-02-20T00:00:00', EventTime: '1:00 PM', EventLocation: 'Room 2', EventAgendaStatusName: 'Final', EventInSiteURL: 'https://city.example/meeting/2', EventItems: [] };

function item(id: number, title: string, more: object = {}): object {
  return { EventItemId: id, EventItemTitle: title, EventItemAgendaNumber: null, EventItemMatterFile: null, EventItemActionName: null, EventItemPassedFlagName: null, Votes: [], ...more };
}

for (const database of testDatabases()) {
  describe(`watched sources on ${database}`, { timeout: 120_000 }, () => {
    const clock = stoppedClock('2026-02-01T12:00:00.000Z');
    let kit: TestServer;
    let archive: ReaderService['content'];
    const spy = definePlugin({ name: 'spy', summary: 'Reads the archive for tests', needs: ['reader'], register: (_server, civic) => ({ async start() { archive = civic.service('reader').content; } }) });
    let site: Site;
    let id: string;

    const admin = { role: 'admin', scope: ['workspace:read', 'workspace:write'] } as const;
    const call = (method: string, path: string, payload?: unknown, as: object = admin) => kit.request(method, path, { as, ...(payload !== undefined && { payload }) });
    const state = async () => (await call('GET', `/api/watched-sources/${id}?visibility=public`)).body;
    const history = async () => (await call('GET', `/api/watched-sources/${id}/history?visibility=public`)).body;
    const signals = async (): Promise<{ type: string; title: string; summary: string | null; changes: unknown[]; actors: { name: string; role: string }[]; evidence: { passage: string; content_hash: string }[]; occurred_at: string }[]> =>
      (await kit.request('GET', '/api/firehose?visibility=public&limit=100')).body.signals;
    const show = (events: object[]) => { site.pages['/v1/city/events'] = JSON.stringify(events); };
    async function until(condition: () => Promise<boolean>): Promise<void> {
      for (let waited = 0; !(await condition()); waited++) {
        if (waited > 400) throw new Error(`Waited in vain for: ${condition}`);
        await sleep(50);
      }
    }
    /** Waits for a signal: on Postgres the log numbers them after the commit. */
    async function signal(type: string) {
      for (let waited = 0; waited < 200; waited++) {
        const found = (await signals()).find((one) => one.type === type);
        if (found) return found;
        await sleep(25);
      }
      throw new Error(`No signal of the type ${type}`);
    }
    /** Lets the next read of the source happen, and returns it. */
    async function nextRead() {
      const { total } = await history();
      const { next_read_at } = await state();
      if (!next_read_at) throw new Error('No next read');
      clock.set(next_read_at);
      for (let waited = 0; (await history()).total === total; waited++) {
        if (waited > 400) throw new Error('The source was not read');
        await sleep(50);
      }
      return (await history()).data[0];
    }

    before(async () => {
      site = await openSite();
      kit = await testServer({
        database, clock, plugins: ['accounts', 'directory', 'firehose', 'reader', 'ingest', spy],
        config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { firehose: { anonymous: true }, reader: { delay_seconds: 0 } } },
      });
    });
    after(async () => {
      await kit.close();
      await site.close();
    });

    it('recognises what an address is, and shows the first rows before it watches', async () => {
      show([COUNCIL, ZONING]);
      const { status, body } = await call('POST', '/api/watched-sources', { url: `${site.url}/v1/city/events`, name: 'City calendar', place: 'st-louis,missouri', visibility: 'public' });
      expect(status).to.equal(201);
      expect(body).to.include({ platform: 'legistar_api', visibility: 'public', state: 'active', name: 'City calendar', place: 'st-louis,missouri', cadence_seconds: null });
      expect(body.sample.map((row: { title: string; date: string }) => [row.title, row.date])).to.equal([['City Council', '2026-02-11T00:00:00.000Z'], ['Zoning Board', '2026-02-20T19:00:00.000Z']]);
      id = body.id;
      expect((await call('POST', '/api/watched-sources', { url: `${site.url}/v1/city/events`, visibility: 'public' })).body).to.include({ status: 409, code: 'source_watched' });
    });

    it('publishes what the first read lists, each with its passage in the archive', async () => {
      for (let waited = 0; (await history()).total === 0 && waited < 400; waited++) await sleep(50);
      await signal('public_meeting');
      const found = await signals();
      expect(found.map(({ type, title }) => `${type} ${title}`).toSorted()).to.equal(['public_meeting City Council', 'public_meeting Zoning Board']);
      const [evidence] = found[0]!.evidence;
      expect(evidence!.passage).to.contain('"EventBodyName"');
      expect(new TextDecoder().decode((await archive(kit.db.read, evidence!.content_hash))!.body)).to.contain(evidence!.passage);
      expect(await state()).to.include({ row_count: 2 });
      expect((await state()).health.status).to.equal('healthy');
      const { watched_sources } = (await kit.request('GET', '/api/places/st-louis,missouri/coverage')).body;
      expect(watched_sources).to.equal({ total: 1, healthy: 1, failing: 0, last_success_at: clock.iso() });
    });

    it('has a feed of its signals, as Atom and JSON, without a key', async () => {
      const feed = (format: string, headers = {}) => kit.request('GET', `/api/watched-sources/${id}/feed.${format}`, { headers });
      const atom = await feed('atom');
      expect(atom.headers['content-type']).to.equal('application/atom+xml; charset=utf-8');
      expect(atom.text).to.contain('<title>City calendar: ').and.contain('<title>Zoning Board</title>').and.contain(`/api/watched-sources/${id}/feed.json`);
      const { body } = await feed('json');
      expect(body.items.map(({ title }: { title: string }) => title).toSorted()).to.equal(['City Council', 'Zoning Board']);
      expect((await feed('json', { 'if-none-match': (await feed('json')).headers.etag })).status).to.equal(304);
      const member = { ...admin, plan: 'team', workspace_id: newId() };
      const theirs = (await call('POST', '/api/watched-sources', { url: `${site.url}/private`, test: false }, member)).body.id;
      expect((await kit.request('GET', `/api/watched-sources/${theirs}/feed.atom`)).body).to.include({ status: 404, code: 'unknown_watched_source' });
      expect((await call('DELETE', `/api/watched-sources/${theirs}`, undefined, member)).status).to.equal(204);
    });

    it('is silent while nothing changes', async () => {
      const before = await signals();
      const read = await nextRead();
      expect(read).to.include({ outcome: 'unchanged', added: 0, changed: 0, gone: 0, signals: 0 });
      expect(await signals()).to.equal(before);
    });

    it('publishes what changed: a moved time, a new item, a vote with every name', async () => {
      const passed = item(11, 'Approve the minutes', { EventItemPassedFlagName: 'Pass', Votes: [{ VotePersonName: 'Ann Lee', VoteValueName: 'Affirmative', VoteSort: 1 }, { VotePersonName: 'Bo Ray', VoteValueName: 'Negative', VoteSort: 2 }] });
      show([{ ...COUNCIL, EventTime: '7:00 PM', EventItems: [passed, item(12, 'Sewer repairs')] }, ZONING]);
      expect(await nextRead()).to.include({ outcome: 'read', changed: 1, signals: 3 });
      const change = await signal('source_change');
      expect(change.title).to.equal('City Council: moved from 10 Feb 2026, 18:00 to 10 Feb 2026, 19:00, and 2 more changes');
      expect(change.changes).to.contain([{ field: 'start', before: '2026-02-11T00:00:00.000Z', after: '2026-02-11T01:00:00.000Z' }, { field: 'items', before: null, after: { number: null, title: 'Sewer repairs', matter: null, action: null, passed: null } }]);
      const vote = await signal('vote');
      expect(vote.title).to.equal('Passed: Approve the minutes');
      expect(vote.actors.map(({ name, role }) => `${name}: ${role}`)).to.equal(['City Council: body', 'Ann Lee: Affirmative', 'Bo Ray: Negative']);
      const records = (evidence: { passage: string | null }[]) => evidence.map(({ passage }) => JSON.parse(`[${passage}]`).map((record: Record<string, string>) => record.VotePersonName ?? record.EventItemTitle));
      expect(records(vote.evidence)).to.equal([['Ann Lee', 'Bo Ray'], ['Approve the minutes']]);
      expect(records(change.evidence)).to.equal([['Approve the minutes'], ['Sewer repairs']]);
      const meetings = (await signals()).filter(({ type, title }) => type === 'public_meeting' && title === 'City Council');
      expect(meetings.map(({ occurred_at }) => occurred_at)).to.equal(['2026-02-11T01:00:00.000Z']);
    });

    it('reports short notice of a meeting that appears a few hours before it begins', async () => {
      const soon = new Date(clock.now() + 6 * HOUR).toLocaleString('sv-SE', { timeZone: 'America/Chicago' });
      const special = { ...COUNCIL, EventId: 3, EventBodyName: 'Special session', EventDate: `${soon.slice(0, 10)}T00:00:00`, EventTime: soon.slice(11, 16), EventItems: [] };
      show([{ ...COUNCIL, EventTime: '7:00 PM' }, ZONING, special]);
      await nextRead();
      const short = await signal('short_notice');
      expect(short.title).to.match(/^Short notice: Special session, /);
      expect(short.summary).to.contain('the rule is 24 hours (RSMo 610.020)');
    });

    it('cancels a meeting that vanishes from a page that still has others, and nothing when all vanish', async () => {
      show([{ ...COUNCIL, EventTime: '7:00 PM' }, { ...ZONING, EventId: 4, EventBodyName: 'Begun', EventDate: '2026-01-20T00:00:00' }]);
      expect(await nextRead()).to.include({ gone: 0 });
      // Only one announced meeting is left, so the next read has to confirm it, although its content is the same.
      expect(await nextRead()).to.include({ gone: 2 });
      await signal('meeting_cancelled');
      const cancelled = (await signals()).filter(({ type }) => type === 'meeting_cancelled');
      expect(cancelled.map(({ title }) => title.slice(0, 24)).toSorted()).to.equal(['Cancelled: Special sessio', 'Cancelled: Zoning Board,'].map((title) => title.slice(0, 24)));
      const count = (await signals()).length;
      show([]);
      await nextRead();
      expect((await signals()).length).to.equal(count);
    });

    it('finds a change that a test of the source has read before', async () => {
      show([{ ...COUNCIL, EventTime: '7:00 PM', EventLocation: 'Library' }]);
      expect((await call('POST', `/api/watched-sources/${id}/test?visibility=public`)).body.total).to.equal(1);
      expect(await nextRead()).to.include({ outcome: 'read', changed: 1 });
    });

    it('takes what another address lists as a new start: nothing is cancelled or of short notice', async () => {
      const count = async (type: string) => (await signals()).filter((one) => one.type === type).length;
      const before = [await count('meeting_cancelled'), await count('short_notice')];
      site.pages['/v1/other/events'] = JSON.stringify([{ ...ZONING, EventId: 77, EventBodyName: 'Parks Board' }]);
      expect((await call('PATCH', `/api/watched-sources/${id}?visibility=public`, { url: `${site.url}/v1/other/events?token=secret-7` })).body).to.include({ platform: 'legistar_api', row_count: 0 });
      await until(async () => (await state()).row_count === 1);
      expect([await count('meeting_cancelled'), await count('short_notice')]).to.equal(before);
      await until(async () => (await signals()).some(({ title }) => title === 'Parks Board'));
      expect(JSON.stringify(await signals())).to.not.contain('secret-7');
      await call('PATCH', `/api/watched-sources/${id}?visibility=public`, { url: `${site.url}/v1/city/events` });
      await until(async () => (await state()).row_count === 1);
    });

    it('turns failing after some failures in a row, states what to do, reads it more rarely, and recovers', async () => {
      site.pages['/v1/city/events'] = (_request, response) => { response.writeHead(500).end(); };
      for (let failures = 1; failures <= 3; failures++) {
        const read = await nextRead();
        expect(read).to.include({ outcome: 'failed', signals: 0 });
      }
      const failing = await state();
      expect(failing.health).to.include({ status: 'failing', reason: 'http_status', failures: 3 });
      expect(failing.health.detail).to.contain('responded with the status 500');
      expect(Date.parse(failing.next_read_at) - clock.now()).to.equal(4 * HOUR);
      expect((await kit.request('GET', '/api/places/st-louis,missouri/coverage')).body.watched_sources).to.include({ total: 1, healthy: 0, failing: 1 });
      show([{ ...COUNCIL, EventTime: '7:00 PM' }]);
      await nextRead();
      expect((await state()).health).to.include({ status: 'healthy', reason: null, failures: 0 });
      expect(Date.parse((await state()).next_read_at) - clock.now()).to.equal(HOUR);
    });

    it('pauses, resumes, changes and deletes a source', async () => {
      expect((await call('POST', `/api/watched-sources/${id}/pause?visibility=public`)).body).to.include({ state: 'paused', next_read_at: null });
      const requests = site.requests.length;
      clock.advance(5 * HOUR);
      await sleep(500);
      expect(site.requests.length).to.equal(requests);
      const { total } = await history();
      expect((await call('POST', `/api/watched-sources/${id}/pause?visibility=public`, { paused: false })).body).to.include({ state: 'active' });
      // A source that is resumed is read at once.
      await until(async () => (await history()).total > total);
      expect((await call('PATCH', `/api/watched-sources/${id}?visibility=public`, { cadence_seconds: 7200, tags: ['council'] })).body).to.include({ cadence_seconds: 7200, tags: ['council'] });
      expect((await call('GET', '/api/watched-sources?visibility=public&tag=council')).body.total).to.equal(1);
      expect((await call('DELETE', `/api/watched-sources/${id}?visibility=public`)).status).to.equal(204);
      expect((await call('GET', `/api/watched-sources/${id}?visibility=public`)).body).to.include({ status: 404, code: 'unknown_watched_source' });
      const before = site.requests.length;
      clock.advance(5 * HOUR);
      await sleep(500);
      expect(site.requests.length).to.equal(before);
    });

    it('explains why an address cannot be watched, and stores nothing', async () => {
      const { body } = await call('POST', '/api/watched-sources', { url: `${site.url}/nothing`, visibility: 'public' });
      expect(body).to.include({ status: 400, code: 'source_unreadable', detail: `${new URL(site.url).host} responded with the status 404. Find where the page is now, and watch that address.` });
      expect((await call('POST', '/api/watched-sources', { url: `${site.url}/nothing`, visibility: 'public' }, { role: 'user', scope: ['workspace:write'] })).body).to.include({ status: 403, code: 'permission_required' });
    });
  });
}
