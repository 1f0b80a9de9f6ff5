import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { newId } from 'civic';
import { stoppedClock, testDatabases, testServer, type TestServer } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSite, type Site } from './site.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PATH = '/api/watched-sources';
const PLACE = 'gladstone,missouri';
const event = (uid: string, start: string, title: string, more = '') => `BEGIN:VEVENT\r\nUID:${uid}\r\nDTSTAMP:20260101T000000Z\r\nDTSTART${start}\r\nSUMMARY:${title}\r\n${more}END:VEVENT\r\n`;
const calendar = (...events: string[]) => `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//city//EN\r\n${events.join('')}END:VCALENDAR\r\n`;

const COUNCIL = event('council', ':20260210T000000Z', 'City Council', 'DTEND:20260210T020000Z\r\nLOCATION:City Hall\\, Room 2\r\nURL:https://city.example/council\r\n');
const FAIR = event('fair', ';VALUE=DATE:20260214', 'Open day');
const OFF = event('off', ':20260212T000000Z', 'Zoning board', 'STATUS:CANCELLED\r\n');
const BOARDS = [1, 2, 3].map((number) => event(`board-${number}`, `:2026021${number}T000000Z`, `Board ${number}`));
const PAST = event('past', ':20260131T000000Z', 'Meeting of yesterday');

/** Returns the event of a title in a calendar; an empty text if there is none. */
const eventOf = (ics: string, title: string) => ics.split('BEGIN:VEVENT').find((one) => one.includes(`SUMMARY:${title}\r\n`)) ?? '';

for (const database of testDatabases()) {
  describe(`calendars with watched sources on ${database}`, { timeout: 120_000 }, () => {
    const clock = stoppedClock('2026-02-01T12:00:00.000Z');
    let kit: TestServer;
    let site: Site;
    const reviewer = { role: 'reviewer' as const, scope: ['workspace:read', 'workspace:write'] };
    const member = { role: 'user' as const, plan: 'team', workspace_id: newId(), scope: ['workspace:read', 'workspace:write'] };
    const text = async (path: string) => (await kit.request('GET', path, { headers: { accept: 'text/html' } })).text;
    const ics = async (under: string) => (await text(`/api/${under}/meetings.ics`)).replaceAll('\r\n ', '');
    async function add(file: string, visibility: string, as: object): Promise<string> {
      const { status, body } = await kit.request('POST', PATH, { as, payload: { url: `${site.url}/${file}`, name: 'City calendar', place: PLACE, issues: ['housing_affordability'], visibility } });
      expect(status, JSON.stringify(body)).to.equal(201);
      return body.id as string;
    }
    async function until(condition: () => Promise<boolean>): Promise<void> {
      for (let waited = 0; !(await condition()); waited++) {
        if (waited > 200) throw new Error(`Waited in vain for: ${condition}`);
        await sleep(50);
      }
    }

    before(async () => {
      site = await openSite({ '/city.ics': calendar(COUNCIL, ...BOARDS, FAIR, OFF, PAST), '/ours.ics': calendar(event('secret', ':20260211T000000Z', 'Secret planning')) });
      kit = await testServer({
        database, clock, plugins: ['accounts', 'directory', 'firehose', 'reader', 'ingest', 'site'],
        config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { reader: { delay_seconds: 0 } } },
      });
    });
    after(async () => {
      await kit.close();
      await site.close();
    });

    it('have the meetings of public sources, with time, place and address, once they were read', async () => {
      expect(await ics(`places/${PLACE}`)).to.not.contain('VEVENT');
      await add('ours.ics', 'workspace', member);
      await add('city.ics', 'public', reviewer);
      await until(async () => (await ics(`places/${PLACE}`)).includes('City Council'));
      const found = await ics(`places/${PLACE}`);
      expect(found).to.contain(['DTSTART:20260210T000000Z', 'DTEND:20260210T020000Z', 'LOCATION:City Hall\\, Room 2', 'URL;VALUE=URI:https://city.example/council', `X-CIVIC-PLACE:${PLACE.replace(',', '\\,')}`, 'DTSTART;VALUE=DATE:20260214', 'SUMMARY:Open day']);
      expect(found).to.not.contain(['Zoning board']);
      expect(found).to.not.contain('Secret');
      expect(await ics('issue-areas/housing_affordability')).to.contain('City Council');
      expect(await ics('places/liberty,missouri')).to.not.contain('City Council');
      expect(await ics('issue-areas/public_transit')).to.not.contain('City Council');
    });

    it('and the page of the place lists what comes up, although it has no entries', async () => {
      const page = await text(`/places/${PLACE}`);
      expect(page).to.match(/Coming up[^]*Mon, Feb 9, 6:00 PM CST[^]*href="https:\/\/city\.example\/council"[^>]*>City Council<[^]*City Hall, Room 2[^]*Board 1<[^]*Open day/);
      expect(page).to.not.contain('Meeting of yesterday').and.not.contain('Secret').and.not.contain('Zoning board</a>');
      expect(page).to.contain(`href="/api/places/${PLACE}/meetings.ics"`);
    });

    it('show a meeting that is marked as cancelled or vanished as cancelled, and the page no longer lists it', async () => {
      const sequence = async () => Number(/SEQUENCE:(\d+)/.exec(eventOf(await ics(`places/${PLACE}`), 'City Council'))![1]);
      const first = await sequence();
      site.pages['/city.ics'] = calendar(COUNCIL.replace('LOCATION', 'STATUS:CANCELLED\r\nLOCATION'), ...BOARDS.slice(1), FAIR, OFF, PAST);
      const { etag } = (await kit.request('GET', `/api/places/${PLACE}/meetings.ics`)).headers;
      clock.set('2026-02-01T13:30:00.000Z');
      await until(async () => eventOf(await ics(`places/${PLACE}`), 'City Council').includes('STATUS:CANCELLED'));
      expect(await sequence()).to.be.above(first);
      expect(eventOf(await ics(`places/${PLACE}`), 'Board 1')).to.contain('STATUS:CANCELLED');
      expect((await kit.request('GET', `/api/places/${PLACE}/meetings.ics`)).headers['etag']).to.not.equal(etag);
      expect(await ics(`places/${PLACE}`)).to.contain('Open day');
      expect(await text(`/places/${PLACE}`)).to.not.match(/Coming up[^]*(?:City Council|Board 1)<[^]*Lately/);
    });

    it('and stay the same while no meeting changes, and lose those of a source that is deleted', async () => {
      const etag = async () => (await kit.request('GET', `/api/places/${PLACE}/meetings.ics`)).headers['etag'];
      const before = await etag();
      const { id } = (await kit.request('GET', `${PATH}?visibility=public`, { as: reviewer })).body.data[0];
      const reads = async () => (await kit.request('GET', `${PATH}/${id}/history?visibility=public`, { as: reviewer })).body.total;
      const count = await reads();
      clock.set('2026-02-03T13:30:00.000Z');
      await until(async () => await reads() > count);
      expect(await etag()).to.equal(before);
      expect((await kit.request('DELETE', `${PATH}/${id}?visibility=public`, { as: reviewer })).status).to.equal(204);
      await until(async () => !(await ics(`places/${PLACE}`)).includes('Open day'));
    });
  });
}
