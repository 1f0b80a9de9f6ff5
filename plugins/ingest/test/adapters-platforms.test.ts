import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { short, startReading, type Reading } from './adapters-kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('adapters of platforms', () => {
  let reading: Reading;
  before(async () => { reading = await startReading(); });
  after(() => reading.close());

  describe('boarddocs', () => {
    it('reads meetings with their agendas', async () => {
      const { adapter, rows } = await reading.meetings(`<?xml version="1.0" encoding="UTF-8"?><meetings><meeting bodyid="B1" bodyname="School Board" id="M1" order="1"><name>Finance &amp; Audit Committee at 4:30 P.M.</name><start><date format="yyyy-mm-dd">2026-03-02</date><english><date>March 2, 2026</date></english></start>
        <link>https://go.boarddocs.example/goto?open&amp;id=M1</link><category id="C1" order="1"><name>1. Reports</name><agendaitems><item id="I1" order="1"><name>A. Audit plan</name><actiontype>Discussion</actiontype></item></agendaitems></category></meeting>
        <meeting bodyname="School Board" id="M2"><name>Special Meeting - CANCELLED</name><start><date>2026-03-09</date></start></meeting></meetings>`, { content_type: 'text/xml' });
      expect(adapter).to.equal('boarddocs');
      expect(rows.map(short)).to.equal([['Finance & Audit Committee', '2026-03-02T22:30:00.000Z', null, 'confirmed'], ['Special Meeting', '2026-03-09', null, 'cancelled']]);
      expect(rows[0]).to.include({ key: 'M1', body: 'School Board', url: 'https://go.boarddocs.example/goto?open&id=M1' });
      expect(rows[0]!.items).to.equal([{ key: 'I1', number: 'A', title: 'Audit plan', matter: null, action: 'Discussion', passed: null, votes: null }]);
    });
  });

  describe('legistar_pages', () => {
    const row = (id: number, name: string, day: string, place: string) => `<tr><td><a href="DepartmentDetail.aspx?ID=1">${name}</a></td><td>${day}</td><td>6:00 PM</td><td>${place}</td><td><a href="MeetingDetail.aspx?ID=${id}&GUID=A">Meeting details</a></td><td><a href="View.ashx?M=A&ID=${id}">Agenda</a></td><td>Not available</td></tr>`;
    const header = '<tr><th>Name</th><th>Meeting Date</th><th>Meeting Time</th><th>Meeting Location</th><th>Meeting Details</th><th>Agenda</th><th>Minutes</th></tr>';
    const url = 'https://city.legistar.com/Calendar.aspx';

    it('reads both tables of the calendar, each meeting once, without the hidden column', async () => {
      const { adapter, rows } = await reading.meetings(`<table>${header}${row(7, 'City Council', '3/2/2026', 'Council Chambers')}</table><table>${header}${row(7, 'City Council', '3/2/2026', 'Council Chambers')}${row(8, 'Zoning Board', '3/9/2026', 'CANCELLED<br>Room 4')}</table>`, { url });
      expect(adapter).to.equal('legistar_pages');
      expect(rows.map(short)).to.equal([['City Council', '2026-03-03T00:00:00.000Z', 'Council Chambers', 'confirmed'], ['Zoning Board', '2026-03-09T23:00:00.000Z', 'Room 4', 'cancelled']]);
      expect(rows[0]).to.include({ key: '7', url: 'https://city.legistar.com/MeetingDetail.aspx?ID=7&GUID=A' });
      expect(rows[0]!.documents).to.equal([{ url: 'https://city.legistar.com/View.ashx?M=A&ID=7', title: 'Agenda' }]);
    });

    it('reads the page of a department', async () => {
      const { rows } = await reading.meetings('<title>City of Example - Parks Committee</title><table><tr><th>Meeting Date</th><th>Meeting Time</th><th>Meeting Location</th></tr><tr><td>3/2/2026</td><td></td><td>Room 1</td></tr><tr><td>3/9/2026</td><td>9:00 AM</td><td>Room 1</td></tr></table>', { url: 'https://city.legistar.com/DepartmentDetail.aspx?ID=1' });
      expect(rows.map(short)).to.equal([['Parks Committee', '2026-03-02', 'Room 1', 'confirmed'], ['Parks Committee', '2026-03-09T14:00:00.000Z', 'Room 1', 'confirmed']]);
    });
  });

  describe('granicus', () => {
    it('reads upcoming events and the archive', async () => {
      const { adapter, rows } = await reading.meetings(`<title>City Council</title><h2>Upcoming Events</h2><table><tr><td>City Council Study Session</td><td>Mar 2, 2026 - 05:00 PM</td><td><a href="//city.granicus.com/AgendaViewer.php?view_id=2&event_id=31">Agenda</a></td></tr></table>
        <h2>Archives</h2><table><tr><td>City Council</td><td>Jan 5, 2026</td><td>02h 07m</td><td><a href="//city.granicus.com/MediaPlayer.php?view_id=2&clip_id=29">Video</a></td></tr></table>`, { url: 'https://city.granicus.com/ViewPublisher.php?view_id=2' });
      expect(adapter).to.equal('granicus');
      expect(rows.map(({ key, title, start }) => [key, title, start])).to.equal([['event-31', 'City Council Study Session', '2026-03-02T23:00:00.000Z'], ['clip-29', 'City Council', '2026-01-05']]);
    });
  });

  describe('civicplus', () => {
    it('reads the agenda center: files with one number are of one meeting', async () => {
      const { adapter, rows } = await reading.meetings(`<h2>City Council</h2><table><tr><td><h3><strong>Mar 2, 2026</strong> — Posted Feb 26, 2026 4:10 PM</h3><p><a href="/AgendaCenter/ViewFile/Agenda/_03022026-41">Regular Meeting</a></p></td><td><a href="/AgendaCenter/ViewFile/Minutes/_03022026-41">Minutes</a></td></tr></table>
        <h2>Library Board</h2><p><a href="/AgendaCenter/ViewFile/Agenda/_03052026-42">Agenda</a></p>`, { url: 'https://city.example/AgendaCenter' });
      expect(adapter).to.equal('civicplus');
      expect(rows.map(({ key, title, body, start }) => [key, title, body, start])).to.equal([['41', 'Regular Meeting', 'City Council', '2026-03-02'], ['42', 'Library Board', 'Library Board', '2026-03-05']]);
      expect(rows[0]!.documents.map(({ title }) => title)).to.equal(['Agenda', 'Minutes']);
    });

    it('reads the list of the calendar', async () => {
      const event = (id: number, title: string, date: string, place: string) => `<li><h3><a href="/Calendar.aspx?EID=${id}">${title}</a></h3><div>${date}</div><div>@ ${place}</div><a href="/Calendar.aspx?EID=${id}">More Details</a></li>`;
      const { adapter, rows } = await reading.meetings(`<h1>Calendar</h1><ul>${event(3, 'City Council', 'March 2, 2026, 7:00 PM - 9:00 PM', 'City Hall')}${event(4, 'Cancelled: Zoning Board', 'March 3, 2026', 'Room 2')}</ul>`, { url: 'https://city.example/calendar.aspx' });
      expect(adapter).to.equal('civicplus');
      expect(rows.map(short)).to.equal([['City Council', '2026-03-03T01:00:00.000Z', 'City Hall', 'confirmed'], ['Zoning Board', '2026-03-03', 'Room 2', 'cancelled']]);
      expect(rows.map(({ key }) => key)).to.equal(['3', '4']);
    });
  });
});
