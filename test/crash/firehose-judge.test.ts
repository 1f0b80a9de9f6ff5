import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Query, Signal } from '../../plugins/firehose/types.ts';
import type { Asker } from './firehose/askers.ts';
import type { Follower, Segment, Seen } from './firehose/follower.ts';
import { judgeFollower } from './firehose/judge.ts';
import { deliveryOf, linesOf, matches, type Line } from './firehose/model.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const asker: Asker = { name: 'member', key: 'key', keyId: null, accountId: null, workspaceId: null, reviewsThere: false, visibilities: ['public'] };
const query: Query = {
  places: [], issues: [], actor_types: [], signal_types: [], source_classes: [], visibility: 'public', since: null, until: null, cursor: null, limit: 50, sort: 'detected_at_desc',
};

function signalText(id: string, occurred_at: string | null = null): string {
  const signal: Partial<Signal> = { id, title: id, places: [], issues: [], actors: [], visibility: 'public', review_state: 'approved', detected_at: '2026-03-01T12:00:00.000Z', occurred_at };
  return JSON.stringify(signal);
}

function logOf(...entries: [id: string, text: string | null][]): Line[] {
  return linesOf(entries.map(([signal_id, signal], index) => ({ seq: index + 1, signal_id, signal })), () => null);
}

/** A connection that started after `start` and was sent the entries up to `end`. */
function segmentOf(lines: Line[], { start, end, requested, remembered }: { start: number; end: number; requested: number | null; remembered: number[] }): Segment {
  const id = requested === null ? null : `e-${requested}`;
  const seen = lines.filter(({ seq }) => seq > start && seq <= end).map((line): Seen => ({ kind: 'signal', ...deliveryOf(line, query, asker)! }));
  return { requested: id, remembered, ready: { seq: start, resume: { requested: id ?? `e-${start}`, status: 'complete', from: null } }, seen };
}

function followerOf(segments: Segment[]): Follower {
  return {
    name: 'member', asker, query, isSession: true, segments, cuts: { torn: 0, stalled: 0, ended: 0 },
    base: { asker, query, isWhole: true, pages: [{ seq: 0, lastEventId: 'e-0', etag: '', items: [], total: 0, latest: null, hasNext: false, result: '' }] },
    settle() {}, async stop() {},
  };
}

describe('The oracle of the Firehose', () => {
  const lines = logOf(['a', signalText('a')], ['b', signalText('b')], ['a', null], ['c', signalText('c')]);

  it('accepts a client that reads old entries again and then continues at the position of its session', () => {
    const segments = [
      segmentOf(lines, { start: 0, end: 3, requested: 0, remembered: [0] }),
      segmentOf(lines, { start: 3, end: 3, requested: 3, remembered: [0, 3] }),
      segmentOf(lines, { start: 0, end: 1, requested: 0, remembered: [0, 3, 0] }),
      segmentOf(lines, { start: 3, end: 4, requested: null, remembered: [0, 3, 0] }),
    ];
    expect(judgeFollower(followerOf(segments), lines)).to.equal([]);
  });

  it('accepts a client whose last connection ended while it read old entries again', () => {
    const segments = [
      segmentOf(lines, { start: 0, end: 4, requested: 0, remembered: [0] }),
      segmentOf(lines, { start: 1, end: 2, requested: 1, remembered: [0, 1] }),
    ];
    expect(judgeFollower(followerOf(segments), lines)).to.equal([]);
  });

  it('finds an entry that came on no connection', () => {
    const segments = [
      segmentOf(lines, { start: 0, end: 3, requested: 0, remembered: [0] }),
      segmentOf(lines, { start: 1, end: 2, requested: 1, remembered: [0, 1] }),
    ];
    expect(judgeFollower(followerOf(segments), lines)).to.equal(['member: 1 never came, the first is 4, the last that came 3']);
  });

  it('finds a retraction that a client never received', () => {
    const segments = [
      segmentOf(lines, { start: 0, end: 2, requested: 0, remembered: [0] }),
      segmentOf(lines, { start: 3, end: 4, requested: 3, remembered: [0, 3] }),
    ];
    expect(judgeFollower(followerOf(segments), lines)).to.equal(['member: snapshot and stream together have 1 signals too many and 0 too few']);
  });

  it('expects signals without occurred_at outside every bound when sorted by it', () => {
    const [without, within] = logOf(['a', signalText('a')], ['b', signalText('b', '2026-03-01T12:00:00.000Z')]);
    const sorted: Query = { ...query, sort: 'occurred_at_desc' };
    const found = (bounds: Partial<Query>): boolean[] => [without, within].map((line) => matches(line!.now!, { ...sorted, ...bounds }, asker));
    expect(found({})).to.equal([true, true]);
    for (const bounds of [{ since: '2000-01-01' }, { until: '2030-01-01' }, { since: '2000-01-01', until: '2030-01-01' }]) expect(found(bounds), JSON.stringify(bounds)).to.equal([false, true]);
    expect(found({ until: '2030-01-01', sort: 'detected_at_desc' })).to.equal([true, true]);
  });
});
