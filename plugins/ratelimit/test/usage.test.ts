import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from 'civic/testing';
import { limitedServer, spy } from './kit.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const DAY = 86_400_000;

for (const database of testDatabases()) {
  describe(`Usage on ${database}`, { timeout: 60_000 }, () => {
    it('is told of an account by minute, day and the last thirty days, of what was let through', async () => {
      const clock = stoppedClock('2026-03-01T12:00:00.000Z');
      const watching = spy();
      const kit = await limitedServer({ database, clock, plugins: [watching.plugin], config: { plugins: { ratelimit: { patience_ms: 10_000 } } } });
      const usage = () => watching.civic().service('ratelimit').usageOf('ada');
      const ask = async (times: number) => {
        for (let i = 0; i < times; i++) await kit.request('GET', '/api/things', { headers: { 'x-api-key': 'key_ada_tiny_1' } });
      };
      expect((await usage()).days).to.have.length(30);
      await ask(7);
      await kit.request('GET', '/api/things', { headers: { 'x-api-key': 'key_bob_tiny_1' } });
      clock.advance(60_000);
      await ask(1);
      expect(await usage()).to.include({ minute: 1, day: 6 });
      clock.advance(2 * DAY);
      await ask(2);
      const { minute, day, days } = await usage();
      expect([minute, day]).to.equal([2, 2]);
      expect(days.slice(-3)).to.equal([{ day: '2026-03-01', requests: 6 }, { day: '2026-03-02', requests: 0 }, { day: '2026-03-03', requests: 2 }]);
      expect(days[0]).to.equal({ day: '2026-02-02', requests: 0 });
      await kit.close();
    });
  });
}
