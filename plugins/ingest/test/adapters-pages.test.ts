import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { short, startReading, type Reading } from './adapters-kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('adapters of ordinary pages', () => {
  let reading: Reading;
  before(async () => { reading = await startReading(); });
  after(() => reading.close());

  const starts = async (html: string) => (await reading.meetings(`<main>${html}</main>`)).rows.map(({ start, status }) => status === 'confirmed' ? start : `${start} ${status}`);

  describe('page_meetings', () => {
    it('reads tables by the names of their columns', async () => {
      const { adapter, rows } = await reading.meetings(`<main><h1>Agendas &amp; Minutes</h1><table><tr><th>Date/time</th><th>Meeting name</th><th>Location</th><th>Attachments</th></tr>
        <tr><td>03/02/2026<br>2:00 PM</td><td>Retirement Review Committee</td><td>Board Room<br>567 W. Lake Street</td><td><a href="/a.pdf">Agenda</a></td></tr>
        <tr><td>03/09/2026<br>Immediately following the committee</td><td>Transit Board (Cancelled)</td><td>Board Room</td><td></td></tr></table></main>`);
      expect(adapter).to.equal('page_meetings');
      expect(rows.map(short)).to.equal([['Retirement Review Committee', '2026-03-02T20:00:00.000Z', 'Board Room, 567 W. Lake Street', 'confirmed'], ['Transit Board', '2026-03-09', 'Board Room', 'cancelled']]);
      expect(rows[0]!.documents).to.equal([{ url: 'https://city.example/a.pdf', title: 'Agenda' }]);
    });

    it('takes the year of headings, and the time and place that hold for all meetings', async () => {
      const { rows } = await reading.meetings(`<main><h1>Board of Ethics</h1><h2>2026 Meeting Schedule</h2><p>All meetings are held at 3:00 PM at City Hall, 121 N. LaSalle St.</p>
        <table><tr><td>Monday March 2</td><td>Monday April 6</td></tr></table><h2>2025 Meetings</h2><p>Dec. 1 <a href="/m.pdf">Minutes</a><br>November 3 Canceled</p></main>`);
      expect(rows.map(short)).to.equal([
        ['Board of Ethics', '2026-03-02T21:00:00.000Z', 'City Hall, 121 N. LaSalle St', 'confirmed'], ['Board of Ethics', '2026-04-06T20:00:00.000Z', 'City Hall, 121 N. LaSalle St', 'confirmed'],
        ['Board of Ethics', '2025-12-01T21:00:00.000Z', 'City Hall, 121 N. LaSalle St', 'confirmed'], ['Board of Ethics', '2025-11-03T21:00:00.000Z', 'City Hall, 121 N. LaSalle St', 'cancelled'],
      ]);
    });

    it('reads lists whose titles stand above or below the dates', async () => {
      const below = await reading.meetings('<main><h1>Agendas</h1><ul><li>03/02/2026</li><li>9:00 am</li><li>Pension Board Meeting</li></ul><ul><li>03/09/2026</li><li>1:00 pm</li><li>Special Meeting</li></ul></main>');
      expect(below.rows.map(({ title, start }) => [title, start])).to.equal([['Pension Board Meeting', '2026-03-02T15:00:00.000Z'], ['Special Meeting', '2026-03-09T18:00:00.000Z']]);
      const above = await reading.meetings('<main><h1>Archive</h1><div><div>Finance Committee<br>Mar 2, 2026</div><div>Board of Directors<br>Mar 2, 2026</div><div>Finance Committee<br>Feb 2, 2026</div></div></main>');
      expect(above.rows.map(({ title, start }) => [title, start])).to.equal([['Finance Committee', '2026-03-02'], ['Board of Directors', '2026-03-02'], ['Finance Committee', '2026-02-02']]);
    });

    it('reads announcements and joins the files of the same day', async () => {
      const { rows } = await reading.meetings(`<main><h1>Board Meetings</h1><h3>Regular Board Meeting - March 2, 2026</h3><p>The next Regular Board meeting will be held on Monday, March 2, 2026 at 10:00 a.m.</p><ul><li><a href="/n.pdf">Board Meeting Public Notice - March 2, 2026.pdf</a></li></ul>
        <h3>Regular Board Meeting - February 2, 2026</h3><p>The meeting has been rescheduled to Monday, February 2, 2026 at 9:00 a.m.</p></main>`);
      expect(rows.map(({ title, start, documents }) => [title, start, documents.length])).to.equal([['Regular Board Meeting', '2026-03-02T16:00:00.000Z', 1], ['Regular Board Meeting', '2026-02-02T15:00:00.000Z', 0]]);
    });

    it('reads the page of one meeting', async () => {
      const { rows } = await reading.meetings('<main><h1>Board Meeting 3-2-26</h1><h2>When</h2><p>Monday, March 2, 2026<br>1:00 PM - 4:00 PM</p><h2>Location</h2><p>100 West Randolph Street<br>Springfield, IL</p></main>');
      expect(rows.map(short)).to.equal([['Board Meeting', '2026-03-02T19:00:00.000Z', '100 West Randolph Street, Springfield, IL', 'confirmed']]);
      expect(rows[0]!.end).to.equal('2026-03-02T22:00:00.000Z');
    });

    it('reads a calendar of a month', async () => {
      const week = (from: number, event = '') => `<tr>${[0, 1, 2, 3, 4, 5, 6].map((day) => `<td>${from + day}${day === 2 ? event : ''}</td>`).join('')}</tr>`;
      const { rows } = await reading.meetings(`<main><h1>Upcoming events</h1><h2>March 2026</h2><table><tr><td>Monday</td><td>Tuesday</td><td>Wednesday</td><td>Thursday</td><td>Friday</td><td>Saturday</td><td>Sunday</td></tr>${week(2, '<br>* Finance Committee<br>Time: 3:30 pm')}${week(9)}</table></main>`);
      expect(rows.map(({ title, start }) => [title, start])).to.equal([['Finance Committee', '2026-03-04T21:30:00.000Z']]);
    });

    it('takes no other date for a meeting', async () => {
      expect(await starts('<h1>Plan Commission</h1><p>Copyright 2026. Last updated: March 2, 2026</p><p>Minutes of the meeting were approved on March 3, 2026.</p><p>Register by March 4, 2026.</p><h2>Meetings</h2><p>March 5, 2026</p>')).to.equal(['2026-03-05']);
      expect((await reading.rows('<main><h1>Bakery</h1><p>We opened on May 4, 2021 and have baked since.</p></main>')).rows.filter(({ kind }) => kind === 'meeting')).to.equal([]);
    });

    it('cancels only the meeting that a cancellation is about', async () => {
      expect(await starts('<h1>Commission</h1><h2>2026 Agendas</h2><p>October 9<br>November 20<br>December meeting canceled.</p>')).to.equal(['2026-10-09', '2026-11-20']);
      expect(await starts('<h1>Commission</h1><h2>2026 Meetings</h2><ul><li>July meeting will be held on Wednesday, July 1st at noon. The July 15th meeting is canceled. Please check this page before you come, because the place of meetings is subject to change, and bring your own copy of the agenda, please.</li></ul>')).to.equal(['2026-07-01T17:00:00.000Z', '2026-07-15 cancelled']);
      expect(await starts('<h1>Commission meetings</h1><p>March 5, 2026</p><p>Our cancellation policy: call us before the day.</p>')).to.equal(['2026-03-05']);
    });

    it('takes a year by the day of the week when the page states none', async () => {
      expect(await starts('<h1>City Council</h1><p>The next meeting is scheduled for Thursday, March 5 at 7 pm.</p>')).to.equal(['2026-03-06T01:00:00.000Z']);
    });

    it('keeps the keys of meetings from read to read', async () => {
      const page = (extra: string) => `<main><h1>City Council meetings</h1><ul>${extra}<li>Budget session, March 2, 2026 at 5 pm</li><li>Regular meeting, March 9, 2026</li></ul></main>`;
      const first = await reading.meetings(page(''));
      const second = await reading.meetings(page('<li>Special meeting, February 20, 2026</li>'));
      expect(second.rows.slice(1).map(({ key }) => key)).to.equal(first.rows.map(({ key }) => key));
    });
  });

  describe('page', () => {
    it('returns the main text of a page without rows', async () => {
      const { adapter, rows } = await reading.rows('<title>Shelter</title><nav><a href="/">Home</a></nav><main><h1>Shelter</h1><p>We have forty beds, and a kitchen that is open every evening of the winter.</p></main>');
      expect(adapter).to.equal('page');
      expect(rows).to.have.length(1);
      expect(rows[0]).to.include({ kind: 'page', key: 'https://city.example/meetings', title: 'Shelter' });
      expect((rows[0] as { text: string }).text).to.contain('forty beds').and.to.not.contain('Home');
    });

    it('returns no row of an empty page', async () => {
      expect((await reading.rows('<title>Empty</title>')).rows).to.equal([]);
    });
  });
});
