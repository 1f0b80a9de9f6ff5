import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases, testServer, type TestServer } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSite, type Site } from './site.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const DAY = 24 * 3600_000;
const FIRST_DAY = Date.parse('2026-02-01T12:00:00.000Z');

type Event = [title: string, days: number, uid?: string];

/** Returns a calendar file of events, each with its title, how many days after the first read it begins, and another UID than that of its title if there is one. */
function ics(...events: Event[]): string {
  const time = (days: number) => new Date(FIRST_DAY + days * DAY).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const lines = events.flatMap(([title, days, uid = title]) => ['BEGIN:VEVENT', `UID:${uid}@city.example`, `SUMMARY:${title}`, `DTSTART:${time(days)}`, 'LOCATION:City Hall', 'END:VEVENT']);
  return ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:test', ...lines, 'END:VCALENDAR', ''].join('\r\n');
}

const WEEK: Event[] = [['Alpha', 2], ['Beta', 4], ['Gamma', 6], ['Delta', 8], ['Epsilon', 10], ['Zeta', 12], ['Eta', 14]];

for (const database of testDatabases()) {
  describe(`meetings that vanish on ${database}`, { timeout: 120_000 }, () => {
    const clock = stoppedClock(new Date(FIRST_DAY).toISOString());
    const admin = { role: 'admin' as const, scope: ['workspace:read', 'workspace:write'] };
    let kit: TestServer;
    let site: Site;
    let id = '';
    let reads = 0;
    const items = async (): Promise<{ id: string; title: string; tags: string[] }[]> => (await kit.request('GET', `/api/watched-sources/${id}/feed.json`)).body.items;
    /** The signals of the source that is watched. */
    const signals = async (): Promise<{ id: string; type: string; title: string; summary: string | null; changes: object[]; supersedes: string | null; evidence: { passage: string | null; content_hash: string | null; locator: object | null }[] }[]> => {
      const ids = new Set((await items()).map((item) => /[0-9a-f-]{36}/.exec(item.id)![0]));
      return (await kit.request('GET', '/api/firehose?visibility=public&limit=200')).body.signals.filter((signal: { id: string }) => ids.has(signal.id));
    };
    const titles = async (type: string) => (await items()).filter(({ tags }) => tags[0] === type).map(({ title }) => title).toSorted();
    const source = async () => (await kit.request('GET', `/api/watched-sources/${id}?visibility=public`, { as: admin })).body;

    /** Waits for one more read, and returns it. */
    async function nextRead() {
      reads++;
      for (let waited = 0; waited < 200; waited++) {
        await sleep(50);
        const { total, data } = (await kit.request('GET', `/api/watched-sources/${id}/history?visibility=public&limit=1`, { as: admin })).body;
        if (total < reads) continue;
        expect(total).to.equal(reads);
        // On Postgres the log numbers signals after the commit.
        if (database === 'postgres') await sleep(300);
        return data[0];
      }
      throw new Error('The source was not read');
    }
    /** Watches a calendar in place of the last one, until its first read. */
    async function watch(calendar: string) {
      if (id !== '') await kit.request('DELETE', `/api/watched-sources/${id}?visibility=public`, { as: admin });
      clock.set(new Date(FIRST_DAY).toISOString());
      site.pages['/calendar.ics'] = calendar;
      // Within an hour few jobs of other plugins run.
      const { status, body } = await kit.request('POST', '/api/watched-sources', { as: admin, payload: { url: `${site.url}/calendar.ics`, place: 'st-louis,missouri', cadence_seconds: 300, visibility: 'public', source_class: 'government_agenda' } });
      expect(status, body.detail).to.equal(201);
      id = body.id;
      reads = 0;
      return nextRead();
    }
    /** Gives the source another address, until it is read. */
    async function move(path: string) {
      const { status, body } = await kit.request('PATCH', `/api/watched-sources/${id}?visibility=public`, { as: admin, payload: { url: `${site.url}${path}` } });
      expect(status, body.detail).to.equal(200);
      return nextRead();
    }
    /** Lets the next read happen, of another calendar if one is given. */
    async function next(calendar?: string) {
      if (calendar !== undefined) site.pages['/calendar.ics'] = calendar;
      clock.set((await source()).next_read_at);
      return nextRead();
    }

    before(async () => {
      site = await openSite();
      kit = await testServer({
        database, clock, plugins: ['accounts', 'directory', 'firehose', 'reader', 'ingest'],
        config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { firehose: { anonymous: true }, reader: { delay_seconds: 0 } } },
      });
    });
    after(async () => {
      await kit.close();
      await site.close();
    });

    it('are no cancellations when the file is cut off: the read fails', async () => {
      await watch(ics(...WEEK));
      const whole = ics(...WEEK);
      const read = await next(whole.slice(0, whole.indexOf('Epsilon')));
      expect(read).to.include({ outcome: 'failed', signals: 0 });
      expect((await source()).health).to.include({ reason: 'cut_off', failures: 1 });
      expect(await titles('source_change')).to.equal([]);
      expect(await titles('meeting_cancelled')).to.equal([]);
      expect(await next(whole)).to.include({ outcome: 'unchanged', signals: 0 });
      expect((await source()).health).to.include({ status: 'healthy', reason: null });
    });

    it('are kept apart where all have one UID, and are not published again for it', async () => {
      await watch(ics(['Alpha', 2, 'same'], ['Beta', 4], ['Gamma', 6], ['Delta', 8]));
      expect(await next(ics(['Alpha', 2, 'same'], ['Alpha', 5, 'same'], ['Beta', 4], ['Gamma', 6], ['Delta', 8]))).to.include({ rows: 5, signals: 1, gone: 0 });
      expect(await titles('public_meeting')).to.equal(['Alpha', 'Alpha', 'Beta', 'Delta', 'Gamma']);
    });

    it('are no cancellations when a feed is cut off: the read fails', async () => {
      const entry = (title: string, day: number) => `<item><title>${title} meeting, February ${day}, 2026 6:00 PM</title><guid>${title}</guid></item>`;
      const rss = `<?xml version="1.0"?><!-- <old> --><rss version="2.0"><channel><title>City</title>${WEEK.map(([title], index) => entry(title, index + 10)).join('')}</channel></rss>`;
      await watch(rss);
      const { row_count: count } = await source();
      expect(count).to.equal(7);
      expect(await next(rss.slice(0, rss.indexOf('Epsilon')))).to.include({ outcome: 'failed', signals: 0 });
      expect((await source()).health).to.include({ reason: 'cut_off', failures: 1 });
      expect(await next(`${rss}\n<!-- cached -->`)).to.include({ outcome: 'unchanged', signals: 0 });
    });

    it('are no cancellations when a notice replaces the calendar, however often it is read: the source fails', async () => {
      for (const [count, times] of [[4, 1], [7, 3]] as const) {
        await watch(ics(...WEEK.slice(0, count)));
        for (let failures = 1; failures <= times; failures++) {
          expect(await next(ics(['Calendar maintenance', 30]))).to.include({ outcome: 'failed', signals: 0 });
          expect((await source()).health).to.include({ reason: 'few_rows', failures });
        }
        expect((await source()).health.detail).to.contain(`had announced ${count} meetings and lists none of them`);
        expect(await titles('meeting_cancelled')).to.equal([]);
        expect(await next(ics(...WEEK.slice(0, count)))).to.include({ outcome: 'unchanged', signals: 0 });
        expect((await source()).health.status).to.equal('healthy');
      }
    });

    it('are no cancellations at the end of a list that has room for the next few', async () => {
      await watch(ics(...WEEK.slice(0, 4)));
      expect(await next(ics(['New', 1.5], ...WEEK.slice(0, 3)))).to.include({ added: 1, gone: 0, signals: 1 });
      expect(await next(ics(['New', 1.5], ...WEEK.slice(0, 3)))).to.include({ signals: 0 });
      expect(await titles('meeting_cancelled')).to.equal([]);
    });

    it('are decided by the next read when one announced meeting is left, although the file is the same', async () => {
      await watch(ics(['Begun', -1], ['Alpha', 2], ['Beta', 4], ['Gamma', 6]));
      const left = ics(['Begun', -1], ['Gamma', 6]);
      expect(await next(left)).to.include({ gone: 0, signals: 0 });
      expect(await next(left)).to.include({ gone: 2 });
      expect(await titles('meeting_cancelled')).to.equal(['Cancelled: Alpha, 3 Feb 2026, 06:00', 'Cancelled: Beta, 5 Feb 2026, 06:00']);
      expect(await next(left)).to.include({ outcome: 'unchanged', signals: 0 });
    });

    it('are quoted from the content that had them, and their signal states that they are cancelled', async () => {
      await watch(ics(...WEEK));
      const meeting = (await signals()).find(({ title }) => title === 'Gamma')!;
      expect(await next(ics(...WEEK.filter(([title]) => title !== 'Gamma')))).to.include({ gone: 1, signals: 2 });
      const cancelled = (await signals()).find(({ type }) => type === 'meeting_cancelled')!;
      expect(cancelled).to.include({ title: 'Cancelled: Gamma, 7 Feb 2026, 06:00', summary: 'It is no longer in the calendar of the source.', supersedes: meeting.id });
      const [old, now] = cancelled.evidence;
      expect(old).to.include({ passage: meeting.evidence[0]!.passage, locator: meeting.evidence[0]!.locator, content_hash: meeting.evidence[0]!.content_hash });
      expect(old!.passage).to.match(/^Gamma\n/);
      expect(now).to.include({ passage: null, locator: null });
      expect(now!.content_hash).to.not.equal(old!.content_hash);
      const version = (await signals()).find((signal) => signal.id === meeting.id)!;
      expect(version).to.include({ type: 'public_meeting', title: 'Cancelled: Gamma', evidence: cancelled.evidence });
      expect(version.changes).to.equal([{ field: 'status', before: 'confirmed', after: 'cancelled' }]);
    });

    it('continue with the same signals when they come back: no short notice, and the cancellation is corrected', async () => {
      const all: Event[] = [['Begun', -1], ['Xray', 0.6], ...WEEK];
      await watch(ics(...all));
      const meeting = (await signals()).find(({ title }) => title === 'Xray')!;
      await next(ics(...all.filter(([title]) => title !== 'Xray')));
      const cancelled = (await signals()).find(({ type }) => type === 'meeting_cancelled')!;
      expect(await next(ics(...all))).to.include({ added: 1, signals: 2 });
      expect(await titles('short_notice')).to.equal([]);
      expect(await titles('meeting_cancelled')).to.equal([]);
      const found = (await signals()).filter(({ title }) => title.includes('Xray'));
      expect(found.map(({ id: signal, type, title }) => [signal, type, title]).toSorted()).to.equal([[meeting.id, 'public_meeting', 'Xray'], [cancelled.id, 'source_change', 'Takes place after all: Xray, 1 Feb 2026, 20:24']].toSorted());
      const version = found.find(({ type }) => type === 'public_meeting')!;
      expect(version).to.include({ supersedes: cancelled.id, summary: meeting.summary });
      expect(version.changes).to.equal([{ field: 'status', before: 'cancelled', after: 'confirmed' }]);
      expect(version.evidence[0]!.passage).to.match(/^Xray\n/);
      // The next cancellation is a new one.
      await next(ics(...all.filter(([title]) => title !== 'Xray')));
      expect(await titles('meeting_cancelled')).to.have.length(1);
    });

    it('continue with the same signals when they come back with another id, also when it is that of another one', async () => {
      const all: Event[] = [['Begun', -1], ['Xray', 0.6], ['Yankee', 0.7], ...WEEK];
      await watch(ics(...all));
      const meetings = (await signals()).filter(({ title }) => /^(?:Xray|Yankee)$/.test(title)).map(({ id: signal, title }) => [title, signal]).toSorted();
      await next(ics(...all.filter(([title]) => title !== 'Xray' && title !== 'Yankee')));
      expect(await titles('meeting_cancelled')).to.have.length(2);
      expect(await next(ics(['Begun', -1], ['Xray', 0.6, 'Yankee'], ['Yankee', 0.7, 'other'], ...WEEK))).to.include({ added: 2, signals: 4 });
      expect(await titles('short_notice')).to.equal([]);
      expect(await titles('meeting_cancelled')).to.equal([]);
      expect(await titles('source_change')).to.equal(['Takes place after all: Xray, 1 Feb 2026, 20:24', 'Takes place after all: Yankee, 1 Feb 2026, 22:48']);
      expect((await signals()).filter(({ type, title }) => type === 'public_meeting' && /Xray|Yankee/.test(title)).map(({ id: signal, title }) => [title, signal]).toSorted()).to.equal(meetings);
      expect(await next()).to.include({ outcome: 'unchanged', signals: 0 });
      // One at another time is another one.
      await next(ics(['Begun', -1], ['Yankee', 0.7, 'other'], ...WEEK));
      expect(await next(ics(['Begun', -1], ['Xray', 5, 'moved'], ['Yankee', 0.7, 'other'], ...WEEK))).to.include({ added: 1, signals: 1 });
      expect(await titles('meeting_cancelled')).to.have.length(1);
    });

    it('are corrected too when they were marked as cancelled', async () => {
      await watch(ics(...WEEK));
      const marked = ics(...WEEK).replace('SUMMARY:Beta', 'STATUS:CANCELLED\r\nSUMMARY:Beta');
      expect(await next(marked)).to.include({ changed: 1, signals: 2 });
      expect(await titles('public_meeting')).to.include('Cancelled: Beta');
      expect(await titles('meeting_cancelled')).to.equal(['Cancelled: Beta, 5 Feb 2026, 06:00']);
      expect(await next(ics(...WEEK))).to.include({ changed: 1, signals: 2 });
      expect(await titles('public_meeting')).to.include('Beta');
      expect(await titles('meeting_cancelled')).to.equal([]);
      expect(await titles('source_change')).to.equal(['Takes place after all: Beta, 5 Feb 2026, 06:00']);
    });

    it('are corrected too when they were marked as cancelled and are listed with another id, also beside the marked one', async () => {
      const others: Event[] = [['Begun', -1], ...WEEK];
      const status = (calendar: string) => calendar.replace('SUMMARY:Xray', 'STATUS:CANCELLED\r\nSUMMARY:Xray');
      const title = (calendar: string) => calendar.replace('SUMMARY:Xray', 'SUMMARY:CANCELLED - Xray');
      for (const [mark, isLeft] of [[status, false], [title, true]] as const) {
        await watch(ics(['Xray', 0.6], ...others));
        const meeting = (await signals()).find((signal) => signal.title === 'Xray')!;
        const marked = mark(ics(['Xray', 0.6], ...others));
        expect(await next(marked)).to.include({ changed: 1, signals: 2 });
        const cancelled = (await signals()).find(({ type }) => type === 'meeting_cancelled')!;
        const back = isLeft ? mark(ics(['Xray', 0.6], ['Xray', 0.6, 'new'], ...others)) : ics(['Xray', 0.6, 'new'], ...others);
        expect(await next(back)).to.include({ added: 0, changed: 1, gone: 0, signals: 2 });
        expect(await titles('short_notice')).to.equal([]);
        expect(await titles('meeting_cancelled')).to.equal([]);
        const found = (await signals()).filter((signal) => signal.title.includes('Xray'));
        expect(found.map((signal) => [signal.id, signal.type, signal.title]).toSorted()).to.equal([[meeting.id, 'public_meeting', 'Xray'], [cancelled.id, 'source_change', 'Takes place after all: Xray, 1 Feb 2026, 20:24']].toSorted());
        expect(found.find(({ type }) => type === 'public_meeting')!.supersedes).to.equal(cancelled.id);
        // The marked one stays silent, also when the file changes elsewhere or loses it.
        expect(await next(back.replace('SUMMARY:Eta', 'X-NOTE:1\r\nSUMMARY:Eta'))).to.include({ outcome: 'unchanged', signals: 0 });
        expect(await next(ics(['Xray', 0.6, 'new'], ...others))).to.include({ signals: 0 });
        // The one that continues it is cancelled and back with a third id.
        expect(await next(mark(ics(['Xray', 0.6, 'new'], ...others)))).to.include({ signals: 2 });
        expect(await titles('meeting_cancelled')).to.have.length(1);
        expect(await next(ics(['Xray', 0.6, 'third'], ...others))).to.include({ signals: 2 });
        expect(await titles('meeting_cancelled')).to.equal([]);
        expect(await titles('public_meeting')).to.equal([...WEEK.map(([name]) => name), 'Xray'].toSorted());
      }
    });

    it('are not cancelled when one is marked in the read that has it with another id, but others at that time are new', async () => {
      await watch(ics(['Xray', 3], ...WEEK));
      const both = ics(['Xray', 3], ['Xray', 3, 'new'], ...WEEK).replace('SUMMARY:Xray', 'STATUS:CANCELLED\r\nSUMMARY:Xray');
      expect(await next(both)).to.include({ signals: 0 });
      expect(await next()).to.include({ outcome: 'unchanged', signals: 0 });
      const marked = ics(['Xray', 3, 'new'], ...WEEK).replace('SUMMARY:Xray', 'STATUS:CANCELLED\r\nSUMMARY:Xray');
      expect(await next(marked)).to.include({ signals: 2 });
      const more = marked.replace('END:VCALENDAR', ics(['Yankee', 3], ['Xray', 3.5, 'later'], ['Xray special', 3]).replace(/^[^]*?(?=BEGIN:VEVENT)/, ''));
      expect(await next(more)).to.include({ added: 3, signals: 3 });
      expect(await titles('meeting_cancelled')).to.have.length(1);
    });

    it('continue with the same signals when they come back with another id and a longer or shorter title', async () => {
      for (const [first, second] of [['Xray', 'Xray: agenda posted'], ['Xray special', 'Xray']] as const) {
        await watch(ics(['Begun', -1], [first, 0.6], ...WEEK));
        const meeting = (await signals()).find(({ title }) => title === first)!;
        await next(ics(['Begun', -1], ...WEEK));
        expect(await titles('meeting_cancelled')).to.have.length(1);
        expect(await next(ics(['Begun', -1], [second, 0.6, 'new'], ...WEEK))).to.include({ added: 1, signals: 2 });
        expect(await titles('short_notice')).to.equal([]);
        expect(await titles('meeting_cancelled')).to.equal([]);
        expect((await signals()).find(({ id: signal }) => signal === meeting.id)).to.include({ type: 'public_meeting', title: second });
        // A title that only begins with the same letters is another one.
        await next(ics(['Begun', -1], ...WEEK));
        await next(ics(['Begun', -1], [`${second}s`, 0.6, 'other'], ...WEEK));
        expect(await titles('meeting_cancelled')).to.have.length(1);
      }
    });

    it('are not published by a first read when they have begun, but those without a time on their day are', async () => {
      const dated = (title: string, day: string) => ['BEGIN:VEVENT', `UID:${title}`, `SUMMARY:${title}`, `DTSTART;VALUE=DATE:${day}`, 'END:VEVENT', ''].join('\r\n');
      expect(await watch(ics(['Begun', -0.02], ['Begins', 0.02]).replace('END:VCALENDAR', `${dated('Yesterday', '20260131')}${dated('Today', '20260201')}END:VCALENDAR`))).to.include({ rows: 4, signals: 2 });
      expect(await titles('public_meeting')).to.equal(['Begins', 'Today']);
    });

    it('are not published again at another address that lists them, nor when the first address is back', async () => {
      await watch(ics(...WEEK));
      const before = (await signals()).map(({ id: signal }) => signal).toSorted();
      // Its ids are those of other meetings, and one meeting is in another place.
      site.pages['/new.ics'] = ics(...WEEK.map(([title, days], index): Event => [title, days, WEEK[(index + 1) % WEEK.length]![0]]), ['Theta', 16]).replace('SUMMARY:Eta\r\nDTSTART:20260215T120000Z\r\nLOCATION:City Hall', 'SUMMARY:Eta\r\nDTSTART:20260215T120000Z\r\nLOCATION:Library');
      expect(await move('/new.ics')).to.include({ signals: 2 });
      expect((await source()).row_count).to.equal(8);
      const moved = await signals();
      expect(moved.filter(({ id: signal }) => !before.includes(signal)).map(({ title }) => title)).to.equal(['Theta']);
      expect(moved.find(({ title }) => title === 'Eta')!.summary).to.equal('Library');
      expect(await next()).to.include({ outcome: 'unchanged', signals: 0 });
      expect(await move('/calendar.ics')).to.include({ signals: 1 });
      expect(await signals()).to.have.length(8);
      expect((await signals()).find(({ title }) => title === 'Eta')!.summary).to.equal('City Hall');
      // What the first address lost meanwhile is unknown, not cancelled.
      expect(await titles('meeting_cancelled')).to.equal([]);
      expect(await next(ics(...WEEK.filter(([title]) => title !== 'Gamma')))).to.include({ gone: 1, signals: 2 });
      expect(await move('/new.ics')).to.include({ signals: 3 });
      expect(await titles('meeting_cancelled')).to.equal([]);
      expect(await titles('short_notice')).to.equal([]);
      expect(await titles('source_change')).to.equal(['Takes place after all: Gamma, 7 Feb 2026, 06:00']);
    });

    it('are other ones when another address uses their ids for something else', async () => {
      await watch(ics(...WEEK));
      site.pages['/new.ics'] = ics(...WEEK.map(([title, days]): Event => [`Other ${title}`, days + 0.5, title]));
      expect(await move('/new.ics')).to.include({ added: 7, signals: 7 });
      expect(await titles('public_meeting')).to.equal([...WEEK.map(([title]) => title), ...WEEK.map(([title]) => `Other ${title}`)].toSorted());
      expect(await move('/calendar.ics')).to.include({ signals: 0 });
      expect((await source()).row_count).to.equal(7);
    });

    it('are no cancellations when a series has more occurrences than are read, which a notice states', async () => {
      const series = (title: string, rule: string, start = '20260101T150000Z') => ['BEGIN:VEVENT', `UID:${title}`, `SUMMARY:${title}`, `DTSTART:${start}`, `RRULE:${rule}`, 'END:VEVENT', ''].join('\r\n');
      const withSeries = (...more: string[]) => ics(...WEEK, ['Far', 300]).replace('END:VCALENDAR', `${more.join('')}END:VCALENDAR`);
      const [weekly, daily] = [series('Weekly', 'FREQ=WEEKLY'), series('Daily', 'FREQ=DAILY')];
      expect(await watch(withSeries(weekly))).to.include({ rows: 8 + 5 + 52 });
      expect((await source()).notices).to.equal([]);
      expect(await next(withSeries(weekly, daily))).to.include({ added: 110, gone: 0 });
      expect((await source()).notices).to.equal(['rows_left_out']);
      // One that vanished among the others is cancelled, and there is room for one more at the end.
      expect(await next(withSeries(weekly, daily.replace('END:VEVENT', 'EXDATE:20260210T150000Z\r\nEND:VEVENT')))).to.include({ added: 1, gone: 1, signals: 3 });
      // It has 86,400 occurrences a day: the first twelve of each are read, and no more appear within the day. Those of the next day are short notices.
      expect(await next(withSeries(weekly, series('Each second', 'FREQ=SECONDLY')))).to.include({ gone: 0, signals: 110 + 12 });
      expect(await next()).to.include({ signals: 0 });
    });
  });
}
