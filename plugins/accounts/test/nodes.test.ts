import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { slowness, testDatabases } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { accountsKit, type AccountsKit } from './kit.ts';
import { pageReader } from './reader.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PRIVATE = '/api/probe/private';
// A bare address, where a link signs in fully.
const HOME = 'http://192.0.2.7';

if (testDatabases().includes('postgres')) {
  describe('Two nodes of accounts on one Postgres', { timeout: 60_000 }, () => {
    let here: AccountsKit;
    let there: AccountsKit;

    before(async () => {
      here = await accountsKit({ database: 'postgres', config: { public_url: HOME } });
      there = await accountsKit({ config: { public_url: HOME, database: { url: here.composition.config.database.url! } } });
    });
    after(async () => {
      await there.close();
      await here.close();
    });

    /** How long the other node still answered otherwise, in milliseconds. */
    async function letInFor(key: string, status: number, headers = {}): Promise<number> {
      const since = performance.now();
      for (;;) {
        const asked = performance.now();
        if ((await there.as(key, 'GET', PRIVATE, { headers })).status === status) return asked - since;
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
        expect(await letInFor(key, 401)).to.be.below(1000 * slowness);
      }
    });

    it('know a workspace within a second after it was made on one of them, by a page', async () => {
      const { id, key } = await here.person();
      const link = (await here.run('account sign-in-link', { account: id })).sign_in_link;
      // What was told of others before has arrived by then.
      await sleep(1500);
      expect((await there.as(key, 'GET', PRIVATE)).status).to.equal(200);
      const reader = pageReader(here);
      await reader.follow(link);
      const made = String((await reader.post('/account/workspaces', { name: 'Newsroom' })).headers.location);
      expect(await letInFor(key, 200, { 'x-workspace-id': /[0-9a-f-]{36}/.exec(made)![0] })).to.be.below(1000 * slowness);
    });

    it('follow a lost plan and a disabled account within a second', async () => {
      const [poorer, gone] = [await here.person(), await here.person()];
      for (const { key } of [poorer, gone]) expect((await there.as(key, 'GET', PRIVATE)).status).to.equal(200);
      await here.run('account set-plan', { account: poorer.id, plan: 'free' });
      expect(await letInFor(poorer.key, 403)).to.be.below(1000 * slowness);
      await here.run('account disable', { account: gone.id });
      expect(await letInFor(gone.key, 401)).to.be.below(1000 * slowness);
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
