import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { MeetingRow, PageRow, Row } from '../adapters/types.ts';
import { compareRows, hashOf, type KnownRow } from '../reads/compare.ts';
import { cleanRow, publicUrl } from '../reads/clean.ts';
import { changedLines, withoutLines } from '../reads/lines.ts';
import { newVotes } from '../signals/votes.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const now = Date.parse('2026-02-01T12:00:00Z');
const meeting = (key: string, start: string, more: Partial<MeetingRow> = {}): MeetingRow => ({
  kind: 'meeting', key, title: `Meeting ${key}`, body: null, start, end: null, location: null, status: 'confirmed', url: null, documents: [], items: [], passage: null, ...more,
});
const known = (rows: Row[]): Map<string, KnownRow> => new Map(rows.map((row) => [row.key, { row, hash: hashOf(row) }]));
const compare = (before: Row[], after: Row[], options: { isComplete?: boolean; hasNoEnd?: boolean; doubted?: string[] } = {}) =>
  compareRows(known(before), after, { now, isComplete: options.isComplete ?? true, hasNoEnd: options.hasNoEnd ?? false, wasDoubted: ({ key }) => options.doubted?.includes(key) ?? false, gone: new Map() });
const shown = ({ changes }: ReturnType<typeof compare>) => changes.map(({ type, row }) => `${type} ${row.key}`);
const weekly = (count: number) => Array.from({ length: count }, (_, index) => meeting(`m${index}`, `2026-03-${String(index + 1).padStart(2, '0')}T18:00:00.000Z`));

describe('the comparison of two reads', () => {
  it('finds nothing where only the place in the document changed', () => {
    const row = meeting('a', '2026-03-01T18:00:00.000Z', { passage: { start: 1, end: 5 } });
    expect(compare([row], [{ ...row, passage: { start: 40, end: 44 } }]).changes).to.equal([]);
  });

  it('takes a meeting that vanished between others as gone, but not one that has begun, nor from a feed', () => {
    const past = meeting('past', '2026-01-20T18:00:00.000Z');
    const [first, next, ...others] = weekly(4);
    const left = [first!, ...others];
    expect(shown(compare([past, ...weekly(4)], left))).to.equal(['gone m1']);
    expect(next!.key).to.equal('m1');
    expect(compare([past, ...weekly(4)], left, { isComplete: false }).changes).to.equal([]);
    expect(compare([past, ...weekly(4)], []).changes).to.equal([]);
  });

  it('follows the meetings of a series that was entered again or moved by half an hour', () => {
    const series = (prefix: string, minutes: string) => weekly(6).map((row) => ({ ...row, key: `${prefix}-${row.key}`, title: 'Council', start: row.start!.replace('18:00', `18:${minutes}`) }));
    const others = weekly(4).map((row) => ({ ...row, key: `other-${row.key}`, title: `Other ${row.key}` }));
    for (const minutes of ['00', '30']) {
      const { changes, doubted } = compare([...series('old', '00'), ...others], [...series('new', minutes), ...others]);
      expect(changes.map(({ type, row }) => `${type} ${row.key}`)).to.equal(series('new', minutes).map(({ key }) => `changed ${key}`));
      expect(changes.map((change) => change.type === 'changed' && change.before.key)).to.equal(series('old', '00').map(({ key }) => key));
      expect(doubted).to.equal([]);
    }
    const daily = weekly(6).map((row) => ({ ...row, title: 'Council' }));
    expect(shown(compare([...daily, ...others], [...daily.filter(({ key }) => key !== 'm2'), ...others]))).to.equal(['gone m2']);
  });

  it('takes no next meeting of a series for a move, and follows a meeting that was renamed', () => {
    const week = (key: string, day: string, title = 'City Council') => meeting(key, `2026-03-${day}T18:00:00.000Z`, { title });
    const before = [week('a', '05'), week('b', '12'), week('c', '19'), week('d', '26')];
    const others = weekly(4).map((row) => ({ ...row, key: `other-${row.key}`, title: `Other ${row.key}` }));
    const special = meeting('special', '2026-02-02T02:00:00.000Z', { title: 'City Council' });
    expect(shown(compare([...before, ...others], [special, ...before.slice(0, 3), ...others]))).to.equal(['added special']);
    expect(shown(compare([...before, ...others], [before[0]!, ...before.slice(2), week('e', '31'), ...others]))).to.equal(['added e', 'gone b']);
    expect(shown(compare([...before, ...others], [before[0]!, week('new', '12', 'City Council - agenda posted'), ...before.slice(2), ...others]))).to.equal(['changed new']);
  });

  it('does not know about meetings outside the dates that are listed, unless the list has no end', () => {
    const rows = weekly(6);
    const added = meeting('new', '2026-02-02T18:00:00.000Z');
    expect(compare(rows, [added, ...rows.slice(0, 5)])).to.equal({ changes: [{ type: 'added', row: added }], doubted: [] });
    expect(compare(rows, rows.slice(1))).to.equal({ changes: [], doubted: [] });
    expect(shown(compare(rows, rows.slice(0, 5), { hasNoEnd: true }))).to.equal(['gone m5']);
  });

  it('takes the second of two reads for a proof when fewer than two announced meetings are left', () => {
    const rows = [meeting('past', '2026-01-20T18:00:00.000Z'), ...weekly(3)];
    const left = [rows[0]!, rows[3]!];
    const first = compare(rows, left);
    expect(first.changes).to.equal([]);
    expect(first.doubted.map(({ key }) => key)).to.equal(['m0', 'm1']);
    expect(shown(compare(rows, left, { doubted: ['m0', 'm1'] }))).to.equal(['gone m0', 'gone m1']);
  });

  it('cancels nothing because of a list that has none of the known rows', () => {
    const notice = meeting('notice', '2026-12-31T18:00:00.000Z', { title: 'Calendar maintenance' });
    const before = meeting('before', '2026-02-01T13:00:00.000Z', { title: 'Closed' });
    for (const count of [1, 4, 10]) {
      const { changes, doubted } = compare(weekly(count), [before, notice], { hasNoEnd: true, doubted: weekly(count).map(({ key }) => key) });
      expect([changes.map(({ type }) => type), doubted]).to.equal([['added', 'added'], []]);
    }
  });

  it('doubts that most of many meetings are gone until the next read has none of them either', () => {
    const rows = weekly(10);
    const left = [rows[0]!, rows[5]!, rows[9]!];
    const first = compare(rows, left);
    expect(first.changes).to.equal([]);
    expect(first.doubted).to.have.length(7);
    const second = compare(rows, left, { doubted: first.doubted.map(({ key }) => key) });
    expect(second.changes.map(({ type }) => type)).to.equal(Array(7).fill('gone'));
    expect(second.doubted).to.equal([]);
  });

  it('takes a meeting whose key has another date as moved, when no other has its title', () => {
    const before = meeting('board 2026-03-01', '2026-03-01T18:00:00.000Z', { title: 'Board' });
    const after = meeting('board 2026-03-08', '2026-03-08T18:00:00.000Z', { title: 'Board' });
    const { changes } = compare([before, meeting('x', '2026-03-02T18:00:00.000Z')], [after, meeting('x', '2026-03-02T18:00:00.000Z')]);
    expect(changes).to.equal([{ type: 'changed', before, row: after, fields: [{ field: 'start', before: before.start, after: after.start }] }]);
    const later = meeting('board 2026-03-15', '2026-03-15T18:00:00.000Z', { title: 'Board' });
    const others = weekly(20).slice(10).map((row, index) => ({ ...row, start: `2026-0${index < 5 ? 2 : 4}-${10 + index}T18:00:00.000Z` }));
    expect(compare([before, ...others], [after, later, ...others]).changes.map(({ type }) => type).toSorted()).to.equal(['added', 'added', 'gone']);
  });

  it('lists documents and agenda items that were added, removed and changed', () => {
    const item = (key: string, title: string) => ({ key, number: null, title, matter: null, action: null, passed: null, votes: [] });
    const before = meeting('a', '2026-03-01T18:00:00.000Z', { items: [item('1', 'Minutes'), item('2', 'Parks')] });
    const after = { ...before, items: [item('2', 'Parks and trees'), item('3', 'Sewers')], documents: [{ title: 'Agenda', url: 'https://city.example/a.pdf' }] };
    const [change] = compare([before], [after]).changes;
    const shown = (title: string) => ({ number: null, title, matter: null, action: null, passed: null });
    expect(change?.type === 'changed' && change.fields).to.equal([
      { field: 'documents', before: null, after: { title: 'Agenda', url: 'https://city.example/a.pdf' } },
      { field: 'items', before: shown('Parks'), after: shown('Parks and trees') },
      { field: 'items', before: null, after: shown('Sewers') },
      { field: 'items', before: shown('Minutes'), after: null },
    ]);
  });

  it('does not depend on the order of members, which Postgres changes', () => {
    const row = meeting('a', '2026-03-01T18:00:00.000Z', { items: [{ key: '1', number: null, title: 'Budget', matter: null, action: null, passed: true, votes: [{ person: 'Ann Lee', value: 'Affirmative' }] }] });
    const stored = { ...row, items: [{ votes: [{ value: 'Affirmative', person: 'Ann Lee' }], passed: true, title: 'Budget', action: null, matter: null, number: null, key: '1' }] };
    expect(hashOf(stored as MeetingRow)).to.equal(hashOf(row));
    expect(newVotes({ ...row, location: 'Room 2' }, stored as MeetingRow, {}, now)).to.equal([]);
  });

  it('takes an agenda that is read for the first time as known, and reports only recent votes of it', () => {
    const items = [{ key: '1', number: null, title: 'Budget', matter: null, action: null, passed: true, votes: [{ person: 'Ann Lee', value: 'Affirmative' }] }];
    const unread = meeting('a', '2025-11-01T18:00:00.000Z', { items: null });
    const [change] = compare([unread], [{ ...unread, items }]).changes;
    expect(change?.type === 'changed' && change.fields).to.equal([]);
    expect(newVotes({ ...unread, items }, unread, {}, now)).to.equal([]);
    const recent = { ...unread, start: '2026-01-30T18:00:00.000Z' };
    expect(newVotes({ ...recent, items }, recent, {}, now).map(({ title }) => title)).to.equal(['Budget']);
  });

  it('takes time in proportion to the rows, also when all have one title', () => {
    const rows = (prefix: string) => Array.from({ length: 5000 }, (_, index) => meeting(`${prefix}${index}`, '2026-03-01T18:00:00.000Z', { title: 'Board' }));
    const before = process.cpuUsage();
    compare(rows('a'), rows('b'));
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).to.be.below(2000);
  });

  it('shows no secrets of addresses, and nothing that Postgres cannot store', () => {
    expect(publicUrl('https://webapi.legistar.com/v1/nyc/events?token=abc&$top=5')).to.equal('https://webapi.legistar.com/v1/nyc/events?%24top=5');
    expect(publicUrl('https://city.example/calendar?id=7')).to.equal('https://city.example/calendar?id=7');
    const row = cleanRow(meeting('a', '2026-03-01T18:00:00.000Z', { title: 'A\u0000\ud800B', url: 'https://city.example/m?api_key=1', documents: [{ title: 'Agenda', url: 'https://city.example/a.pdf?sig=2' }] }));
    expect(row).to.include({ title: 'AB', url: 'https://city.example/m' });
    expect((row as MeetingRow).documents[0]!.url).to.equal('https://city.example/a.pdf');
  });

  it('finds the lines of a page that changed, not those that moved or are ignored', () => {
    expect(changedLines('Hours: 9 to 5\nCall us\nVisitors: 17', 'Call us\nHours: 10 to 4\nVisitors: 18')).to.equal([
      { field: 'text', before: 'Hours: 9 to 5', after: 'Hours: 10 to 4' }, { field: 'text', before: 'Visitors: 17', after: 'Visitors: 18' },
    ]);
    const page = (text: string): PageRow => ({ kind: 'page', key: 'page', title: null, text: withoutLines(text, ['Visitors: 17']), passage: null });
    expect(compare([page('Call us\nVisitors: 17')], [page('Call us\nVisitors: 18')]).changes).to.equal([]);
  });
});
