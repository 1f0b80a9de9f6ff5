import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { federalRegister } from '../adapters/federal-register.ts';
import { short, startReading, type Reading } from './adapters-kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const JSON_TYPE = { content_type: 'application/json' };

describe('adapters of data', () => {
  let reading: Reading;
  before(async () => { reading = await startReading(); });
  after(() => reading.close());

  describe('grants', () => {
    it('reads awards of the National Science Foundation', async () => {
      // The title and the amount of a real award, in the fields of api.nsf.gov/services/v1/awards.json; the other values are examples.
      const award = { id: '1800000', agency: 'NSF', awardeeCity: 'EXAMPLE', awardeeName: 'Example University', awardeeStateCode: 'EX', date: '01/30/2018', fundsObligatedAmt: '500000', title: 'CAREER:Active Nano-Acoustic Waveguide Matrix to Tackle Signal Processing Limits' };
      const { adapter, rows } = await reading.rows(JSON.stringify({ response: { award: [award] } }), JSON_TYPE);
      expect(adapter).to.equal('grants');
      expect(rows).to.have.length(1);
      expect(rows[0]).to.include({ kind: 'post', key: '1800000', topic: 'grant_award', published: '2018-01-30', summary: '500,000 from NSF', actors: [{ name: 'Example University', role: 'recipient' }, { name: 'NSF', role: 'funder' }] });
      expect(rows[0]!.title).to.match(/^Grant to Example University: CAREER:Active Nano-Acoustic/);
    });

    it('quotes the record of a grant, also where its id is a number', async () => {
      const grant = (id: number | string) => ({ 'amountAwarded': 7, 'awardDate': '2026-01-20', 'grantee': `Group ${id}`, 'Award ID': id });
      const body = JSON.stringify([grant('a "b"'), grant(7), grant(70)]);
      const { rows } = await reading.rows(body, JSON_TYPE);
      expect(rows.map((row) => row.kind === 'post' && row.passage && body.slice(row.passage.start).split('}')[0])).to.equal([grant('a "b"'), grant(7), grant(70)].map((one) => JSON.stringify(one).slice(0, -1)));
    });

    it('reads the 360Giving standard, and no list that lacks an amount, a recipient or a date', async () => {
      const grant = { id: '360G-example-1', title: 'Youth club', currency: 'GBP', amountAwarded: 25000, awardDate: '2026-01-20T00:00:00+00:00', recipientOrganization: [{ id: 'a', name: 'Riverside Trust' }], fundingOrganization: [{ id: 'b', name: 'Example Fund' }] };
      const { adapter, rows } = await reading.rows(JSON.stringify({ grants: [grant] }), JSON_TYPE);
      expect([adapter, rows.map((row) => row.kind === 'post' && [row.title, row.summary, row.published])]).to.equal(['grants', [['Grant to Riverside Trust: Youth club', '25,000 GBP from Example Fund', '2026-01-20']]]);
      for (const missing of ['amountAwarded', 'awardDate', 'recipientOrganization']) expect((await reading.rows(JSON.stringify({ grants: [{ ...grant, [missing]: null }] }), JSON_TYPE)).adapter).to.not.equal('grants');
    });
  });

  describe('federal_register', () => {
    // Facts of the Federal Register, which is in the public domain.
    const menthol = { document_number: '2022-08994', title: 'Tobacco Product Standard for Menthol in Cigarettes', type: 'Proposed Rule', abstract: null, html_url: 'https://www.federalregister.gov/d/2022-08994', publication_date: '2022-05-04', comments_close_on: '2022-07-05', agencies: [{ name: 'Health and Human Services Department' }, { name: 'Food and Drug Administration' }] };
    const classification = { document_number: '2024-00067', title: 'Employee or Independent Contractor Classification Under the Fair Labor Standards Act', type: 'Rule', abstract: null, html_url: 'https://www.federalregister.gov/d/2024-00067', publication_date: '2024-01-10', comments_close_on: null, agencies: [{ name: 'Labor Department' }, { name: 'Wage and Hour Division' }] };

    it('reads what is open for comments, and other documents as filings', async () => {
      const { adapter, rows } = await reading.rows(JSON.stringify({ count: 2, results: [menthol, classification] }), JSON_TYPE);
      expect(adapter).to.equal('federal_register');
      expect(rows[0]).to.include({ kind: 'post', key: '2022-08994', topic: 'public_comment', published: '2022-05-04', summary: 'Comments close on 2022-07-05.', actors: [{ name: 'Food and Drug Administration', role: 'body' }] });
      expect(rows[1]).to.include({ kind: 'filing', key: '2024-00067', number: '2024-00067', type: 'Rule', body: 'Wage and Hour Division', introduced: '2024-01-10' });
    });

    it('asks for the fields that it reads, and leaves what the address asks for', () => {
      const { searchParams } = new URL(federalRegister.request!('https://www.federalregister.gov/api/v1/documents.json?per_page=20&conditions[agencies][]=labor-department', 0));
      expect(searchParams.getAll('fields[]')).to.include(['document_number', 'comments_close_on', 'agencies']);
      expect([searchParams.get('per_page'), searchParams.get('order'), searchParams.get('conditions[agencies][]')]).to.equal(['20', 'newest', 'labor-department']);
    });
  });

  describe('icalendar', () => {
    const calendar = (...events: string[]) => ['BEGIN:VCALENDAR', 'VERSION:2.0', ...events.flatMap((event) => ['BEGIN:VEVENT', ...event.split('|'), 'END:VEVENT']), 'END:VCALENDAR'].join('\r\n');

    it('reads times of zones, floating times, days and statuses', async () => {
      const { adapter, rows } = await reading.meetings(calendar(
        'UID:a|SUMMARY:City Council|DTSTART;TZID=America/New_York:20260302T180000|LOCATION:City Hall\\, Room 1|URL:https://city.example/a',
        'UID:b|SUMMARY:CANCELLED - Parks Board|DTSTART:20260303T090000|DTEND:20260303T100000',
        'UID:c|SUMMARY:Budget Retreat|DTSTART;VALUE=DATE:20260304|STATUS:TENTATIVE',
      ), { content_type: 'text/calendar' });
      expect(adapter).to.equal('icalendar');
      expect(rows.map(short)).to.equal([
        ['City Council', '2026-03-02T23:00:00.000Z', 'City Hall, Room 1', 'confirmed'],
        ['Parks Board', '2026-03-03T15:00:00.000Z', null, 'cancelled'],
        ['Budget Retreat', '2026-03-04', null, 'tentative'],
      ]);
      expect(rows.map(({ key }) => key)).to.equal(['a', 'b', 'c']);
      expect(rows[1]!.end).to.equal('2026-03-03T16:00:00.000Z');
    });

    it('gives each occurrence of a recurring event a key of its own', async () => {
      const { rows } = await reading.meetings(calendar('UID:r|SUMMARY:Board|DTSTART;TZID=America/Chicago:20260301T180000|RRULE:FREQ=WEEKLY;COUNT=3'), { content_type: 'text/calendar' });
      // The second Sunday of March is the first day of summer time.
      expect(rows.map(({ start }) => start)).to.equal(['2026-03-02T00:00:00.000Z', '2026-03-08T23:00:00.000Z', '2026-03-15T23:00:00.000Z']);
      expect(new Set(rows.map(({ key }) => key)).size).to.equal(3);
    });

    it('keeps events of one UID apart, and takes one that is listed again or in several versions as one', async () => {
      const { rows } = await reading.meetings(calendar(
        'UID:x|SUMMARY:Council|DTSTART:20260302T180000Z', 'UID:x|SUMMARY:Council|DTSTART:20260309T180000Z', 'UID:x|SUMMARY:Council|DTSTART:20260309T180000Z', 'UID:x|SUMMARY:Zoning|DTSTART:20260302T180000Z',
        'UID:v|SUMMARY:Board|DTSTART:20260303T180000Z', 'UID:v|SUMMARY:Board|DTSTART:20260304T180000Z|SEQUENCE:1', 'UID:only|SUMMARY:Parks|DTSTART:20260305T180000Z', 'UID:only|SUMMARY:Parks|DTSTART:20260305T180000Z',
      ), { content_type: 'text/calendar' });
      expect(rows.map(({ key, start }) => [key, start!.slice(0, 10)])).to.equal([
        ['x/2026-03-02T18:00:00Z/Council', '2026-03-02'], ['x/2026-03-09T18:00:00Z', '2026-03-09'], ['x/2026-03-09T18:00:00Z', '2026-03-09'], ['x/2026-03-02T18:00:00Z/Zoning', '2026-03-02'],
        ['v', '2026-03-04'], ['only', '2026-03-05'], ['only', '2026-03-05'],
      ]);
    });
  });

  describe('feed', () => {
    const rss = (title: string, ...items: string[]) => `<?xml version="1.0"?><rss version="2.0"><channel><title>${title}</title><link>https://city.example/</link>${items.map((item) => `<item>${item}</item>`).join('')}</channel></rss>`;

    it('reads entries as posts', async () => {
      const { adapter, rows } = await reading.rows(rss('News', '<guid>1</guid><title>Bridge opens</title><link>https://city.example/1</link><pubDate>Mon, 02 Mar 2026 10:00:00 GMT</pubDate><description>At last.</description>'), { content_type: 'text/xml' });
      expect(adapter).to.equal('feed');
      expect(rows).to.have.length(1);
      expect(rows[0]).to.include({ kind: 'post', key: '1', title: 'Bridge opens', url: 'https://city.example/1' });
      expect((rows[0] as { summary: string }).summary).to.contain('At last.');
      expect((rows[0] as { published: string }).published).to.startWith('2026-03-02T10:00:00');
    });

    it('watches the feed of a site for its first page, not for any other', async () => {
      const page = '<head><link rel="alternate" type="application/rss+xml" href="/feed.xml"></head><body><main><p>We are a group of neighbours, and we meet whenever somebody needs help with the garden.</p></main></body>';
      expect((await reading.rows(page, { url: 'https://group.example/' })).adapter).to.equal('feed');
      expect((await reading.rows(page, { url: 'https://group.example/garden' })).adapter).to.equal('page');
    });

    it('reads entries of calendars as meetings: the feeds of CivicPlus and Granicus', async () => {
      const civicplus = await reading.meetings(rss('Calendar', '<guid>9</guid><title>City Council</title><description>&lt;strong&gt;Event date: &lt;/strong&gt;March 3, 2026 &lt;br&gt;&lt;strong&gt;Event Time: &lt;/strong&gt;06:30 PM - 08:00 PM&lt;br&gt;&lt;strong&gt;Location:&lt;/strong&gt; 100 Main Street</description>'), { content_type: 'text/xml' });
      expect(civicplus.rows.map(short)).to.equal([['City Council', '2026-03-04T00:30:00.000Z', '100 Main Street', 'confirmed']]);
      const granicus = await reading.meetings(rss('Agendas', '<guid>7</guid><title>Planning Commission - Mar 03, 2026</title><link>https://city.granicus.com/AgendaViewer.php?view_id=2&amp;event_id=7</link>'), { content_type: 'text/xml', url: 'https://city.granicus.com/ViewPublisherRSS.php?view_id=2&mode=agendas' });
      expect(granicus.rows.map(short)).to.equal([['Planning Commission', '2026-03-03', null, 'confirmed']]);
    });
  });

  describe('city_scrapers', () => {
    const meeting = { id: 'chi/202603021800/x/board', title: 'Board', classification: 'Board', status: 'cancelled', start: '2026-03-02 18:00:00', end: '2026-03-02 20:00:00', all_day: false, location: { name: 'Library', address: '1 Main St' }, links: [{ href: 'https://city.example/agenda.pdf', title: 'Agenda' }], source: 'https://city.example/' };

    it('reads lines and arrays', async () => {
      const lines = await reading.meetings(`${JSON.stringify(meeting)}\n${JSON.stringify({ ...meeting, id: '2', status: 'passed' })}\n`, JSON_TYPE);
      expect(lines.adapter).to.equal('city_scrapers');
      expect(lines.rows.map(short)).to.equal([['Board', '2026-03-03T00:00:00.000Z', 'Library, 1 Main St', 'cancelled'], ['Board', '2026-03-03T00:00:00.000Z', 'Library, 1 Main St', 'confirmed']]);
      expect(lines.rows[0]).to.include({ key: meeting.id, end: '2026-03-03T02:00:00.000Z', url: 'https://city.example/' });
      expect(lines.rows[0]!.documents).to.equal([{ url: 'https://city.example/agenda.pdf', title: 'Agenda' }]);
      expect((await reading.meetings(JSON.stringify([meeting]), JSON_TYPE)).rows).to.equal([lines.rows[0]!]);
    });

    it('reads events of Open Civic Data with their agendas', async () => {
      const { rows } = await reading.meetings(JSON.stringify([{ _type: 'event', _id: 'ocd-event/1', name: 'Committee on Parks', start_time: '2026-03-02T18:00:00-05:00', timezone: 'America/New_York', status: 'confirmed', location: { name: 'Room 2' },
        participants: [{ name: 'Parks Committee', entity_type: 'organization' }], agenda: [{ description: 'Approve the minutes', order: '1', related_entities: [{ entity_type: 'bill', name: 'Int 12-2026' }] }], sources: [{ url: 'https://city.example/e' }] }]), JSON_TYPE);
      expect(rows[0]).to.include({ key: 'ocd-event/1', start: '2026-03-02T23:00:00.000Z', body: 'Parks Committee', location: 'Room 2', url: 'https://city.example/e' });
      expect(rows[0]!.items).to.equal([{ key: '1', number: '1', title: 'Approve the minutes', matter: 'Int 12-2026', action: null, passed: null, votes: null }]);
    });
  });

  describe('json_events', () => {
    it('reads The Events Calendar, Google Calendar and rows of Legistar', async () => {
      const wordpress = await reading.meetings(JSON.stringify({ events: [{ id: 5, title: 'Town hall &#8211; Ward 3', start_date: '2026-03-02 18:00:00', timezone: 'America/New_York', url: 'https://group.example/e/5', venue: { venue: 'Library', address: '1 Main St' } }] }), JSON_TYPE);
      expect(wordpress.adapter).to.equal('json_events');
      expect(wordpress.rows.map(short)).to.equal([['Town hall – Ward 3', '2026-03-02T23:00:00.000Z', 'Library, 1 Main St', 'confirmed']]);
      const google = await reading.meetings(JSON.stringify({ kind: 'calendar#events', items: [{ id: 'g', status: 'cancelled', summary: 'Board', start: { dateTime: '2026-03-02T09:00:00-06:00' }, end: { dateTime: '2026-03-02T10:00:00-06:00' } }, { id: 'h', summary: 'Retreat', start: { date: '2026-03-05' } }] }), JSON_TYPE);
      expect(google.rows.map(short)).to.equal([['Board', '2026-03-02T15:00:00.000Z', null, 'cancelled'], ['Retreat', '2026-03-05', null, 'confirmed']]);
      const legistar = await reading.meetings(JSON.stringify([{ 'Name': { label: 'City Council' }, 'Meeting Date': '3/2/2026', 'Meeting Time': '6:00 PM', 'Meeting Location': 'Council Chambers\n--em--This meeting is canceled--em--', 'iCalendar': { url: 'https://city.legistar.com/View.ashx?M=IC&ID=77&GUID=A' } }]), JSON_TYPE);
      expect(legistar.rows[0]).to.include({ key: '77', title: 'City Council', start: '2026-03-03T00:00:00.000Z', status: 'cancelled' });
    });

    it('takes the time of a title for an event of a whole day', async () => {
      const { rows } = await reading.meetings(JSON.stringify([{ title: 'Board Meeting @ 2:30 pm', start: '2026-03-02T00:00:00', allDay: true }, { title: 'Presidents Day', start: '2026-02-16T00:00:00', allDay: true }]), JSON_TYPE);
      expect(rows.map(({ title, start }) => [title, start])).to.equal([['Board Meeting', '2026-03-02T20:30:00.000Z'], ['Presidents Day', '2026-02-16']]);
    });

    it('finds no events in other JSON', async () => {
      expect((await reading.rows('{"https://city.example/": "page.html"}', JSON_TYPE)).rows).to.equal([]);
    });
  });

  describe('schema_org', () => {
    it('takes an organizer for a body only if it is no person, by its type or by its title', async () => {
      const event = (organizer: object | string) => `<script type="application/ld+json">${JSON.stringify({ '@context': 'https://schema.org', '@type': 'Event', name: 'Open meeting', startDate: '2026-03-02T18:30', organizer })}</script><p>Open meeting</p>`;
      const bodyOf = async (organizer: object | string) => (await reading.meetings(event(organizer))).rows[0]!.body;
      expect(await bodyOf({ '@type': 'Organization', name: 'Weavers Guild' })).to.equal('Weavers Guild');
      expect(await bodyOf('Weavers Guild')).to.equal('Weavers Guild');
      expect(await bodyOf({ '@type': 'Person', name: 'Nancy Guild' })).to.be.null();
      expect(await bodyOf('Dr. Pat Council')).to.be.null();
    });

    it('reads an event once that is JSON-LD and microdata', async () => {
      const { adapter, rows } = await reading.meetings(`<script type="application/ld+json">{"@context":"https://schema.org","@type":"Event","name":"Zoning Hearing","startDate":"2026-3-2T18-18-30-00","eventStatus":"https://schema.org/EventCancelled"}</script>
        <div itemscope itemtype="https://schema.org/Event"><h2 itemprop="name">Zoning Hearing</h2><meta itemprop="startDate" content="2026-3-2T18:30"><span itemprop="location">City Hall</span></div>`);
      expect(adapter).to.equal('schema_org');
      expect(rows.map(({ title, start, location }) => [title, start, location])).to.equal([['Zoning Hearing', '2026-03-03T00:30:00.000Z', 'City Hall']]);
    });

    it('reads h-event', async () => {
      const { rows } = await reading.meetings('<div class="h-event"><a class="p-name u-url" href="/e">Mutual aid night</a> <time class="dt-start" datetime="2026-03-02T18:00:00-06:00">March 2</time> <span class="p-location">Church, 2 Oak Street</span></div>');
      expect(rows.map(short)).to.equal([['Mutual aid night', '2026-03-03T00:00:00.000Z', 'Church, 2 Oak Street', 'confirmed']]);
      expect(rows[0]!.url).to.equal('https://city.example/e');
    });
  });
});
