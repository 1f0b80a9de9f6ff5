import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { CheckResult } from 'civic';
import { testDatabases } from 'civic/testing';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chained, START, type AuditRow } from '../audit/chain.ts';
import { createWitness } from '../audit/witness.ts';
import { accountsKit, type AccountsKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const KEY = 'a key of the operator with more than 32 characters';
const OTHER = 'another key of the operator, also long enough';

const check = (kit: AccountsKit): Promise<CheckResult> => kit.composition.checks.find(({ plugin, name }) => plugin === 'accounts' && name === 'audit')!.run();

/** Compares the record with the data folder now; a server does it every two seconds. */
const witness = (kit: AccountsKit): Promise<void> => {
  const { follow, saw } = createWitness(kit.composition.config.data_dir);
  saw();
  return follow(kit.db.read, new Date().toISOString());
};

/** Rewrites the record as somebody could who has the database and not the key: every hash fits. */
async function forge(kit: AccountsKit, change: (row: AuditRow) => Partial<AuditRow>): Promise<() => Promise<void>> {
  const kept = await kit.db.read('accounts_audit').orderBy('seq');
  const head = await kit.db.read('accounts_audit_head').first();
  await kit.db.write(async (tx) => {
    let hash = START;
    for (const row of kept) {
      const fact: AuditRow = { ...row, seq: Number(row.seq), detail: JSON.parse(row.detail), ...change({ ...row, seq: Number(row.seq) }) };
      const prev_hash = hash;
      hash = chained(prev_hash, fact);
      await tx('accounts_audit').where({ seq: row.seq }).update({ ...fact, detail: JSON.stringify(fact.detail), prev_hash, hash });
    }
    await tx('accounts_audit_head').update({ hash });
  });
  return () => kit.db.write(async (tx) => {
    await tx('accounts_audit').delete();
    await tx('accounts_audit').insert(kept);
    await tx('accounts_audit_head').update(head);
  });
}

for (const database of testDatabases()) {
  describe(`The seal of the audit record (${database})`, { timeout: 60_000 }, () => {
    let kit: AccountsKit;
    const folder = () => kit.composition.config.data_dir;
    before(async () => {
      kit = await accountsKit({ database });
      for (let i = 0; i < 3; i++) await kit.person();
    });
    after(() => kit.close());

    it('is made with a key in the data folder that only its owner reads, and that is in no table', async () => {
      const file = join(folder(), 'audit.key');
      expect(statSync(file).mode & 0o777).to.equal(0o600);
      const key = readFileSync(file, 'utf8').trim();
      expect(key).to.match(/^[0-9a-f]{64}$/);
      expect(await check(kit)).to.include({ status: 'ok' });
      for (const table of ['accounts_audit', 'accounts_audit_head']) expect(JSON.stringify(await kit.db.read(table))).to.not.contain(key);
    });

    it('shows a record that was rewritten whole, with every hash right', async () => {
      const undo = await forge(kit, ({ seq }) => (seq === 3 ? { kind: 'nothing' } : {}));
      const found = await check(kit);
      expect(found.status).to.equal('failed');
      expect(found.detail).to.match(/^row 3 .* has a wrong seal/);
      await undo();
      expect((await check(kit)).status).to.equal('ok');
    });

    it('shows removed seals and seals of another key', async () => {
      const remove = await forge(kit, ({ seq }) => (seq > 4 ? { seal: null } : {}));
      expect((await check(kit)).detail).to.match(/^row 5 .* has no seal/);
      await remove();
      const all = await forge(kit, () => ({ seal: null }));
      expect((await check(kit)).detail).to.match(/^row 1 .* has no seal, although earlier rows were sealed/);
      await all();
      const foreign = await forge(kit, ({ seq, seal }) => (seq > 4 ? { seal: `ffffffffffff.${seal!.split('.')[1]}` } : {}));
      expect(await check(kit)).to.include({ status: 'failed' });
      await foreign();
    });

    it('shows a record that was rewritten whole without seals, also after further events and a restart', async () => {
      const remembered = readFileSync(join(folder(), 'audit.head'), 'utf8');
      await witness(kit);
      const undo = await forge(kit, ({ seq }) => ({ seal: null, ...(seq === 3 && { kind: 'nothing' }) }));
      await kit.person();
      await witness(kit);
      expect((await check(kit)).status).to.equal('failed');
      // As if the first sealed row were not remembered.
      writeFileSync(join(folder(), 'audit.head'), JSON.stringify({ ...JSON.parse(readFileSync(join(folder(), 'audit.head'), 'utf8')), sealed_from: null }));
      expect((await check(kit)).detail).to.match(/^row \d+ .*audit\.head remembers/);
      await undo();
      writeFileSync(join(folder(), 'audit.head'), remembered);
      expect((await check(kit)).status).to.equal('ok');
    });

    it('shows rows that were cut off its end, also when later rows have taken their numbers', async () => {
      await kit.person();
      await witness(kit);
      const head = await kit.db.read('accounts_audit_head').first();
      const kept = await kit.db.read('accounts_audit').where('seq', '<', head.seq).orderBy('seq', 'desc').first();
      await kit.db.write(async (tx) => {
        await tx('accounts_audit').where({ seq: head.seq }).delete();
        await tx('accounts_audit_head').update({ seq: kept.seq, hash: kept.hash });
      });
      expect((await check(kit)).detail).to.contain(`row ${head.seq} is missing`);
      for (let i = 0; i < 2; i++) {
        await kit.person();
        await witness(kit);
        expect((await check(kit)).detail).to.match(new RegExp(`^row ${head.seq} .*audit\\.head remembers`));
      }
    });
  });

  describe(`The key of the audit record (${database})`, { timeout: 60_000 }, () => {
    const withKey = (key: string | null, url?: string | null) => accountsKit(url ? { config: { database: { url }, plugins: { accounts: { audit: { key } } } } } : { database, config: { plugins: { accounts: { audit: { key } } } } });

    it('is taken from the config, and no file is made', async () => {
      const kit = await withKey(KEY);
      await kit.person();
      expect((await check(kit)).detail).to.contain('sealed from row 1 on');
      expect(() => statSync(join(kit.composition.config.data_dir, 'audit.key'))).to.throw(/ENOENT/);
      expect(JSON.stringify(await kit.db.read('accounts_audit'))).to.not.contain(KEY);
      await kit.close();
    });

    it('seals rows of before from the next start on', async () => {
      const kit = await accountsKit({ database });
      await kit.person();
      await kit.db.write((tx) => tx('accounts_audit').update({ seal: null }));
      for (const file of ['audit.key', 'audit.head']) rmSync(join(kit.composition.config.data_dir, file));
      await kit.person();
      const { status, detail } = await check(kit);
      expect([status, /sealed from row (\d+) on/.exec(detail) !== null]).to.equal(['ok', true]);
      const undo = await forge(kit, ({ seq }) => (seq === 2 ? { kind: 'nothing' } : {}));
      expect((await check(kit)).status, 'a sealed row covers those before it').to.equal('failed');
      await undo();
      await kit.close();
    });

    if (database === 'postgres') {
      it('that differs between nodes is reported at start and by doctor, and keeps no node from starting', async () => {
        const here = await withKey(KEY);
        await here.person();
        const there = await withKey(OTHER, here.composition.config.database.url);
        expect(await check(there)).to.include({ status: 'warning' });
        expect((await check(there)).detail).to.contain('were sealed with the key');
        expect((await check(here)).detail, 'the other node wrote a row').to.contain('several nodes must share one key');
        const both = await withKey(`${OTHER}\n${KEY}`, here.composition.config.database.url);
        expect((await check(both)).status, 'with the old key beside the new one').to.equal('ok');
        await both.close();
        await there.close();
        await here.close();
      });
    }

    it('that is too short is refused', async () => {
      await expect(withKey('short')).to.reject(/audit.key/);
    });
  });
}
