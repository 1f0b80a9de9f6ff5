import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { setTimeout as sleep } from 'node:timers/promises';
import { emptyDatabase, testDatabases } from '../../core/testing/database.ts';
import { createInstance } from '../support/civic.ts';
import { serveInProcess } from '../support/serving.ts';

export const lab = Lab.script();
const { describe, it } = lab;

/** What is left after so many further requests, by the header of the last. */
async function left({ url }: { url: string }, times: number): Promise<number> {
  let remaining = NaN;
  for (let i = 0; i < times; i++) remaining = Number((await fetch(`${url}/api/nothing`)).headers.get('ratelimit-remaining'));
  return remaining;
}

for (const dialect of testDatabases()) {
  describe(`Limits over a restart on ${dialect}`, { timeout: 120_000 }, () => {
    it('forget at most a second when the server is killed, and nothing when it is stopped', async () => {
      const database = await emptyDatabase(dialect);
      // An hour is longer than this test takes, however busy the machine is.
      const limits = { anonymous: { reads_per_minute: 1000, requests_per_hour: 100 }, patience_ms: 5000 };
      const instance = createInstance({ database: { url: database.url }, plugins: { ratelimit: limits }, log: { level: 'warn' } });
      try {
        const first = await instance.serve();
        expect(await left(first, 20)).to.equal(80);
        await sleep(1000);
        expect(await left(first, 5)).to.equal(75);
        await first.stop('SIGKILL');

        const second = await serveInProcess(instance.configFile);
        const after = await left(second, 1);
        expect(after).to.be.between(73, 80);
        expect(await left(second, 5)).to.equal(after - 5);
        await second.stop();

        const third = await serveInProcess(instance.configFile);
        expect(await left(third, 1)).to.equal(after - 6);
        await third.stop();
      } finally {
        instance.remove();
        await database.drop();
      }
    });
  });
}
