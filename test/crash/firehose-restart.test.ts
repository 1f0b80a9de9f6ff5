import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { emptyDatabase, testDatabases } from '../../core/testing/database.ts';
import { parkedWaits, sessionsOverRestart, stopWithStreams } from './firehose/bars.ts';
import { tail, withStand } from './firehose/stand.ts';

export const lab = Lab.script();
const { describe, it } = lab;

// npm run soak does these with 10,000 of each.
describe('Many streams', { timeout: 120_000 }, () => {
  it('end in order when the server is asked to stop', async () => {
    const { unclean, seconds } = await stopWithStreams(null, 200);
    expect(unclean).to.equal(0);
    expect(seconds!).to.be.below(10);
  });

  it('of sessions go on over a kill, and the first signal after it reaches all', async () => {
    const { refused, incomplete, reached } = await sessionsOverRestart(null, 100);
    expect({ refused, incomplete, reached }).to.equal({ refused: 0, incomplete: 0, reached: 100 });
  });

  it('or rather requests that wait are all answered by one signal, and none before', async () => {
    const { seconds, ...counts } = await parkedWaits(null, 100);
    expect(counts).to.equal({ waits: 100, early: 0, answered_200: 100, with_both: 100, applied: 100 });
    expect(seconds!).to.be.below(10);
  });
});

for (const dialect of testDatabases()) {
  describe(`A stream that has received nothing yet on ${dialect}`, { timeout: 60_000 }, () => {
    it('can be resumed, also by a server that was started anew before anything was ever published', async () => {
      const { url, drop } = await emptyDatabase(dialect);
      await withStand({ url }, async ({ world, nodes, url: address, publish }) => {
        const open = (last?: string | null) => tail(`${address()}/api/firehose?visibility=public`, world.asker('nobody'), { last });
        const first = open();
        await first.untilReady();
        expect(first.ready!.data.resume.status).to.equal('live');
        first.connection.destroy();
        const second = open(first.lastId);
        await second.untilReady();
        expect(second.ready!.data.resume.status).to.equal('complete');

        await nodes.restart(0, 'SIGKILL', 0);
        await second.untilEnded();
        await publish(1);
        const third = open(second.lastId);
        await third.until(1);
        expect(third.ready!.data.resume).to.include({ requested: second.lastId, status: 'complete' });
        third.connection.destroy();

        // An id of another life of the database: everything that is kept comes, and it is said why.
        const foreign = open(third.lastId!.replace(/^\w+/, 'otherone'));
        await foreign.until(1);
        expect(foreign.ready!.data.resume.status).to.equal('epoch_changed');
        foreign.connection.destroy();
      });
      await drop();
    });
  });
}
