import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { until } from '../../core/test/wait.ts';
import { emptyDatabase, testDatabases } from '../../core/testing/database.ts';
import { gapIn, tail, withStand } from './firehose/stand.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const passage = 'The council resolved. '.repeat(2500);

// The log and the hub are the same on both; the oracle reads far behind on Postgres, too.
for (const dialect of testDatabases().slice(0, 1)) {
  describe(`Readers far behind on ${dialect}`, { timeout: 120_000 }, () => {
    it('get everything in order when they read on, and hold nobody up', async () => {
      const { url, drop } = await emptyDatabase(dialect);
      await withStand({ url }, async ({ world, url: address, publish }) => {
        const open = () => tail(`${address()}/api/firehose?visibility=public`, world.asker('nobody'));
        const [slow, quick] = [open(), open()];
        await Promise.all([slow.untilReady(), quick.untilReady()]);
        slow.connection.pause();
        for (let round = 0; round < 20; round++) await publish(Array.from({ length: 15 }, () => ({ evidence: [{ source_url: 'https://example.org/', passage }] })));
        await quick.until(300);
        expect(gapIn(quick, 1, 300)).to.be.null();
        expect(slow.signals.length).to.be.below(300);
        slow.connection.resume();
        await slow.until(300);
        expect(gapIn(slow, 1, 300)).to.be.null();
        for (const { connection } of [slow, quick]) connection.destroy();
      });
      await drop();
    });

    it('resume after 10,001 signals with the newest id, and get the next one and nothing else', async () => {
      const { url, drop } = await emptyDatabase(dialect);
      await withStand({ url }, async ({ world, url: address, publish }) => {
        const open = (last: string) => tail(`${address()}/api/firehose?visibility=public`, world.asker('nobody'), { last });
        await publish(10_001);
        const all = open('0');
        await all.until(10_001);
        expect(gapIn(all, 1, 10_001)).to.be.null();
        const newest = open(all.lastId!);
        await newest.untilReady();
        expect(newest.ready!.data.resume.status).to.equal('complete');
        await publish(1);
        await newest.until(1);
        expect(gapIn(newest, 10_002, 10_002)).to.be.null();
        for (const { connection } of [all, newest]) connection.destroy();
      });
      await drop();
    });

    it('are told of the gap when what they had to read was removed, while others read on', async () => {
      const { url, drop } = await emptyDatabase(dialect);
      await withStand({ url }, async ({ world, nodes, url: address, publish }) => {
        const open = (last: string | null) => tail(`${address()}/api/firehose?visibility=public`, world.asker('nobody'), { last });
        await publish(Array.from({ length: 600 }, () => ({ evidence: [{ source_url: 'https://example.org/', passage: passage.slice(0, 20_000) }] })));
        const early = open('0');
        await early.until(100);
        early.connection.destroy();
        const [stuck, live] = [open('0'), open(null)];
        await Promise.all([stuck.untilReady(), live.untilReady()]);
        stuck.connection.pause();
        // As if the first 500 had been written long ago, and the hour for removing them had come.
        await world.look(async (db) => {
          await db.write(async (tx) => { await tx('firehose_log').where('seq', '<=', 500).update({ at: '2020-01-01T00:00:00.000Z' }); });
          await db.write(async (tx) => { await tx('core_job_schedules').where({ name: 'firehose.prune' }).update({ next_at: '2020-01-01T00:00:00.000Z' }); });
        });
        await until(() => world.look(async (db) => Number((await db.read('firehose_head').first('floor_seq')).floor_seq) === 500));
        await publish(1);
        await live.until(1);
        expect(gapIn(live, 601, 601)).to.be.null();

        const told = open(early.signals[99]!.id);
        await told.until(101);
        expect(told.ready!.data.resume.status).to.equal('gap');
        expect(told.ready!.data.snapshot_url).to.be.a.string();
        expect(gapIn(told, 501, 601)).to.be.null();

        stuck.connection.resume();
        await until(() => stuck.ended !== null || stuck.signals.length === 601);
        const got = stuck.signals.length;
        expect(gapIn(stuck, 1, got)).to.be.null();
        for (const { connection } of [told, live, stuck]) connection.destroy();
        expect(nodes.faults).to.equal([]);
      });
      await drop();
    });
  });
}
