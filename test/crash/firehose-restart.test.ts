import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { slowness } from '../../core/test/wait.ts';
import { testDatabases } from '../../core/testing/database.ts';
import { parkedWaits, sessionsOverRestart, stopWithStreams } from './firehose/bars.ts';
import { openStand, tail, withStand } from './firehose/stand.ts';
import { worldDatabase } from './firehose/world.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

// On Postgres where there is one: the sessions below resume on SQLite, from an empty log too.
for (const dialect of testDatabases().slice(-1)) describe(`A client of a server that is killed, on ${dialect}`, { timeout: 120_000 }, () => {
  it('resumes a stream that has received nothing yet, also from a server that was started anew before anything was ever published', async () => {
    const database = await worldDatabase(dialect);
    await withStand({ url: database.url, where: (start) => (start === 0 ? 'process' : 'here') }, async ({ world, nodes, url, publish }) => {
      const open = (last?: string | null) => tail(`${url()}/api/firehose?visibility=public`, world.asker('nobody'), { last });
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
    await database.drop();
  });
});

// On one database; npm run soak does these on both, with 10,000 of each.
describe('Clients of a server that ends', { timeout: 120_000 }, () => {
  // One server for all: the first test kills it and needs an empty log, and the last one stops it.
  let stand: Awaited<ReturnType<typeof openStand>>;
  before(async () => { stand = await openStand({ url: null, where: () => 'process' }); });
  after(() => stand.close());

  it('resume their sessions after a kill, and the first signal after it reaches all', async () => {
    const { refused, incomplete, reached } = await sessionsOverRestart(stand, 100);
    expect({ refused, incomplete, reached }).to.equal({ refused: 0, incomplete: 0, reached: 100 });
  });

  it('that wait for something new are all answered by one signal, and none before', async () => {
    const { seconds, ...counts } = await parkedWaits(stand, 100);
    expect(counts).to.equal({ waits: 100, early: 0, answered_200: 100, with_new: 100, applied: 100 });
    expect(seconds!).to.be.below(10 * slowness);
  });

  it('see their streams end in order when the server is asked to stop', async () => {
    const { unclean, seconds } = await stopWithStreams(stand, 200);
    expect(unclean).to.equal(0);
    expect(seconds!).to.be.below(10 * slowness);
  });
});
