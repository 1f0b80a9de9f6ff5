import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { until } from '../../core/test/wait.ts';
import { seqOf } from './firehose/snapshots.ts';
import { gapIn, openStand, tail, type Tail } from './firehose/stand.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const passage = 'The council resolved. '.repeat(2500);

// On SQLite: the log and the hub are the same on both, and the oracle reads far behind on Postgres, too.
describe('Readers far behind', { timeout: 120_000 }, () => {
  let stand: Awaited<ReturnType<typeof openStand>>;
  before(async () => { stand = await openStand({ url: null }); });
  after(() => stand.close());

  const open = (last: string | null = null): Tail => tail(`${stand.url()}/api/firehose?visibility=public`, stand.world.asker('nobody'), { last });
  /** The newest entry of the log, which the tests before this one have filled. */
  async function head(): Promise<{ id: string; seq: number }> {
    const { last_event_id: id } = await (await fetch(`${stand.url()}/api/firehose?visibility=public&limit=1`)).json() as { last_event_id: string };
    return { id, seq: seqOf(id) };
  }

  it('resume after 10,001 signals with the newest id, and get the next one and nothing else', async () => {
    await stand.publish(10_001);
    const all = open('0');
    await all.until(10_001);
    expect(gapIn(all, 1, 10_001)).to.be.null();
    const newest = open(all.lastId);
    await newest.untilReady();
    expect(newest.ready!.data.resume.status).to.equal('complete');
    await stand.publish(1);
    await newest.until(1);
    expect(gapIn(newest, 10_002, 10_002)).to.be.null();
    for (const { connection } of [all, newest]) connection.destroy();
  });

  it('get all signals in order when they continue to read, and delay no other reader', async () => {
    const { seq } = await head();
    const [slow, quick] = [open(), open()];
    await Promise.all([slow.untilReady(), quick.untilReady()]);
    slow.connection.pause();
    for (let round = 0; round < 20; round++) await stand.publish(Array.from({ length: 15 }, () => ({ evidence: [{ source_url: 'https://example.org/', passage }] })));
    await quick.until(300);
    expect(gapIn(quick, seq + 1, seq + 300)).to.be.null();
    expect(slow.signals.length).to.be.below(300);
    slow.connection.resume();
    await slow.until(300);
    expect(gapIn(slow, seq + 1, seq + 300)).to.be.null();
    for (const { connection } of [slow, quick]) connection.destroy();
  });

  it('get a gap when their next entries were pruned, while others continue', async () => {
    const { id, seq } = await head();
    await stand.publish(Array.from({ length: 600 }, () => ({ evidence: [{ source_url: 'https://example.org/', passage: passage.slice(0, 20_000) }] })));
    const early = open(id);
    await early.until(100);
    early.connection.destroy();
    const [stuck, live] = [open(id), open()];
    await Promise.all([stuck.untilReady(), live.untilReady()]);
    stuck.connection.pause();
    // As if the first 500 had been written long ago, and the hour for removing them had come.
    await stand.world.look(async (db) => {
      await db.write(async (tx) => { await tx('firehose_log').where('seq', '<=', seq + 500).update({ at: '2020-01-01T00:00:00.000Z' }); });
      await db.write(async (tx) => { await tx('core_job_schedules').where({ name: 'firehose.prune' }).update({ next_at: '2020-01-01T00:00:00.000Z' }); });
      await until(async () => Number((await db.read('firehose_head').first('floor_seq')).floor_seq) === seq + 500);
    });
    await stand.publish(1);
    await live.until(1);
    expect(gapIn(live, seq + 601, seq + 601)).to.be.null();

    const told = open(early.signals[99]!.id);
    await told.until(101);
    expect(told.ready!.data.resume.status).to.equal('gap');
    expect(told.ready!.data.snapshot_url).to.be.a.string();
    expect(gapIn(told, seq + 501, seq + 601)).to.be.null();

    stuck.connection.resume();
    await until(() => stuck.ended !== null || stuck.signals.length === 601);
    const got = stuck.signals.length;
    expect(gapIn(stuck, seq + 1, seq + got)).to.be.null();
    for (const { connection } of [told, live, stuck]) connection.destroy();
    expect(stand.nodes.faults).to.equal([]);
  });
});
