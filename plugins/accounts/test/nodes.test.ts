import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { accountsKit, type AccountsKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PRIVATE = '/api/probe/private';

if (testDatabases().includes('postgres')) {
  describe('Two nodes of accounts on one Postgres', { timeout: 60_000 }, () => {
    let here: AccountsKit;
    let there: AccountsKit;

    before(async () => {
      here = await accountsKit({ database: 'postgres' });
      there = await accountsKit({ config: { database: { url: here.composition.config.database.url! } } });
    });
    after(async () => {
      await there.close();
      await here.close();
    });

    /** How long the other node still let the key in, in milliseconds. */
    async function letInFor(key: string, status: number): Promise<number> {
      const since = performance.now();
      for (;;) {
        const asked = performance.now();
        if ((await there.as(key, 'GET', PRIVATE)).status === status) return asked - since;
        if (asked - since > 10_000) throw new Error('The other node never heard of it');
        await sleep(5);
      }
    }

    it('refuse a key within a second after it was revoked on one of them', async () => {
      for (let round = 0; round < 3; round++) {
        const { key, key_id } = await here.person();
        for (const node of [here, there]) expect((await node.as(key, 'GET', PRIVATE)).status).to.equal(200);
        await here.run('key revoke', {}, [key_id]);
        expect((await here.as(key, 'GET', PRIVATE)).status).to.equal(401);
        expect(await letInFor(key, 401)).to.be.below(1000);
      }
    });

    it('follow a lost plan and a disabled account within a second', async () => {
      const [poorer, gone] = [await here.person(), await here.person()];
      for (const { key } of [poorer, gone]) expect((await there.as(key, 'GET', PRIVATE)).status).to.equal(200);
      await here.run('account set-plan', { account: poorer.id, plan: 'free' });
      expect(await letInFor(poorer.key, 403)).to.be.below(1000);
      await here.run('account disable', { account: gone.id });
      expect(await letInFor(gone.key, 401)).to.be.below(1000);
    });

    it('keep one record without holes', async () => {
      await Promise.all(Array.from({ length: 10 }, (_, i) => (i % 2 ? here : there).person()));
      const seqs = (await here.run('audit export') as string[]).map((line) => JSON.parse(line).seq as number);
      expect(seqs).to.equal(seqs.map((_, i) => i + 1));
    });
  });
} else {
  describe('Nodes of accounts', () => {
    it('share one Postgres', { skip: true }, () => undefined);
  });
}
