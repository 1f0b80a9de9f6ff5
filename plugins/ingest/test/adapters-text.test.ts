import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { slowness } from 'civic/testing';
import type { Document } from 'civic/reader';
import { ADAPTERS } from '../adapters/adapters.ts';
import { findDates } from '../text/dates.ts';
import { statusOf, withoutStatus } from '../text/status.ts';
import { findTimes } from '../text/times.ts';
import { startOfValue } from '../text/values.ts';
import { instantOf, knownZone } from '../text/zone.ts';
import { CONTEXT } from './adapters-kit.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const ZONE = 'America/Chicago';
const at = (year: number, month: number, day: number, hour: number, minute: number) => new Date(instantOf({ year, month, day, hour, minute }, ZONE)).toISOString();

describe('dates and times of texts', () => {
  it('converts local times on both sides of changes of the clock', () => {
    expect(at(2026, 3, 7, 18, 0)).to.equal('2026-03-08T00:00:00.000Z');
    expect(at(2026, 3, 8, 18, 0)).to.equal('2026-03-08T23:00:00.000Z');
    // 2:30 does not exist on this day, and 1:30 happens twice on the other.
    expect(at(2026, 3, 8, 2, 30)).to.equal('2026-03-08T08:30:00.000Z');
    expect(at(2026, 11, 1, 1, 30)).to.equal('2026-11-01T06:30:00.000Z');
    expect(at(2026, 11, 1, 2, 30)).to.equal('2026-11-01T08:30:00.000Z');
    expect(knownZone('America/Nowhere')).to.be.null();
    expect(knownZone(ZONE)).to.equal(ZONE);
  });

  it('finds dates in the forms of American pages', () => {
    const found = (text: string) => findDates(text).map(({ year, month, day }) => `${year ?? '?'}-${month}-${day}`);
    expect(found('Tues., Sept. 16th, 2026; MARCH 2nd; 5 May 2026; 3/4/26; 2026-03-05; Feburary 20; 09 Jan; Aug. 1, 2026')).to.equal(['2026-9-16', '?-3-2', '2026-5-5', '2026-3-4', '2026-3-5', '?-2-20', '?-1-9', '2026-8-1']);
    expect(found('you may 5 times; 13/45/2026; February 30, 2026; 312-555-1212; Section 2-80-070; May 2026; Marchand 5; 1/2')).to.equal([]);
    expect(findDates('Thursday, March 5')[0]).to.include({ weekday: 4 });
  });

  it('finds times and the first of a range', () => {
    const found = (text: string) => findTimes(text).map(({ hour, minute, until }) => `${hour}:${minute}${until ? `-${until.hour}:${until.minute}` : ''}`);
    expect(found('9 a.m.; 6:30 pm – 8 pm; 11 - 1 pm; 12:00 noon; 3:oo pm; 530pm; 12:15 AM; 8:30 - 9:30 a.m.')).to.equal(['9:0', '18:30-20:0', '11:0-13:0', '12:0', '15:0', '17:30', '0:15', '8:30-9:30']);
    expect(found('Room 12, 10 people, 25:00 pm, 2026')).to.equal([]);
  });

  it('reads values of data', () => {
    expect(startOfValue('2026-03-02T18:00:00', ZONE)).to.equal('2026-03-03T00:00:00.000Z');
    expect(startOfValue('2026-03-02T18:00:00-0500', ZONE)).to.equal('2026-03-02T23:00:00.000Z');
    expect(startOfValue('3/2/2026 6:00:00 PM', ZONE)).to.equal('2026-03-03T00:00:00.000Z');
    expect(startOfValue(1772500000, ZONE)).to.equal('2026-03-03T01:06:40.000Z');
    expect(startOfValue('2026-02-30', ZONE)).to.be.null();
    expect(startOfValue('soon', ZONE)).to.be.null();
  });

  it('reads statuses', () => {
    expect(['Board Meeting CANCELED', 'No meeting', 'Postponed'].map((text) => statusOf(text))).to.equal(['cancelled', 'cancelled', 'cancelled']);
    expect(['Rescheduled Regular Board Meeting', 'No meeting minutes yet', 'If the meeting is cancelled, we write', 'Open'].map((text) => statusOf(text))).to.equal(['confirmed', 'confirmed', 'confirmed', 'confirmed']);
    expect(statusOf('Tentative agenda date')).to.equal('tentative');
  });

  it('takes a meeting as cancelled where a mark or a sentence says it of the meeting', () => {
    const off = [
      'CANCELLED', 'Deferred', 'NO MEETING', 'Meeting postponed', 'CANCELLED - Zoning', 'Cancelled: Zoning', 'Zoning (Cancelled)', '[CANCELED] Zoning', '*** DEFERRED ***', 'CANCELLED-Hearing Room', 'Zoning CANCELLED',
      'Canceled Regular Board Meeting', 'Zoning Board of Appeals Cancelled', 'Special Board Meeting - December 10, 2018 CANCELLED', 'Feb. 11 Cancelled', 'April 16 meeting canceled', 'March 9, 2026 at 6:00 pm, City Hall, cancelled',
      'This meeting has been cancelled due to weather.', 'This meeting is cancelled as there are no items to be heard', 'NOTE:  Today’s meeting was canceled.', 'Note: This meeting is cancelled. No items require action.', 'Meeting and Subject Matter Hearing Cancelled',
      'October 16 Committee/Board Meetings have been cancelled', 'Postponed until further notice', 'POSTPONED until May', 'Cancelled - rescheduled to March 4', 'The hearing on the bridge has been postponed to May 3', 'CANCELLATION of Virtual Meeting', 'Board Meeting Cancellation Notice',
      'No Meetings Scheduled in August', 'There is no regular meeting scheduled for December 2019.', 'The Board will not meet in July', 'CANCELADA', 'Reunión cancelada', 'Audiencia pública - CANCELADO', 'La sesión ha sido suspendida', 'Junta (aplazada)', 'City Hall\n--em--This meeting is canceled--em--',
    ];
    expect(off.filter((text) => statusOf(text) !== 'cancelled')).to.equal([]);
  });

  it('does not take what a meeting is about, or its items, as a cancellation', () => {
    const on = [
      'Item 12 (Res 14) has been postponed to the next meeting.', 'Workshop on deferred maintenance of city bridges', 'To cancel your registration to speak call 555-0100', 'Replaces the cancelled meeting of Nov 3', 'Student Debt Cancellation Forum',
      'Hearing on cancelled contracts', 'Workshop: why no meetings work', 'Hearing on the cancelled bridge contract', 'Agenda: item 4 postponed to December', 'Item 4 - postponed', 'Item 4 (postponed)', 'Res. 14 has been postponed', 'Deferred Compensation Board', 'DEFERRED COMPENSATION COMMITTEE MEETING',
      'Cancelled contracts hearing', 'Deferred Maintenance Committee', 'Cancellation of Pensions', 'Meeting cancellation policy', 'Unless the meeting is cancelled, doors open at 6', 'The meeting may be cancelled', 'The meeting is not cancelled', 'School board vote postponed', 'Hearing on contracts that were cancelled', 'Registrations for this meeting will be cancelled after June 1',
      'The Nov 3 meeting was cancelled; this one replaces it.', 'Hearing on why the bridge was cancelled', 'Foro sobre contratos cancelados',
    ];
    expect(on.filter((text) => statusOf(text) !== 'confirmed')).to.equal([]);
    expect(['Student Debt Cancellation', 'CANCELLED - Zoning', 'Zoning (Cancelled)', 'Deferred: Zoning'].map(withoutStatus)).to.equal(['Student Debt Cancellation', 'Zoning', 'Zoning', 'Zoning']);
  });

  it('reads statuses of hostile texts soon', () => {
    const began = performance.now();
    for (const word of ['meeting of ', 'the ', '1 ', 'no meeting ', 'board for cancelled ', '((', 'cancelled-', '- ', 'hearing is ']) statusOf(word.repeat(2000));
    expect(performance.now() - began).to.be.below(1000);
  });
});

describe('adapters on hostile texts', () => {
  const SIZE = 5_000_000;
  const fill = (part: string) => part.repeat(Math.ceil(SIZE / part.length)).slice(0, SIZE);
  const blocksOf = (text: string): Document['blocks'] => {
    let start = 0;
    return text.split('\n').map((line) => {
      const block = { tag: 'p', text: line, start, end: start + line.length, depth: 1, group: 1, item: start % 7, classes: [], links: [], time: null };
      start = block.end + 1;
      return block;
    });
  };
  const documentOf = (kind: Document['kind'], text: string): Document => ({
    url: 'https://city.example/', kind, title: 'City Council meetings', language: null, site_name: null, description: null, canonical_url: null, text, main: { start: 0, end: text.length },
    blocks: kind === 'html' ? blocksOf(text) : [], tables: [], links: [], feeds: [], items: [], feed: null, calendar: null, pages: [], body: kind === 'html' ? null : text, is_script_page: false, login_wall: false, truncated: false,
  });

  /** Returns the time of the processor that all adapters together take. */
  async function millisecondsOf(document: Document): Promise<number> {
    const before = process.cpuUsage();
    for (const adapter of ADAPTERS) if (adapter.recognises(document) > 0) await adapter.rows(document, CONTEXT);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  }

  for (const [name, part] of Object.entries({ 'dates': 'March 2, 2026 ', 'digits': '1', 'spaces': ' ', 'lines of dates': 'March 2, 2026 at 6 pm\n', 'sentences': 'The board meeting will be held at City Hall. ', 'addresses': '1 N. A ', 'brackets': '<(' })) {
    it(`takes time in proportion to 5 MB of ${name}`, { timeout: 20_000 }, async () => {
      for (const document of [documentOf('html', fill(part)), documentOf('xml', `<?xml?><meetings><meeting ${fill(part)}`), documentOf('json', `[${fill(part)}`)]) {
        expect(await millisecondsOf(document), document.kind).to.be.below(3000 * slowness);
      }
    });
  }

  it('compares the names of many fields once', async () => {
    const wide = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`Field_x-${index}`, 1]));
    expect(await millisecondsOf(documentOf('json', JSON.stringify(Array.from({ length: 2400 }, () => wide))))).to.be.below(1200 * slowness);
  });
});
