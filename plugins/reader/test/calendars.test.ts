import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import ICAL from 'ical.js';
import { expandRule, parseRule } from '../parse/recur.ts';
import { localTime } from '../parse/zone.ts';
import { startReader, type ReaderKit } from './kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const WINDOW = { start: '2026-01-01T00:00:00Z', end: '2027-01-01T00:00:00Z' };
const calendar = (...lines: string[]) => ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''].join('\r\n');
const event = (...lines: string[]) => ['BEGIN:VEVENT', 'UID:1', ...lines, 'END:VEVENT'];
const CUSTOM_ZONE = ['BEGIN:VTIMEZONE', 'TZID:Here', 'BEGIN:STANDARD', 'DTSTART:16010101T020000', 'TZOFFSETFROM:-0500', 'TZOFFSETTO:-0600', 'RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU', 'END:STANDARD',
  'BEGIN:DAYLIGHT', 'DTSTART:16010101T020000', 'TZOFFSETFROM:-0600', 'TZOFFSETTO:-0500', 'RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU', 'END:DAYLIGHT', 'END:VTIMEZONE'];

describe('A calendar', () => {
  let reader: ReaderKit;
  before(async () => { reader = await startReader(); });
  after(() => reader.close());
  const read = async (text: string, window = WINDOW) => (await reader.read(text, { content_type: 'text/calendar', window })).calendar!;

  it('has the fields of its events, and ranges of the text', async () => {
    const document = await reader.read(calendar('X-WR-CALNAME:Council', ...event('DTSTART;TZID=America/Chicago:20260504T180000', 'DTEND;TZID=America/Chicago:20260504T200000', 'SUMMARY:Hearing\\, first', 'LOCATION:City ha', ' ll', 'DESCRIPTION:One\\nTwo',
      'STATUS:CANCELLED', 'SEQUENCE:3', 'URL:https://city.example/1', 'ORGANIZER;CN="Clerk: Ada":mailto:a@city.example', 'CATEGORIES:Board,Tax', 'LAST-MODIFIED:20260501T120000Z')), { content_type: 'text/plain', window: WINDOW });
    expect(document).to.include({ kind: 'calendar', title: 'Council' });
    const [{ start, end, ...found }] = document.calendar as [NonNullable<typeof document.calendar>[number]];
    expect(found).to.equal({
      uid: '1', recurrence_id: null, sequence: 3, status: 'cancelled', summary: 'Hearing, first', description: 'One\nTwo', location: 'City hall', url: 'https://city.example/1', organizer: 'Clerk: Ada', categories: ['Board', 'Tax'],
      starts: '2026-05-04T18:00:00-05:00', ends: '2026-05-04T20:00:00-05:00', time_zone: 'America/Chicago', last_modified: '2026-05-01T12:00:00.000Z',
    });
    expect(document.text.slice(start, end)).to.equal('Hearing, first\n2026-05-04T18:00:00-05:00 – 2026-05-04T20:00:00-05:00\nCity hall\nOne\nTwo');
  });

  it('has whole days, times without a zone, durations, and zones by any name', async () => {
    const times = async (...lines: string[]) => (await read(calendar(...CUSTOM_ZONE, ...event(...lines)))).map(({ starts, ends, time_zone: zone }) => [starts, ends, zone])[0];
    expect(await times('DTSTART;VALUE=DATE:20260504')).to.equal(['2026-05-04', '2026-05-05', null]);
    expect(await times('DTSTART:20260504T180000', 'DURATION:PT1H30M')).to.equal(['2026-05-04T18:00:00', '2026-05-04T19:30:00', null]);
    expect(await times('DTSTART:20260504T180000Z')).to.equal(['2026-05-04T18:00:00Z', null, 'UTC']);
    expect(await times('DTSTART;TZID=Eastern Standard Time:20260104T180000')).to.equal(['2026-01-04T18:00:00-05:00', null, 'America/New_York']);
    expect(await times('DTSTART;TZID=/example.org/2026/Europe/Paris:20260704T180000')).to.equal(['2026-07-04T18:00:00+02:00', null, 'Europe/Paris']);
    expect(await times('DTSTART;TZID=Here:20260704T180000')).to.equal(['2026-07-04T18:00:00-05:00', null, null]);
    expect(await times('DTSTART;TZID=Here:20260104T180000')).to.equal(['2026-01-04T18:00:00-06:00', null, null]);
    expect(await times('DTSTART;TZID=Nowhere:20260104T180000')).to.equal(['2026-01-04T18:00:00', null, null]);
    expect(await read(calendar(...event('DTSTART:soon', 'SUMMARY:x')))).to.equal([]);
  });

  it('expands recurring events inside the window, across the change of the clock, with exceptions and replaced occurrences', async () => {
    const lines = [...event('DTSTART;TZID=America/Chicago:20260219T180000', 'RRULE:FREQ=MONTHLY;BYDAY=3TH;UNTIL=20260701T000000Z', 'EXDATE;TZID=America/Chicago:20260416T180000', 'RDATE;TZID=America/Chicago:20260501T120000', 'SUMMARY:Board'),
      ...event('RECURRENCE-ID;TZID=America/Chicago:20260521T180000', 'DTSTART;TZID=America/Chicago:20260522T190000', 'SUMMARY:Board, moved')];
    const found = await read(calendar(...lines));
    expect(found.map(({ starts, recurrence_id: original, summary }) => [starts, original === starts, summary])).to.equal([
      ['2026-02-19T18:00:00-06:00', true, 'Board'], ['2026-03-19T18:00:00-05:00', true, 'Board'], ['2026-05-01T12:00:00-05:00', true, 'Board'], ['2026-06-18T18:00:00-05:00', true, 'Board'], ['2026-05-22T19:00:00-05:00', false, 'Board, moved'],
    ]);
    expect((await read(calendar(...lines), { start: '2026-03-01T00:00:00Z', end: '2026-04-01T00:00:00Z' })).map(({ starts }) => starts)).to.equal(['2026-03-19T18:00:00-05:00', '2026-05-22T19:00:00-05:00']);
  });

  it('has the occurrences that ical.js finds', () => {
    const rules = [
      'FREQ=DAILY;COUNT=10', 'FREQ=DAILY;INTERVAL=10;COUNT=5', 'FREQ=DAILY;BYMONTH=1;UNTIL=20280131T090000', 'FREQ=WEEKLY;COUNT=10', 'FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=TU,TH;COUNT=8', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SU;WKST=MO;COUNT=9',
      'FREQ=MONTHLY;COUNT=10;BYDAY=1FR', 'FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU', 'FREQ=MONTHLY;COUNT=6;BYDAY=-2MO', 'FREQ=MONTHLY;BYMONTHDAY=-3;COUNT=6', 'FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15', 'FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12',
      'FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=5', 'FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13;COUNT=10', 'FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3', 'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2;COUNT=7', 'FREQ=MONTHLY;BYMONTHDAY=31;COUNT=5',
      'FREQ=YEARLY;COUNT=10;BYMONTH=6,7', 'FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3', 'FREQ=YEARLY;BYMONTH=3;BYDAY=TH;COUNT=9', 'FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8;COUNT=12', 'FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8;COUNT=3',
      'FREQ=HOURLY;INTERVAL=3;COUNT=9', 'FREQ=MINUTELY;INTERVAL=90;COUNT=4', 'FREQ=DAILY;BYHOUR=9,14;BYMINUTE=0,30;COUNT=7',
    ];
    for (const text of rules) for (const first of ['20260105T090000', '20260127T093000']) {
      const iterator = ICAL.Recur.fromString(text).iterator(ICAL.Time.fromDateTimeString(`${first.slice(0, 4)}-${first.slice(4, 6)}-${first.slice(6, 11)}:${first.slice(11, 13)}:00`));
      const wanted: string[] = [];
      for (let next = iterator.next(); next && wanted.length < 12; next = iterator.next()) wanted.push(`${next.toString()}.000Z`);
      const rule = parseRule(text, localTime)!;
      const { times } = expandRule(rule, localTime(first)!, { from: 0, to: Date.UTC(2120, 0, 1) }, { occurrences: 12, steps: 10_000 });
      expect(times.map((time) => new Date(time).toISOString()), `${text} ${first}`).to.equal(wanted);
    }
  });

  it('has the nth weekday of a year, as RFC 5545 shows, and leaves out days that a month does not have', () => {
    const days = (text: string, first: string) => expandRule(parseRule(text, localTime)!, localTime(first)!, { from: 0, to: Date.UTC(2040, 0, 1) }, { occurrences: 4, steps: 1000 }).times.map((time) => new Date(time).toISOString().slice(0, 10));
    expect(days('FREQ=YEARLY;BYDAY=20MO', '19970519T090000')).to.equal(['1997-05-19', '1998-05-18', '1999-05-17', '2000-05-15']);
    expect(days('FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO', '19970512T090000')).to.equal(['1997-05-12', '1998-05-11', '1999-05-17', '2000-05-15']);
    expect(days('FREQ=YEARLY;BYYEARDAY=1,100,200;COUNT=4', '19970101T090000')).to.equal(['1997-01-01', '1997-04-10', '1997-07-19', '1998-01-01']);
    expect(days('FREQ=YEARLY;BYMONTH=1,2,3;COUNT=4', '20260130T090000')).to.equal(['2026-01-30', '2026-03-30', '2027-01-30', '2027-03-30']);
  });

  it('starts a rule without a count at the window, and finds the same occurrences', () => {
    for (const text of ['FREQ=DAILY;INTERVAL=3', 'FREQ=WEEKLY;INTERVAL=3;BYDAY=SU,WE', 'FREQ=MONTHLY;INTERVAL=5;BYDAY=-1FR', 'FREQ=YEARLY;INTERVAL=3;BYMONTH=2,8', 'FREQ=HOURLY;INTERVAL=7']) {
      const start = localTime('19990331T101500')!;
      const window = { from: Date.UTC(2026, 2, 3), to: Date.UTC(2033, 2, 3) };
      const all = (rule: string) => expandRule(parseRule(rule, localTime)!, start, window, { occurrences: 20, steps: 200_000 }).times;
      expect(all(text), text).to.equal(all(`${text};COUNT=150000`));
      expect(all(text).length).to.be.at.least(3);
    }
  });
});
