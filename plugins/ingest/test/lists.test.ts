import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { newId } from 'civic';
import { slowness, stoppedClock, testDatabases, testServer, type TestServer } from 'civic/testing';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSite, type Site } from './site.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PATH = '/api/watched-sources';
const opml = (body: string, head = '') => `<?xml version="1.0"?>${head}<opml version="2.0"><head><title>Ours</title></head><body>${body}</body></opml>`;

for (const database of testDatabases()) {
  describe(`lists of watched sources on ${database}`, { timeout: 120_000 }, () => {
    const clock = stoppedClock('2026-02-01T12:00:00.000Z');
    let kit: TestServer;
    let site: Site;
    let folder: string;

    const member = (plan = 'team') => ({ role: 'user' as const, plan, workspace_id: newId(), scope: ['workspace:read', 'workspace:write'] });
    const call = (as: object, method: string, path: string, payload?: unknown, type?: string) => kit.request(method, path, { as, ...(payload !== undefined && { payload }), ...(type && { headers: { 'content-type': type } }) });
    const sendOpml = (as: object, text: string) => call(as, 'POST', `${PATH}/import`, text, 'text/x-opml');
    /** Runs a command as a terminal would show it. */
    async function run(name: string, positionals: string[], options: object = {}): Promise<string> {
      const command = kit.composition.commands.find((one) => one.name === name)!;
      const lines: string[] = [];
      const terminal = { json: false, signal: new AbortController().signal, out: (line: string) => { lines.push(line); }, err: () => undefined, print: (_value: unknown, words: () => string) => { lines.push(words()); }, progress: () => undefined, style: (_style: unknown, text: string) => text };
      await command.run({ terminal: terminal as never, positionals, options: options as never, cwd: folder });
      return lines.join('\n');
    }

    before(async () => {
      site = await openSite();
      folder = await mkdtemp(join(tmpdir(), 'lists-'));
      kit = await testServer({
        database, clock, plugins: ['accounts', 'directory', 'firehose', 'reader', 'ingest'],
        config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { reader: { delay_seconds: 0 } } },
      });
    });
    after(async () => {
      await kit.close();
      await site.close();
      await rm(folder, { recursive: true, force: true });
    });

    it('add what can be watched, and state why the rest cannot', async () => {
      const caller = member();
      const { status, body } = await call(caller, 'POST', `${PATH}/import`, {
        sources: [{ url: `${site.url}/a`, name: 'A', tags: ['council'] }, { url: `${site.url}/a` }, { url: 'calendar' }, { url: `${site.url}/b`, place: 'nowhere,atall' }, { url: `${site.url}/c`, issues: ['no_such_issue'] }, { name: 'None' }, { url: `${site.url}/d`, visibility: 'public' }],
      });
      expect(status).to.equal(200);
      expect(body).to.include({ created: 1, watched: 1, rejected: 5 });
      expect(body.results.map(({ row, outcome, code }: { row: number; outcome: string; code: string | null }) => [row, outcome, code])).to.equal([
        [1, 'created', null], [2, 'watched', null], [3, 'rejected', 'invalid_request'], [4, 'rejected', 'invalid_request'], [5, 'rejected', 'invalid_request'], [6, 'rejected', 'invalid_request'], [7, 'rejected', 'invalid_request'],
      ]);
      expect(body.results[1].id).to.equal(body.results[0].id);
      expect(body.results[3].detail).to.contain('nowhere,atall');
      expect(body.results[4].detail).to.contain('no_such_issue');
      expect((await call(caller, 'GET', PATH)).body.data.map(({ name, url, tags, visibility }: { name: string; url: string; tags: string[]; visibility: string }) => [name, url, tags, visibility])).to.equal([['A', `${site.url}/a`, ['council'], 'workspace']]);
    });

    it('of OPML have its feeds, links and pages at any depth, and no entity grows', async () => {
      const caller = member();
      const bomb = '<!DOCTYPE opml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>';
      const { body } = await sendOpml(caller, opml(`<outline text="Folder"><outline text="Deeper"><outline type="rss" text="News &amp; more" xmlUrl="${site.url}/feed.xml?a=1&amp;b=2" htmlUrl="${site.url}/" category="council,/Boston/Weather"/></outline></outline><outline type="link" text="&b;" url="${site.url}/link"/><outline text="Page" htmlUrl="${site.url}/page"/>`, bomb));
      expect(body).to.include({ created: 3, rejected: 0 });
      const { data } = (await call(caller, 'GET', PATH)).body;
      expect(data.map(({ name, url, tags }: { name: string; url: string; tags: string[] }) => [name, url, tags])).to.equal([['Page', `${site.url}/page`, []], ['&b;', `${site.url}/link`, []], ['News & more', `${site.url}/feed.xml?a=1&b=2`, ['council']]]);
    });

    it('that are no list, too long or too deep are refused as a whole', async () => {
      const caller = member();
      const outline = (index: number) => `<outline text="a" xmlUrl="${site.url}/${index}"/>`;
      for (const [text, detail] of [
        ['<html><body>No list</body></html>', 'no OPML'], [opml(''), 'no addresses'], [opml(Array.from({ length: 501 }, (_, index) => outline(index)).join('')), 'more than 500 addresses'],
        [opml(`${'<outline text="a">'.repeat(60)}${outline(1)}${'</outline>'.repeat(60)}`), 'levels'], [opml('<outline text="a"/>'.repeat(6000)), 'tags'], [`${'<!DOCTYPE['.repeat(4900)}${'x'.repeat(900_000)}`, 'no OPML'],
      ] as const) {
        const startedAt = performance.now();
        const { status, body } = await sendOpml(caller, text);
        expect(performance.now() - startedAt, detail).to.be.below(3000 * slowness);
        expect(status, detail).to.equal(400);
        expect(body.detail).to.contain(detail);
      }
      expect((await call(caller, 'POST', `${PATH}/import`, { sources: Array.from({ length: 501 }, () => ({ url: site.url })) })).status).to.equal(400);
      expect((await call(caller, 'POST', `${PATH}/import`, 'url\n', 'text/csv')).status).to.equal(415);
      expect((await call(caller, 'GET', PATH)).body.total).to.equal(0);
    });

    it('are read one after the other, while a single source is read at once', async () => {
      const caller = member();
      const requests = () => site.requests.filter((path) => path.startsWith('/spread')).length;
      for (const index of [1, 2, 3]) site.pages[`/spread-${index}`] = `<p>Page ${index} has a text that is long enough to be watched.</p>`;
      await call(caller, 'POST', `${PATH}/import`, { sources: [1, 2, 3].map((index) => ({ url: `${site.url}/spread-${index}` })) });
      const next = (await call(caller, 'GET', PATH)).body.data.map(({ next_read_at }: { next_read_at: string }) => next_read_at);
      // The first one may have been read by now.
      expect(next.slice(0, 2)).to.equal(['2026-02-01T12:00:04.000Z', '2026-02-01T12:00:02.000Z']);
      const read = async (count: number) => {
        for (let waited = 0; waited < 200 && (await call(caller, 'GET', PATH)).body.data.filter(({ last_read_at }: { last_read_at: string | null }) => last_read_at !== null).length < count; waited++) await sleep(50);
        await sleep(200);
        return (await call(caller, 'GET', PATH)).body.data.filter(({ last_read_at }: { last_read_at: string | null }) => last_read_at !== null).length;
      };
      expect(await read(1)).to.equal(1);
      expect(requests()).to.be.above(0);
      clock.advance(2000);
      expect(await read(2)).to.equal(2);
      clock.advance(2000);
      expect(await read(3)).to.equal(3);
    });

    it('do not add a source again whose first read found a name and a better address', async () => {
      const caller = member();
      site.pages['/news'] = '<html><head><title>City news</title><link rel="alternate" type="application/rss+xml" href="/news.xml"></head><body><p>News of the city.</p></body></html>';
      site.pages['/news.xml'] = '<rss version="2.0"><channel><title>News</title><item><title>Road works</title><guid>1</guid></item></channel></rss>';
      const add = () => call(caller, 'POST', `${PATH}/import`, { sources: [{ url: `${site.url}/news` }] });
      const [{ id }] = (await add()).body.results;
      const source = async () => (await call(caller, 'GET', `${PATH}/${id}`)).body;
      for (let waited = 0; waited < 200 && (await source()).platform === null; waited++) await sleep(50);
      expect(await source()).to.include({ platform: 'feed', url: `${site.url}/news.xml`, name: 'City news' });
      expect((await add()).body.results).to.equal([{ row: 1, url: `${site.url}/news`, outcome: 'watched', id, code: null, detail: null }]);
    });

    it('stay within the plan, and take no place for what is rejected', async () => {
      const caller = member('individual');
      const add = async (count: number, name: string) => (await call(caller, 'POST', `${PATH}/import`, { sources: Array.from({ length: count }, (_, index) => ({ url: `${site.url}/${name}-${index}` })) })).body;
      const report = await add(23, 'many');
      expect(report).to.include({ created: 20, rejected: 3 });
      expect(report.results[22]).to.include({ outcome: 'rejected', code: 'too_many_sources' });
      expect((await call(caller, 'DELETE', `${PATH}/${report.results[0].id}`)).status).to.equal(204);
      expect(await add(2, 'more')).to.include({ created: 1, rejected: 1 });
    });

    it('move to another workspace with all settings', async () => {
      const [from, to] = [member(), member()];
      const source = { url: `${site.url}/cal?a=1&b="2"`, name: 'Council <calendar>', place: 'st-louis,missouri', tags: ['council', 'city'], issues: ['housing_affordability'], cadence_seconds: 7200, source_class: 'news', platform: 'icalendar' };
      const feed = { url: `${site.url}/feed`, name: 'Feed', platform: 'feed' };
      expect((await call(from, 'POST', `${PATH}/import`, { sources: [source, feed].map((one) => ({ ...one, url: encodeURI(one.url) })) })).body).to.include({ created: 2 });
      const exported = await call(from, 'GET', `${PATH}.opml`);
      expect(exported.headers).to.include({ 'content-type': 'text/x-opml; charset=utf-8', 'cache-control': 'private, no-store' });
      expect(exported.text).to.contain(`type="rss" xmlUrl="${site.url}/feed"`);
      expect((await sendOpml(to, exported.text)).body).to.include({ created: 2, rejected: 0 });
      const settings = async (as: object) => (await call(as, 'GET', PATH)).body.data.map(({ url, name, place, tags, issues, cadence_seconds, source_class, platform }: Record<string, unknown>) => ({ url, name, place, tags, issues, cadence_seconds, source_class, platform })).toSorted((a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name));
      expect(await settings(to)).to.equal(await settings(from));
      expect((await call(member(), 'GET', `${PATH}.opml`)).text).to.not.contain(site.url);
    });

    it('are imported and written by commands', async () => {
      await writeFile(join(folder, 'list.txt'), `# Ours\n${site.url}/text-1\r\n\n${site.url}/text-2\nnothing\n`);
      await writeFile(join(folder, 'list.csv'), `url,name,place,tags\n${site.url}/csv-1,"Council, city",st-louis missouri,\n${site.url}/csv-2,Two,"st-louis,missouri",a;b\n`);
      await writeFile(join(folder, 'names.csv'), 'name\nOurs\n');
      await writeFile(join(folder, 'bad.txt'), 'nothing\n');
      expect(await run('source import', ['list.txt'])).to.contain('2 added, 0 watched already, 1 rejected.').and.contain('3: nothing: “url” must be a whole address, beginning with https://');
      expect(await run('source import', ['list.txt'])).to.contain('0 added, 2 watched already, 1 rejected.');
      expect(await run('source import', ['list.csv'])).to.contain('1 added').and.contain('1 rejected');
      await expect(run('source import', ['names.csv'])).to.reject(/one of them must be url/);
      await expect(run('source import', ['bad.txt'])).to.reject('No address was imported');
      await expect(run('source import', ['none.txt'])).to.reject(/cannot be read/);
      const written = await run('source list', [], { opml: true });
      expect(written).to.contain(`url="${site.url}/text-1"`).and.contain('text="Two"').and.contain('category="a,b" civic:place="st-louis,missouri"').and.not.contain('/many-');
      expect(await run('source list', [])).to.contain(`${site.url}/csv-2`);
    });

    it('of the operator can be imported again with the short times that its command allows, and those of a workspace cannot', async () => {
      await run('source add', [`${site.url}/often`], { 'every': '60', 'no-test': true });
      const written = (await run('source list', [], { opml: true })).split('\n').filter((line) => !line.includes('<outline') || line.includes('/often')).join('\n');
      expect(written).to.contain('civic:cadence_seconds="60"');
      await writeFile(join(folder, 'often.opml'), written.replaceAll('/often', '/again'));
      expect(await run('source import', ['often.opml'])).to.contain('1 added, 0 watched already, 0 rejected.');
      expect((await sendOpml(member(), written)).body).to.include({ created: 0, rejected: 1 });
    });

    it('and single sources are changed and deleted by commands', async () => {
      site.pages['/edited'] = '<title>Edited</title><p>A page with a text that is long enough to be watched.</p>';
      await run('source add', [`${site.url}/first`], { 'no-test': true, 'name': 'To edit' });
      const id = /([0-9a-f-]{36}).*To edit/.exec(await run('source list', []))![1]!;
      expect(await run('source edit', [id], { url: `${site.url}/edited`, every: '60', tag: ['council'] })).to.contain(`To edit is watched at ${site.url}/edited`);
      const reviewer = { role: 'reviewer', scope: ['workspace:read'] };
      expect((await call(reviewer, 'GET', `${PATH}/${id}?visibility=public`)).body).to.include({ cadence_seconds: 60, tags: ['council'], name: 'To edit' });
      await expect(run('source edit', [id], {})).to.reject(/Name what to change/);
      await expect(run('source edit', [id], { url: 'calendar' })).to.reject(/"url" must be a valid uri/);
      await expect(run('source edit', [id], { place: 'nowhere,atall' })).to.reject(/is the key of no place/);
      expect(await run('source delete', [id])).to.equal('To edit is no longer watched');
      await expect(run('source delete', [id])).to.reject(/No watched source here has the id/);
    });

    it('and single sources that cannot be added are refused with the reason', async () => {
      await expect(run('source add', [`${site.url}/x`], { 'issue': ['nope'], 'no-test': true })).to.reject(/"nope" is no issue area/);
      await expect(run('source add', [`${site.url}/x`], { 'place': 'nowhere,atall', 'no-test': true })).to.reject(/"nowhere,atall" is the key of no place/);
    });
  });
}
