import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import type { ListedMeeting } from 'civic/directory';
import { stoppedClock, testDatabases } from 'civic/testing';
import { plainText, siteKit, type SiteKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const NOW = Date.parse('2026-11-18T12:00:00Z');
const PLACE = 'gladstone,missouri';
const ENTRIES = 'No entries about Gladstone, Missouri yet.';

const meeting = (title: string, start: string, place: string | null): ListedMeeting => ({
  id: '01890000-0000-7000-8000-0000000000f1', title, start, end: null, location: 'City Hall', status: 'confirmed', place_key: place, issue_areas: [],
  url: 'https://gladstone.example/council', source: 'City of Gladstone', created_at: '2026-11-01T00:00:00.000Z', updated_at: '2026-11-01T00:00:00.000Z',
});

for (const database of testDatabases()) {
  describe(`Meetings of an instance without entries on ${database}`, () => {
    let kit: SiteKit;
    let meetings: ListedMeeting[] = [];
    let changed: () => void;
    const calendar = definePlugin({
      name: 'calendar', summary: 'Lists meetings for tests', needs: ['directory'],
      register(_server, civic) {
        const forget = civic.service('directory').listMeetings(async (_reader, { places, since }) => meetings.filter(({ start, place_key: key }) => start >= since && (!places || places.includes(key!))));
        return { async start() { changed = forget; } };
      },
    });
    const pageOf = async (path: string): Promise<string> => plainText((await kit.open(path)).text);
    const list = (...listed: ListedMeeting[]) => {
      meetings = listed;
      changed();
    };
    before(async () => { kit = await siteKit({ database, plugins: [calendar], clock: stoppedClock(NOW) }); });
    after(() => kit.close());

    it('are on the home page, which states no longer that the directory is being set up', async () => {
      expect(await pageOf('/')).to.contain('This directory is being set up.');
      list(meeting('Council of <Gladstone>', '2026-11-25T00:30:00.000Z', PLACE), meeting('Meeting without a place', '2026-11-26T00:30:00.000Z', null));
      const page = await pageOf('/');
      expect(page).to.contain(['Coming up', 'Tue, Nov 24, 6:30 PM CST', 'Council of &lt;Gladstone&gt;</a>', `href="/places/${PLACE}">Gladstone</a>`, 'Meeting without a place', 'There are no entries about people and groups yet.']);
      expect(page).not.to.contain('being set up').and.not.contain('0 entries').and.not.contain('bin/civic');
      for (const heading of ['Places', 'Issues']) expect(page, 'a list without content').not.to.contain(`<h2>${heading}</h2>`);
      expect(await pageOf('/es/')).to.contain(['Próximamente', 'Todavía no hay fichas de personas ni grupos.']).and.not.contain('se está preparando');
    });

    it('are beside the next steps that administrators read', async () => {
      const { text } = await kit.request('GET', '/', { headers: { accept: 'text/html' }, as: { role: 'admin' } });
      expect(text).to.contain(['Council of &lt;Gladstone&gt;', 'bin/civic import csv people.csv']).and.not.contain('Nothing here yet');
    });

    it('come first on the page of their place, before the sentence that there are no entries', async () => {
      const page = await pageOf(`/places/${PLACE}`);
      expect(page).to.match(/<div class="place no-entries">\s*<section class="coming">[^]*Council of &lt;Gladstone&gt;[^]*No entries about Gladstone, Missouri yet\./);
      expect(page).to.contain('href="/about#corrections">Report who is missing</a>').and.not.contain('Nothing about').and.not.contain('Meeting without a place');
      expect(page).to.contain('name="description" content="Coming meetings in Gladstone, Missouri, with their sources."');
      expect(await pageOf(`/es/places/${PLACE}`)).to.match(/Council of [^]*Todavía no hay fichas sobre Gladstone, Missouri\.[^]*href="\/es\/about#corrections">Avise de quién falta/);
    });

    it('of a state or county come first too', async () => {
      list(meeting('Commission of the county', '2026-11-25T00:30:00.000Z', 'clay-county,missouri'));
      expect(await pageOf('/places/clay-county,missouri')).to.match(/<section class="coming">[^]*Commission of the county[^]*clay-county,missouri\/meetings\.ics">Add to my calendar[^]*No entries about Clay County, Missouri yet\./);
    });

    it('leave the pages as soon as they are listed no longer', async () => {
      expect(await pageOf(`/places/${PLACE}`)).to.contain(ENTRIES).and.not.contain('Coming up');
      list();
      expect(await pageOf('/')).to.contain('This directory is being set up.').and.not.contain('Coming up');
    });
  });
}
