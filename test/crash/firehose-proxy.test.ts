import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { slowness } from '../../core/test/wait.ts';
import { nginxMissing, startNginx } from './firehose/nginx.ts';
import { gapIn, tail, withStand } from './firehose/stand.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const missing = nginxMissing();
if (missing) console.log(`skipped: behind nginx: ${missing}`);

describe('Behind nginx that buffers and compresses', { timeout: 60_000, skip: missing !== null }, () => {
  it('events arrive at once, streams resume, and sockets pass', async () => {
    await withStand({ url: null }, async ({ world, url, publish, session }) => {
      const proxy = await startNginx(url());
      try {
        const asker = world.asker('owner');
        const id = await session(asker, { visibility: 'public' });
        const events = tail(`${proxy.url}/api/firehose?visibility=public`, asker);
        const socket = tail(`${proxy.url}/api/firehose/sessions/${id}/socket`, asker, { isSocket: true });
        await Promise.all([events.untilReady(), socket.untilReady()]);
        for (let number = 1; number <= 3; number++) {
          const started = performance.now();
          await publish(1);
          await Promise.all([events.until(number), socket.until(number)]);
          expect(performance.now() - started).to.be.below(1500 * slowness);
        }
        events.connection.destroy();
        await publish(2);
        const resumed = tail(`${proxy.url}/api/firehose?visibility=public`, asker, { last: events.lastId });
        await Promise.all([resumed.until(2), socket.until(5)]);
        expect(gapIn(resumed, 4, 5)).to.be.null();
        expect(gapIn(socket, 1, 5)).to.be.null();
        for (const { connection } of [resumed, socket]) connection.destroy();
      } finally {
        await proxy.stop();
      }
    });
  });
});
