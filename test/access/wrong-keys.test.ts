import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases, testServer } from '../../core/testing.ts';
import { newKey } from '../../plugins/accounts/keys/key.ts';
import { runCommand } from '../../plugins/accounts/test/kit.ts';

export const lab = Lab.script();
const { describe, it } = lab;

for (const database of testDatabases()) {
  describe(`Wrong keys (${database})`, { timeout: 60_000 }, () => {
    it('are limited by address, malformed or not, and a right key from there is not', async () => {
      const kit = await testServer({ plugins: ['accounts', 'ratelimit'], database, clock: stoppedClock() });
      const { id } = await runCommand(kit, 'account create', { name: 'Ada' }, []);
      const { key } = await runCommand(kit, 'key create', { account: id }, []);
      const statuses = [];
      for (let i = 0; i < 60; i++) statuses.push((await kit.request('GET', '/api/plans', { headers: { 'x-api-key': i % 2 ? newKey().key : 'nonsense' } })).status);
      expect(statuses.filter((status) => status === 401)).to.have.length(30);
      expect(statuses.slice(30).every((status) => status === 429)).to.be.true();
      expect((await kit.request('GET', '/api/plans', { headers: { 'x-api-key': key } })).status).to.equal(200);
      await kit.close();
    });
  });
}
