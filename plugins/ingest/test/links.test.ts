import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin, type Caller, type Terminal } from 'civic';
import { stoppedClock, testDatabases, testServer, type TestServer } from 'civic/testing';
import type { ReaderService } from 'civic/reader';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSite, type Site } from './site.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const DAY = 24 * 3600_000;
const WORKSPACE = '01890000-0000-7000-8000-00000000000a';
const editor: Partial<Caller> = { role: 'reviewer', scope: ['entities:write', 'directory:read', 'flags:review'], workspace_id: WORKSPACE, workspace_role: 'member' };
const CONTACT = 'Jane Roe lives in St. Louis, call 314 555 0100';
const page = (text: string) => `<html><head><title>Page</title></head><body><main><p>${text}</p></main></body></html>`;
const status = (code: number, headers: Record<string, string> = {}): Site['pages'][string] => (_request, response) => { response.writeHead(code, headers).end(); };

for (const database of testDatabases()) {
  describe(`links of the directory on ${database}`, { timeout: 240_000 }, () => {
    const clock = stoppedClock('2026-02-01T12:00:00.000Z');
    let kit: TestServer;
    let archive: ReaderService['content'];
    const spy = definePlugin({ name: 'spy', summary: 'Reads the archive for tests', needs: ['reader'], register: (_server, civic) => ({ async start() { archive = civic.service('reader').content; } }) });
    let site: Site;
    let other: Site;
    let strict: Site;
    const sites: Site[] = [];
    /** What is cited together is checked together: each step of time runs the jobs of all plugins. */
    const cited: Record<string, { id: string; actor: string }> = {};

    async function open(): Promise<Site> {
      const opened = await openSite();
      sites.push(opened);
      return opened;
    }
    async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
      for (let waited = 0; !(await condition()); waited++) {
        if (waited > 600) throw new Error(`Waited in vain for: ${condition}`);
        await sleep(50);
      }
    }
    /** Enters an actor that cites an address, and returns the source. */
    async function cite(url: string, { visibility = 'public', excerpt = 'We meet on Mondays', type = 'organization' } = {}) {
      const { status: code, body, text } = await kit.request('POST', '/api/entities', {
        as: editor,
        payload: {
          type, visibility, sources: [{ local_id: 's', url, title: 'About us' }],
          claims: [{ property: 'name', value: `Group of ${url}`, source_local_id: 's' }, { property: 'place', value: 'st-louis,missouri', source_local_id: 's', excerpt }],
        },
      });
      expect(code, text).to.equal(201);
      return { id: body.sources[0].id as string, actor: body.id as string };
    }
    const source = async (id: string) => (await kit.request('GET', `/api/sources/${id}`, { as: editor })).body;
    const flags = async (): Promise<{ id: string; target_id: string; flag_type: string; status: string; reason: string; note: string | null; account_id: string | null; suspicion: string | null }[]> =>
      (await kit.request('GET', '/api/flags?flag_type=broken_link&limit=100', { as: editor })).body.data;
    const flagsOf = async (id: string) => (await flags()).filter(({ target_id }) => target_id === id);
    /** Lets time pass, and waits until the jobs have run. */
    async function pass(milliseconds: number): Promise<void> {
      clock.advance(milliseconds);
      for (const name of ['ingest.find_links', 'ingest.check_links']) {
        await until(async () => {
          const job = await kit.composition.jobs.newest(name);
          return job?.state === 'completed' && Date.parse(job.created_at) >= clock.now();
        });
      }
    }
    async function command(name: string, ...positionals: string[]): Promise<any> {
      let printed: unknown;
      const terminal: Terminal = { json: true, signal: new AbortController().signal, out: () => undefined, err: () => undefined, print: (value) => { printed = value; }, progress: () => undefined, style: (_style, text) => text };
      await kit.composition.commands.find((one) => one.name === name)!.run({ terminal, positionals, options: {}, cwd: process.cwd() });
      return printed;
    }

    before(async () => {
      [site, other] = [await open(), await open()];
      kit = await testServer({
        database, clock, plugins: ['accounts', 'directory', 'firehose', 'flags', 'reader', 'ingest', spy],
        config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { firehose: { anonymous: true }, reader: { delay_seconds: 0, timeout_seconds: 1 }, ingest: { links: { flags_per_day: 2 } } } },
      });
      // The first runs of the jobs are due at the start.
      await pass(0);
      other.pages['/steady'] = page('We meet on Mondays');
      await cite(`${other.url}/steady`);
      for (const path of ['/about', '/news']) site.pages[path] = page('We meet on Mondays');
      site.pages['/jane'] = page(CONTACT);
      site.pages['/old'] = status(301, { location: '/about' });
      site.pages['/now'] = status(302, { location: '/about' });
      site.pages['/forbidden'] = status(403);
      site.pages['/gone'] = page('Here');
      for (const path of ['/about', '/news', '/old', '/now', '/forbidden', '/gone']) cited[path] = await cite(`${site.url}${path}`);
      cited['/jane'] = await cite(`${site.url}/jane`, { excerpt: CONTACT, type: 'person' });
      strict = await open();
      strict.pages['/robots.txt'] = 'User-agent: *\nDisallow: /';
      cited['strict'] = await cite(`${strict.url}/page`);
      const failing = await open();
      failing.pages['/robots.txt'] = status(500);
      cited['failing'] = await cite(`${failing.url}/page`);
    });
    after(async () => {
      await kit.close();
      for (const one of sites) await one.close();
    });

    it('sends no request before a source is a day old, and never to addresses of examples', async () => {
      await cite('https://example.org/never');
      await pass(DAY / 2);
      await pass(DAY / 4);
      expect(sites.flatMap(({ requests }) => requests)).to.equal([]);
    });

    it('finds that a link works, and archives the page', async () => {
      const { id, actor } = cited['/about']!;
      expect(await source(id)).to.include({ url_status: 'unknown', last_checked_at: null, archived: false, content_hash: null });
      await pass(DAY);
      const found = await source(id);
      expect(found).to.include({ url_status: 'ok', last_checked_at: clock.iso(), archived: true });
      expect(new TextDecoder().decode((await archive(kit.db.read, found.content_hash))!.body)).to.contain('We meet on Mondays');
      const exported = (await kit.request('GET', '/api/exports/entities?format=ndjson')).text.split('\n').find((line) => line.includes(actor))!;
      expect(exported).to.contain(found.content_hash).and.contain('"url_status":"ok"');
      expect((await kit.request('GET', `/api/entities/${actor}/sources`)).body.data[0]).to.include({ url_status: 'ok', archived: true });
    });

    it('distinguishes a permanent redirect from a temporary one', async () => {
      expect(await source(cited['/old']!.id)).to.include({ url_status: 'redirected', archived: true });
      expect(await source(cited['/now']!.id)).to.include({ url_status: 'ok' });
      expect((await command('links list')).counts).to.include({ moved: 1, broken: 0 });
    });

    it('does not check it again before its time, and keeps the hash when only the markup changes', async () => {
      const { id } = cited['/news']!;
      const { content_hash: first } = await source(id);
      site.pages['/news'] = page('We meet on Mondays').replace('<main>', '<main class="new">');
      const requests = site.requests.length;
      await pass(20 * DAY);
      expect(site.requests.length).to.equal(requests);
      await pass(10 * DAY);
      expect(site.requests.slice(requests)).to.include(['/about', '/news']);
      expect(await source(id)).to.include({ content_hash: first, last_checked_at: clock.iso() });
    });

    it('changes the hash when the text changes, and publishes that a quoted passage is gone, without quoting one about a person', async () => {
      const [{ id }, jane] = [cited['/news']!, cited['/jane']!];
      const { content_hash: first } = await source(id);
      site.pages['/news'] = page('We meet on Tuesdays');
      site.pages['/jane'] = page('Our team has changed');
      await pass(31 * DAY);
      const { content_hash: second } = await source(id);
      expect(second).to.not.equal(first);
      const signals = async () => (await kit.request('GET', '/api/firehose?visibility=public&signal_type=source_change')).body.signals;
      await until(async () => (await signals()).length > 1);
      const found: { actors: { id: string }[]; [member: string]: any }[] = await signals();
      const [signal, aboutJane] = found.toSorted(({ actors: [actor] }) => (actor!.id === jane.actor ? 1 : -1)) as [any, any];
      expect(found).to.have.length(2);
      expect(signal.title).to.equal('“About us” no longer has a passage quoted from it');
      expect(signal.places).to.equal(['st-louis,missouri']);
      expect(signal.changes).to.equal([{ field: 'passage', before: 'We meet on Mondays', after: null }]);
      expect(signal.evidence.map((evidence: { content_hash: string; source_id: string }) => [evidence.source_id, evidence.content_hash])).to.equal([[id, second], [id, first]]);
      expect(aboutJane.actors.map((actor: { id: string }) => actor.id)).to.equal([jane.actor]);
      expect(aboutJane.summary).to.equal(`The passage about Group of ${site.url}/jane (place) is gone; passages about people are not quoted.`);
      expect(JSON.stringify(aboutJane)).to.not.contain('555').and.not.contain('Jane Roe');
    });

    it('reports a page that stays away once, after three failures over six days, and ends the report when it is back', async () => {
      const { id } = cited['/gone']!;
      const worked = await source(id);
      delete site.pages['/gone'];
      await pass(31 * DAY);
      // Checks by hand do not make a link broken sooner.
      for (let times = 0; times < 3; times++) expect(await command('links check', id)).to.include({ result: 'failed', is_counted: true, reason: 'not_found' });
      expect(await source(id)).to.equal({ ...worked, freshness: (await source(id)).freshness });
      await pass(3 * DAY);
      expect(await flags()).to.equal([]);
      await pass(3 * DAY);
      expect(await source(id)).to.include({ url_status: 'broken', archived: true, content_hash: worked.content_hash });
      await until(async () => (await source(id)).flags.open === 1);
      const [flag] = await flagsOf(id);
      expect(flag).to.include({ status: 'open', account_id: null, suspicion: null });
      expect(flag!.reason).to.startWith('The automatic check of links could not open the page').and.contain('responded with the status 404.');
      await pass(31 * DAY);
      expect(await flagsOf(id)).to.have.length(1);
      site.pages['/gone'] = page('Here again');
      await pass(31 * DAY);
      expect(await source(id)).to.include({ url_status: 'ok', last_checked_at: clock.iso() });
      const [settled] = await flagsOf(id);
      expect(settled).to.include({ status: 'dismissed' });
      expect(settled!.note!).to.startWith('The link works again.');
      // Later it breaks again: that is a new report.
      delete site.pages['/gone'];
      await pass(31 * DAY);
      for (let times = 0; times < 2; times++) await pass(3 * DAY);
      expect((await flagsOf(id)).map(({ status: one }) => one)).to.equal(['open', 'dismissed']);
    });

    it('never calls a page broken that programs may not read', async () => {
      expect(site.requests.filter((path) => path === '/forbidden').length).to.be.above(5);
      for (const { id } of [cited['/forbidden']!, cited['strict']!, cited['failing']!]) {
        expect(await source(id)).to.include({ url_status: 'unknown', last_checked_at: null, archived: false });
        expect((await command('links check', id)).result).to.equal('blocked');
        expect(await flagsOf(id)).to.equal([]);
      }
      expect(new Set(strict.requests)).to.equal(new Set(['/robots.txt']));
    });

    it('reports the links of a site that vanished a few a day, and none of a workspace', async () => {
      const vanished = await open();
      const ids = await Promise.all(['/1', '/2', '/3'].map(async (path) => (await cite(`${vanished.url}${path}`)).id));
      cited['/private'] = await cite(`${site.url}/private`, { visibility: 'workspace' });
      cited['/parked'] = await cite(`${site.url}/parked`);
      await kit.request('POST', `/api/rechecks/${cited['/parked'].id}`, { as: editor, payload: { outcome: 'broken' } });
      for (const path of ['/a', '/b']) {
        for (const host of [site, other]) {
          host.pages[path] = page('Here');
          cited[`${host.url}${path}`] = await cite(`${host.url}${path}`);
        }
      }
      const reported = async () => (await Promise.all(ids.map(flagsOf))).flat().length;
      await pass(DAY / 2);
      for (let times = 0; times < 3; times++) await pass(3 * DAY);
      for (const id of ids) expect(await source(id)).to.include({ url_status: 'broken' });
      expect(await reported()).to.equal(2);
      await pass(DAY / 2);
      expect(await reported()).to.equal(2);
      await pass(DAY);
      expect(await reported()).to.equal(3);
      expect(await inWorkspace()).to.include({ url_status: 'broken' });
      expect(await flagsOf(cited['/private'].id)).to.equal([]);
    });

    it('leaves a source alone that a reviewer marked as broken, and checks it when one states that it works', async () => {
      const { id } = cited['/parked']!;
      for (const path of ['/parked', '/private']) site.pages[path] = page('Here');
      await pass(31 * DAY);
      expect(await source(id)).to.include({ url_status: 'broken' });
      expect(site.requests).to.not.include('/parked');
      await kit.request('POST', `/api/rechecks/${id}`, { as: editor, payload: { outcome: 'confirmed' } });
      await pass(31 * DAY);
      expect(site.requests).to.include('/parked');
    });

    it('finds that a link of a workspace works again', async () => {
      expect(await inWorkspace()).to.include({ url_status: 'ok', archived: true });
    });

    it('counts a failure once when two workers check the same link', async () => {
      const { id } = await cite(`${site.url}/slow`);
      let release = (): void => undefined;
      const hanging = new Promise<void>((resolve) => { release = resolve; });
      let isAsked = false;
      site.pages['/slow'] = (_request, response) => {
        if (isAsked) return void response.writeHead(404).end();
        isAsked = true;
        void hanging.then(() => response.writeHead(404).end());
      };
      const first = command('links check', id);
      await until(() => isAsked);
      // The host takes one request at a time, so the second one waits for the first.
      const second = command('links check', id);
      release();
      await Promise.all([first, second]);
      expect(await failuresOf(id)).to.equal(1);
    });

    it('finds that a host is gone, and one that does not respond in time', async () => {
      const dead = await open();
      dead.pages['/page'] = page('Here');
      const slow = await open();
      slow.pages['/page'] = () => undefined;
      const [away, late] = [await cite(`${dead.url}/page`), await cite(`${slow.url}/page`)];
      await dead.close();
      expect(await command('links check', away.id)).to.include({ result: 'failed', reason: 'unreachable', is_counted: true });
      expect(await command('links check', late.id)).to.include({ result: 'failed', reason: 'too_slow', is_counted: true });
    });

    it('counts no failure while nothing can be reached', async () => {
      const before = (await flags()).length;
      const ids = [site, other].flatMap(({ url }) => [cited[`${url}/a`]!.id, cited[`${url}/b`]!.id]);
      for (const id of ids) expect(await source(id)).to.include({ url_status: 'ok' });
      const pages = [site, other].map((host) => ({ host, pages: host.pages }));
      // One host has lost all its pages, the other closes every connection.
      site.pages = {};
      other.pages = new Proxy({}, { get: () => ({ socket }: IncomingMessage) => { socket.destroy(); } });
      for (const days of [31, 3, 3]) await pass(days * DAY);
      for (const id of ids) {
        expect(await source(id)).to.include({ url_status: 'ok' });
        expect(await failuresOf(id)).to.equal(0);
      }
      expect((await flags()).length).to.equal(before);
      for (const { host, pages: former } of pages) host.pages = former;
      await pass(DAY / 4);
      await pass(DAY / 4);
      for (const id of ids) expect(Date.parse((await source(id)).last_checked_at)).to.be.above(clock.now() - DAY);
    });

    async function inWorkspace() {
      return (await kit.request('GET', `/api/entities/${cited['/private']!.actor}`, { as: editor })).body.sources[0];
    }
    async function failuresOf(id: string): Promise<number> {
      const row = await kit.db.read('ingest_links').where({ source_id: id }).first('failures');
      return Number(row.failures);
    }
  });
}
