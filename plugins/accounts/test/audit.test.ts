import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { accountsKit, type AccountsKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

for (const database of testDatabases()) {
  describe(`The audit record (${database})`, { timeout: 60_000 }, () => {
    let kit: AccountsKit;
    before(async () => { kit = await accountsKit({ database }); });
    after(() => kit.close());

    const rows = async () => (await kit.run('audit export') as string[]).map((line) => JSON.parse(line));
    const check = () => kit.composition.checks.find(({ plugin, name }) => plugin === 'accounts' && name === 'audit')!.run();
    /** Does something to the rows behind the plugin's back, looks, and puts them back. */
    const tampered = async (table: string, where: object, change: object) => {
      const kept = await kit.db.read(table).where(where).first();
      await kit.db.write((tx) => tx(table).where(where).update(change));
      const result = await check();
      await kit.db.write((tx) => tx(table).where('seq' in change ? change : where).update(kept));
      expect((await check()).status).to.equal('ok');
      return result;
    };

    it('has a row for every security event, numbered without holes, each with the hash of the one before', async () => {
      const { id, key_id } = await kit.person();
      await kit.run('key revoke', {}, [key_id]);
      await kit.run('key revoke', {}, [key_id]);
      await kit.run('account set-plan', { account: id, plan: 'individual' });
      await kit.run('account set-role', { account: id, role: 'reviewer' });
      await kit.run('account sign-in-link', { account: id });
      await kit.run('account disable', { account: id });
      const all = await rows();
      expect(all.map(({ kind }) => kind)).to.equal(['audit_sealed', 'account_made', 'workspace_made', 'link_made', 'account_made', 'workspace_made', 'link_made', 'key_made', 'key_revoked', 'plan_set', 'role_set', 'link_made', 'account_disabled']);
      expect(all.map(({ seq }) => seq)).to.equal(all.map((_, i) => i + 1));
      for (const [i, row] of all.entries()) expect(row.prev_hash).to.equal(i === 0 ? '0'.repeat(64) : all[i - 1].hash);
      expect((await check()).detail).to.include('13 rows').and.include('sealed from row 1 on');
    });

    it('stays dense when many write at once', async () => {
      await Promise.all(Array.from({ length: 20 }, () => kit.person()));
      const all = await rows();
      expect(all.map(({ seq }) => seq)).to.equal(all.map((_, i) => i + 1));
      expect((await check()).status).to.equal('ok');
    });

    it('that was changed is found, with the first broken row', async () => {
      for (const change of [{ detail: '{"role":"admin"}' }, { kind: 'nothing' }, { hash: 'f'.repeat(64) }, { account_id: '01890000-0000-7000-8000-000000000001' }]) {
        const { status, detail } = await tampered('accounts_audit', { seq: 4 }, change);
        expect([status, detail.slice(0, 5)]).to.equal(['failed', 'row 4']);
      }
      expect((await tampered('accounts_audit', { seq: 5 }, { seq: 5000 })).detail).to.equal('row 5 is missing');
    });

    it('whose end was cut off is found', async () => {
      const last = (await rows()).at(-1).seq;
      const kept = await kit.db.read('accounts_audit').where('seq', '>', last - 2);
      await kit.db.write((tx) => tx('accounts_audit').where('seq', '>', last - 2).delete());
      expect((await check()).detail).to.include(`row ${last - 1} is missing`);
      await kit.db.write((tx) => tx('accounts_audit').insert(kept));
      expect((await check()).status).to.equal('ok');
    });

    it('has no row of what was not done', async () => {
      const before = (await rows()).length;
      const free = await kit.run('account create', { name: 'Free', plan: 'free', role: 'user' });
      await expect(kit.run('key create', { account: free.id })).to.reject();
      expect((await rows()).length).to.equal(before + 3);
    });
  });
}
