import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from '../../core/testing.ts';
import { openSite, type Site } from '../../plugins/ingest/test/site.ts';
import { runCommand } from '../../plugins/accounts/test/kit.ts';
import { consoleKit, until, type ConsoleKit, type Reader } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PAGE = '/console/sources';
const EVENT = { EventId: 1, EventGuid: 'A', EventBodyName: 'City Council', EventDate: '2030-02-10T00:00:00', EventTime: '6:00 PM', EventLocation: 'City Hall', EventItems: [] };

for (const database of testDatabases()) {
  describe(`Watched sources in the console on ${database}`, { timeout: 60_000 }, () => {
    let kit: ConsoleKit;
    let reviewer: Reader;
    let site: Site;
    let path = '';
    before(async () => {
      site = await openSite({ '/v1/city/events': JSON.stringify([EVENT]) });
      kit = await consoleKit({ database, plugins: ['directory', 'firehose', 'reader', 'ingest'], config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { reader: { delay_seconds: 0 } } } });
      reviewer = await kit.signedIn('reviewer');
    });
    after(async () => {
      await kit.close();
      await site.close();
    });

    /** Sends a form of a page with these fields. */
    const send = async (page: string, fields: Record<string, string>) => {
      const { text } = await reviewer.get(page);
      const token = /name="form_token" value="([^"]*)"/.exec(text)![1]!;
      return kit.request('POST', page, { payload: new URLSearchParams({ form_token: token, ...fields }).toString(), headers: { 'cookie': reviewer.cookie(), 'content-type': 'application/x-www-form-urlencoded', 'accept': 'text/html' } });
    };

    /** Returns the path of the source that a page is about. */
    const pathIn = (text: string) => new RegExp(`action="(${PAGE}/[\\w-]{36})"`).exec(text)![1]!;

    it('are for reviewers, and explain how to begin', async () => {
      expect((await (await kit.signedIn('user')).get(PAGE)).status).to.equal(403);
      expect((await reviewer.get(PAGE)).text).to.contain('No source is watched yet.').and.contain('Read it and watch it');
    });

    it('state what is wrong with an address or a place, and keep what was typed', async () => {
      const wrong = await send(PAGE, { url: 'calendar', place: '', name: 'Ours' });
      expect(wrong.status).to.equal(400);
      expect(wrong.text).to.contain('Enter the whole address, beginning with https:// or http://').and.contain('value="Ours"');
      expect((await send(PAGE, { url: `${site.url}/gone`, place: '', name: '' })).text).to.contain('responded with the status 404. Find where the page is now, and watch that address.');
      const nowhere = await send(PAGE, { url: `${site.url}/v1/city/events`, place: 'Springfeld', name: 'Mine' });
      expect(nowhere.status).to.equal(400);
      expect(nowhere.text).to.contain('No place has this name for certain.').and.contain('Springfield').and.contain('value="Springfeld"').and.contain('value="Mine"');
      const unknown = await send(PAGE, { url: `${site.url}/v1/city/events`, place: '', name: '', issues: 'Housing affordability, gossip', tags: 'a b', source_class: 'news', platform: 'legistar_api', cadence: '900' });
      expect(unknown.status).to.equal(400);
      expect(unknown.text).to.contain('An issue is not known.').and.contain('value="Housing affordability, gossip"').and.contain('<option value="news" selected>').and.contain('<option value="legistar_api" selected>').and.contain('<option value="900" selected>');
      expect((await send(PAGE, { url: `${site.url}/v1/city/events`, place: '', name: '', tags: 'a é' })).text).to.contain('Tags have lower-case letters');
    });

    it('read an address, watch it, and show its reads', async () => {
      const done = await send(PAGE, { url: `${site.url}/v1/city/events`, place: 'St. Louis, Missouri', name: 'City calendar', issues: 'Housing affordability', tags: 'council, weekly', source_class: 'news', platform: 'legistar_api', cadence: '21600' });
      expect(done.status, done.text).to.equal(200);
      expect(done.text).to.contain('One row was found').and.contain('City Council');
      path = pathIn(done.text);
      await until(async () => !(await reviewer.get(path)).text.includes('It was not read yet.'));
      const { text } = await reviewer.get(path);
      expect(text).to.contain('Healthy').and.contain('Legistar Web API').and.contain('St. Louis').and.contain('1 added, 0 changed, 0 gone').and.contain('<rect class="read"').and.contain('aria-label="The last read: none failed.');
      expect((await reviewer.get(PAGE)).text).to.contain(`href="${path}"`).and.contain('One row');
    });

    it('have issues, tags, a class and a time between reads, which are edited', async () => {
      const form = (await reviewer.get(path)).text;
      expect(form).to.contain('value="housing affordability"').and.contain('value="council, weekly"').and.contain('<option value="news" selected>').and.contain('<option value="21600" selected>');
      await send(path, { act: 'edit', name: 'City calendar', url: `${site.url}/v1/city/events`, place: 'St. Louis, Missouri', issues: 'public transit', tags: '', source_class: '', cadence: '' });
      const source = await kit.db.read('ingest_sources').where({ id: path.split('/').at(-1) }).first('issues', 'tags', 'source_class', 'cadence_seconds');
      expect(source).to.equal({ issues: '["public_transit"]', tags: '[]', source_class: null, cadence_seconds: null });
      expect((await send(path, { act: 'edit', name: 'City calendar', url: `${site.url}/v1/city/events`, place: 'Springfeld', issues: '', tags: 'x' })).status).to.equal(400);
    });

    it('list their reads on the command line', async () => {
      const [read] = await runCommand(kit, 'source history', {}, [path.split('/').at(-1)!]) as unknown as object[];
      expect(read).to.include({ outcome: 'read', rows: 1, added: 1 });
      await expect(runCommand(kit, 'source history', { limit: '0' }, [path.split('/').at(-1)!])).to.reject(/--limit/);
    });

    it('state that nothing reads their platform any more', async () => {
      await kit.db.write((tx) => tx('ingest_sources').where({ id: path.split('/').at(-1) }).update({ platform: 'vanished' }));
      expect((await reviewer.get(path)).status).to.equal(200);
      expect((await send(path, { act: 'test' })).text).to.contain('Nothing here reads the platform “vanished” any more.');
      await send(path, { act: 'pause' });
      await send(path, { act: 'resume' });
      await until(async () => (await reviewer.get(path)).text.includes('Failed'));
      await kit.db.write((tx) => tx('ingest_sources').where({ id: path.split('/').at(-1) }).update({ platform: 'legistar_api' }));
    });

    it('are added in a list, pasted or as a file, and exported', async () => {
      const opml = `<opml version="2.0"><body><outline text="Ours" url="${site.url}/ours"/><outline text="Wrong" url="mailto:a@example.org"/></body></opml>`;
      const token = /name="form_token" value="([^"]*)"/.exec((await reviewer.get(`${PAGE}/import`)).text)![1]!;
      const multipart = (list: string, file: string) => [['form_token', token], ['list', list], ['file"; filename="a.opml', file]].map(([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n${name!.startsWith('file') ? 'content-type: text/x-opml\r\n' : ''}\r\n${value}\r\n`).join('');
      const post = (list: string, file: string) => kit.request('POST', `${PAGE}/import`, { payload: `${multipart(list, file)}--b--\r\n`, headers: { 'cookie': reviewer.cookie(), 'content-type': 'multipart/form-data; boundary=b', 'accept': 'text/html' } });
      expect((await post('', '')).text).to.contain('Enter addresses, or choose a file.');
      const filed = await post('', opml);
      expect(filed.status, filed.text).to.equal(200);
      expect(filed.text).to.contain('One source was added. One was rejected:').and.contain('mailto:a@example.org');
      expect((await post(`${site.url}/ours\n${site.url}/pasted`, '')).text).to.contain('One source was added. One is watched already.');
      expect((await post('<opml', '')).text).to.contain('The text is no OPML.');
      expect((await reviewer.get(`${PAGE}/sources.opml`)).text).to.contain(`text="Ours"`).and.contain(`${site.url}/pasted`);
      expect((await (await kit.signedIn('user')).get(`${PAGE}/sources.opml`)).status).to.equal(403);
    });

    it('state that a page is read with a browser', async () => {
      expect((await reviewer.get(path)).text).to.not.contain('Read with a browser');
      await kit.db.write((tx) => tx('ingest_sources').update({ via: 'browser' }));
      expect((await reviewer.get(path)).text).to.contain('Read with a browser: the page has no text without its scripts.');
      expect((await reviewer.get(PAGE)).text).to.contain('Read with a browser');
    });

    it('show what changed last, and ignore a passage until it is reported again', async () => {
      const show = (open: string, visitors: number) => { site.pages['/park'] = `<h1>City park</h1><p>${open}</p><p>Visitors &amp; guests: ${visitors}</p>`; };
      show('The park is open each day from dawn to dusk.', 1);
      const park = pathIn((await send(PAGE, { url: `${site.url}/park`, place: '', name: 'Park' })).text);
      await until(async () => !(await reviewer.get(park)).text.includes('It was not read yet.'));
      expect((await reviewer.get(park)).text).to.not.contain('What changed last').and.contain('It has no place and no issue');
      const readAgain = async () => {
        await send(park, { act: 'pause' });
        await send(park, { act: 'resume' });
      };
      show('The park is closed for repairs.', 2);
      await readAgain();
      await until(async () => (await reviewer.get(park)).text.includes('What changed last'));
      const { text } = await reviewer.get(park);
      expect(text).to.match(/<del>.*open each day from dawn to dusk\./).and.match(/<ins>.*closed for repairs\./).and.contain('name="passage" value="Visitors &amp; guests: 2"').and.not.contain('Ignored passages');
      const ignored = await reviewer.get((await send(park, { act: 'ignore', passage: 'Visitors & guests: 2' })).headers.location as string);
      expect(ignored.text).to.contain('Changes of this passage are not reported any more.').and.contain('Ignored passages').and.contain('Report again');
      show('The park is closed for repairs.', 3);
      await readAgain();
      await until(async () => (await reviewer.get(park)).text.split('Not changed').length > 1);
      expect((await reviewer.get((await send(park, { act: 'report', passage: 'Visitors & guests: 2' })).headers.location as string)).text).to.contain('reported again').and.not.contain('Ignored passages');
      expect((await send(park, { act: 'ignore', passage: ' ' })).status).to.equal(400);
      expect((await reviewer.post(park, { act: 'ignore', passage: ['a', 'b'] })).status).to.equal(400);
    });

    it('pause, resume and delete a source', async () => {
      expect((await reviewer.get((await send(path, { act: 'pause' })).headers.location as string)).text).to.contain('The source is paused.').and.contain('Resume');
      expect((await reviewer.get((await send(path, { act: 'resume' })).headers.location as string)).text).to.contain('The source is read again.');
      expect((await send(path, { act: 'nothing' })).status).to.equal(400);
      expect((await reviewer.get((await send(path, { act: 'delete' })).headers.location as string)).text).to.contain('The source is deleted.');
      expect((await reviewer.get(path)).status).to.equal(404);
    });
  });
}
