import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Document } from 'civic/reader';
import { legistarApi } from '../adapters/legistar-api.ts';
import type { FilingRow, MeetingRow } from '../adapters/types.ts';
import { completed } from '../reads/compare.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const BASE = 'https://webapi.legistar.com/v1/example';
const now = Date.parse('2026-02-01T12:00:00Z');

function documentOf(url: string, records: unknown): Document {
  return {
    url, kind: 'json', body: JSON.stringify(records), text: '', title: null, language: null, site_name: null, description: null, canonical_url: null, main: null, blocks: [], tables: [], links: [], feeds: [],
    items: [], feed: null, calendar: null, pages: [], is_script_page: false, login_wall: false, truncated: false,
  };
}

/** Reads a first document; further ones come from `pages`, by address. Others cannot be opened. */
async function rowsOf(url: string, records: unknown, pages: Record<string, unknown> = {}) {
  const opened: string[] = [];
  const open = async (address: string) => {
    opened.push(address);
    return address in pages ? documentOf(address, pages[address]) : null;
  };
  return { rows: await legistarApi.rows(documentOf(url, records), { now, time_zone: 'America/Chicago', open, leaveOut: () => undefined }), opened };
}

const event = (id: number, more: object = {}) => ({ EventId: id, EventGuid: 'x', EventBodyName: 'City Council ', EventDate: '2026-03-09T00:00:00', EventTime: '6:30 PM', EventLocation: 'City Hall', EventAgendaStatusName: 'Final', EventItems: [], ...more });

describe('the adapter of the Legistar Web API', () => {
  it('recognises the API by its host or its records, and nothing else', () => {
    expect(legistarApi.recognises(documentOf(`${BASE}/events`, []))).to.equal(1);
    expect(legistarApi.recognises(documentOf('http://city.example/v1/city/events', [event(1)]))).to.equal(1);
    expect(legistarApi.recognises(documentOf('https://city.example/data.json', [{ id: 1 }]))).to.equal(0);
    expect(legistarApi.recognises({ ...documentOf('https://city.example/', []), kind: 'html', body: null })).to.equal(0);
  });

  it('asks for recent and coming records only, unless the address has a filter', () => {
    expect(decodeURIComponent(legistarApi.request!(`${BASE}/events?token=abc`, now))).to.equal(`${BASE}/events?token=abc&$filter=EventDate+ge+datetime'2025-12-03'&$top=1000`);
    expect(decodeURIComponent(legistarApi.request!(`${BASE}/matters`, now))).to.contain("MatterIntroDate+ge+datetime'2025-12-03'");
    const own = `${BASE}/events?$filter=EventBodyId eq 5`;
    expect(legistarApi.request!(own, now)).to.equal(own);
  });

  it('reads time and place in the zone of the city', async () => {
    const { rows: [row] } = await rowsOf(`${BASE}/events`, [event(7)]);
    expect(row).to.include({ kind: 'meeting', key: 'event-7', title: 'City Council', start: '2026-03-09T23:30:00.000Z', location: 'City Hall', status: 'confirmed' });
  });

  it('reads records in which columns are missing or wrong', async () => {
    const { rows } = await rowsOf(`${BASE}/events`, [
      { EventId: 1, EventBodyName: 'Board', EventDate: '2026-03-09T00:00:00', EventItems: [] }, { EventId: 2, EventDate: 'soon', EventItems: [] }, { EventBodyName: 'No id' }, null, 5,
      event(3, { EventTime: 'TBD', EventItems: [{ EventItemId: 1 }, { EventItemId: 2, EventItemTitle: ' Sewers ' }] }),
    ]);
    expect(rows.map(({ key }) => key)).to.equal(['event-1', 'event-2', 'event-3']);
    expect(rows.map((row) => (row as MeetingRow).start)).to.equal(['2026-03-09', null, '2026-03-09']);
    expect((rows[2] as MeetingRow).items!.map(({ title }) => title)).to.equal(['Sewers']);
  });

  it('reads all pages of more than 1,000 rows', async () => {
    const first = Array.from({ length: 1000 }, (_, index) => event(index + 1));
    const next = `${BASE}/events?%24top=1000&%24skip=1000`;
    const { rows, opened } = await rowsOf(`${BASE}/events`, first, { [next]: [event(1001), event(1002)] });
    expect(rows).to.have.length(1002);
    expect(opened[0]).to.equal(next);
    expect(opened.slice(1).every((url) => url.includes('/eventitems?'))).to.be.true();
    await expect(rowsOf(`${BASE}/events`, first, {})).to.reject('a further page of its list could not be read');
    const broken = { ...documentOf(next, []), body: '[{"EventId": 1001, "EventDate"' };
    await expect(legistarApi.rows(documentOf(`${BASE}/events`, first), { now, time_zone: 'America/Chicago', open: async () => broken, leaveOut: () => undefined }) as Promise<unknown>).to.reject('a further page of its list could not be read');
    await expect(rowsOf(`${BASE}/events`, { Message: 'An error has occurred.' })).to.reject('it did not return a list');
  });

  it('opens agendas and votes, and keeps what is known of votes that the API fails to return', async () => {
    const items = `${BASE}/events/1/eventitems?agendanote=1&minutesnote=1&token=abc`;
    const votes = `${BASE}/eventitems/11/votes?token=abc`;
    const pages: Record<string, unknown> = {
      [items]: [{ EventItemId: 11, EventItemTitle: 'Budget', EventItemMatterFile: 'B 1', EventItemPassedFlagName: 'Pass' }, { EventItemId: 12, EventItemTitle: 'Recess' }],
      [votes]: [{ VotePersonName: 'Bo Ray', VoteValueName: 'Negative', VoteSort: 2 }, { VotePersonName: 'Ann Lee', VoteValueName: 'Affirmative', VoteSort: 1 }],
    };
    const url = `${BASE}/events?token=abc`;
    const { rows: [first], opened } = await rowsOf(url, [event(1)], pages);
    expect(opened).to.equal([items, votes]);
    const { items: read } = first as MeetingRow;
    expect(read![0]).to.equal({ key: '11', number: null, title: 'Budget', matter: 'B 1', action: null, passed: true, votes: [{ person: 'Ann Lee', value: 'Affirmative' }, { person: 'Bo Ray', value: 'Negative' }] });
    delete pages[votes];
    const { rows: [later] } = await rowsOf(url, [event(1)], pages);
    expect((later as MeetingRow).items![0]!.votes).to.be.null();
    expect(completed(later!, first)).to.equal(first!);
    const { rows: [without] } = await rowsOf(url, [event(1)], {});
    expect(completed(without!, first)).to.equal(first!);
    pages[items] = { Message: 'An error has occurred.' };
    const { rows: [failed] } = await rowsOf(url, [event(1)], pages);
    expect(completed(failed!, first)).to.equal(first!);
    expect((completed(failed!, undefined) as MeetingRow).items).to.be.null();
  });

  it('takes deferred and cancelled meetings as cancelled', async () => {
    const { rows } = await rowsOf(`${BASE}/events`, [event(1, { EventAgendaStatusName: 'Cancelled' }), event(2, { EventAgendaStatusName: 'Deferred' }), event(3, { EventComment: 'POSTPONED until May' }), event(4)]);
    expect(rows.map((row) => (row as MeetingRow).status)).to.equal(['cancelled', 'cancelled', 'cancelled', 'confirmed']);
  });

  it('reads matters with sponsors and histories, each once, and leaves out those that the city restricts', async () => {
    const history = { MatterHistoryId: 5, MatterHistoryActionDate: '2026-01-08T13:00:00', MatterHistoryActionName: 'Introduced', MatterHistoryActionBodyName: 'City Council' };
    const { rows } = await rowsOf(`${BASE}/matters`, [
      { MatterId: 1, MatterGuid: 'm', MatterFile: 'B 1', MatterTitle: 'A budget', MatterTypeName: 'Bill', MatterIntroDate: '2026-01-08T00:00:00', MatterSponsors: [{ MatterSponsorName: 'Ann Lee' }, { MatterSponsorName: '' }, { MatterSponsorName: 'Ann Lee' }], MatterHistories: [history, history] },
      { MatterId: 2, MatterGuid: 'n', MatterTitle: 'Personnel', MatterRestrictViewViaWeb: true },
    ]);
    expect(rows).to.have.length(1);
    expect(rows[0]).to.include({ key: 'matter-1', number: 'B 1', title: 'A budget', type: 'Bill', introduced: '2026-01-08', sponsors: ['Ann Lee'] });
    expect((rows[0] as FilingRow).actions).to.equal([{ key: '5', date: '2026-01-08', body: 'City Council', action: 'Introduced', passed: null, votes: [] }]);
  });
});
