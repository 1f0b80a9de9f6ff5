import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { Failure, Misuse } from 'civic';
import { stoppedClock, testDatabases } from 'civic/testing';
import { accountsKit, callCommand, type AccountsKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

for (const database of testDatabases()) {
  describe(`Accounts (${database})`, { timeout: 60_000 }, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let kit: AccountsKit;
    before(async () => { kit = await accountsKit({ database, clock }); });
    after(() => kit.close());

    it('created by the operator are on the plan team; the first is administrator, later ones are users', async () => {
      const first = await kit.run('account create', { email: 'Ada@Example.org', name: 'Ada' });
      expect(first).to.include({ name: 'Ada', email: 'Ada@Example.org', role: 'admin', plan: 'team', plan_until: null });
      expect(first.sign_in_link).to.match(/\?token=[0-9A-Za-z]{43}$/);
      expect(first.link_expires_at).to.equal('2026-03-01T12:30:00.000Z');
      expect(await kit.run('account create', { email: 'bob@example.org' })).to.include({ name: 'bob@example.org', role: 'user', plan: 'team' });
      expect((await kit.run('key create', { account: 'bob@example.org' })).key, 'without another command in between').to.match(/^civic_/);
      expect(await kit.run('account create', { name: 'Named', plan: 'free' })).to.include({ plan: 'free' });
    });

    it('are found by e-mail however it is written, and have each address once', async () => {
      await expect(kit.run('account create', { email: 'ADA@example.ORG' })).to.reject(Failure, /has an account already/);
      expect((await kit.run('account sign-in-link', { email: ' ada@EXAMPLE.org' })).sign_in_link).to.match(/token=/);
      await expect(kit.run('account sign-in-link', { email: 'nobody@example.org' })).to.reject(Failure, /There is no account/);
    });

    it('are created with the given values, and invalid values are reported', async () => {
      expect(await kit.run('account create', { name: 'R', plan: 'individual', role: 'reviewer' })).to.include({ role: 'reviewer', plan: 'individual', email: null });
      for (const wrong of [{}, { email: 'x' }, { name: 'x', plan: 'gold' }, { name: 'x', role: 'king' }, { name: 'x'.repeat(201) }]) await expect(kit.run('account create', wrong)).to.reject(Misuse);
      await expect(kit.run('account set-role', { role: 'admin' })).to.reject(Misuse);
    });

    it('with a research pass fall back to the default plan when it ends', async () => {
      const { id } = await kit.run('account create', { name: 'Researcher' });
      const told = async () => (await kit.run('account list')).find((one: { id: string }) => one.id === id);
      expect(await kit.run('account set-plan', { account: id, plan: 'research_pass' })).to.include({ plan: 'research_pass', plan_until: '2026-05-30T12:00:00.000Z' });
      await kit.run('account set-plan', { account: id, plan: 'team', until: '2026-03-02' });
      expect(await told()).to.include({ plan: 'team', plan_until: '2026-03-02T00:00:00.000Z' });
      clock.advance(86_400_000);
      expect(await told()).to.include({ plan: 'free' });
      await expect(kit.run('account set-plan', { account: id, plan: 'team', until: '2026-03-01' })).to.reject(Misuse, /--until must be in the future/);
    });

    it('that are disabled get no sign-in link', async () => {
      const { id } = await kit.run('account create', { name: 'Gone' });
      expect((await kit.run('account disable', { account: id })).disabled_at).to.exist();
      await expect(kit.run('account sign-in-link', { account: id })).to.reject(Failure, /disabled/);
    });
  });

  describe(`The administrator (${database})`, { timeout: 60_000 }, () => {
    let kit: AccountsKit;
    before(async () => { kit = await accountsKit({ database }); });
    after(() => kit.close());
    const finding = () => kit.composition.checks.find(({ name }) => name === 'administrator')!.run();

    it('is the first account, which can have no other role', async () => {
      for (const role of ['user', 'reviewer']) await expect(callCommand(kit, 'account create', { name: 'First', role })).to.reject(Failure, new RegExp(`cannot have the role ${role}\\.\nCreate it without --role`));
      expect(await kit.run('account list')).to.equal([]);
      expect(await finding()).to.include({ status: 'ok' });
      expect(await callCommand(kit, 'account create', { name: 'Ada', role: 'admin', email: 'ada@example.org' })).to.include({ role: 'admin' });
    });

    it('can be neither demoted nor disabled while there is no other', async () => {
      await kit.run('account create', { name: 'Bob', email: 'bob@example.org' });
      const gone = await kit.run('account create', { name: 'Gone', role: 'admin' });
      await kit.run('account disable', { account: gone.id });
      const refusal = /Ada is the only enabled administrator\.\nGive another account the role admin first: bin\/civic account set-role/;
      for (const role of ['user', 'reviewer']) await expect(kit.run('account set-role', { account: 'ada@example.org', role })).to.reject(Failure, refusal);
      await expect(kit.run('account disable', { account: 'ada@example.org' })).to.reject(Failure, refusal);
      expect(await kit.run('account set-role', { account: 'ada@example.org', role: 'admin' })).to.include({ role: 'admin', disabled_at: null });
      await kit.run('account set-role', { account: 'bob@example.org', role: 'admin' });
      expect(await kit.run('account set-role', { account: 'ada@example.org', role: 'user' })).to.include({ role: 'user' });
      expect(await finding()).to.include({ status: 'ok' });
    });

    it('is missed by doctor', async () => {
      await kit.db.write((tx) => tx('accounts_people').update({ disabled_at: '2026-01-01T00:00:00.000Z' }));
      const { status, fix } = await finding();
      expect(status).to.equal('warning');
      expect(fix).to.contain('bin/civic account set-role --account <id or e-mail> --role admin');
    });
  });

  describe(`Plans (${database})`, { timeout: 60_000 }, () => {
    it('are shown to all callers, with what each includes', async () => {
      const kit = await accountsKit({ database });
      const { body } = await kit.request('GET', '/api/plans');
      expect(body.data.map(({ price: _price, ...plan }: any) => plan)).to.equal([
        { name: 'free', keys: 0, probes: 0, days: null, capabilities: [] },
        { name: 'individual', keys: 1, probes: 5, days: null, capabilities: ['api_keys', 'probes'] },
        { name: 'research_pass', keys: 3, probes: 0, days: 90, capabilities: ['api_keys'] },
        { name: 'team', keys: 20, probes: 50, days: null, capabilities: ['api_keys', 'probes'] },
      ]);
      expect(body.data.map(({ price }: any) => price)).to.equal(['0', '5 a month', 'once', 'by seat']);
      expect([body.total, body.next_cursor, body.default_plan]).to.equal([4, null, 'free']);
      await kit.close();
    });

    it('are those of the config file, and a caller without a capability gets the plans that include it', async () => {
      const plans = { open: { keys: 2, requests_per_minute: 10 }, heard: { keys: 5, probes: 1 } };
      const kit = await accountsKit({ database, config: { plugins: { accounts: { plans, default_plan: 'open' } } } });
      const { key } = await kit.person({ plan: 'open' });
      const { status, body } = await kit.as(key, 'GET', '/api/probe/streamed');
      expect([status, body.code, body.plans]).to.equal([403, 'plan_required', ['heard']]);
      expect(body.detail).to.include('heard');
      await kit.close();
    });

    it('without one called team give the operator\'s accounts the default plan', async () => {
      const kit = await accountsKit({ database, config: { plugins: { accounts: { plans: { everyone: { keys: 1 } }, default_plan: 'everyone' } } } });
      for (const name of ['First', 'Second']) expect(await kit.run('account create', { name })).to.include({ plan: 'everyone' });
      await kit.close();
    });

    it('must have the default plan among them', async () => {
      await expect(accountsKit({ database, config: { plugins: { accounts: { default_plan: 'gold' } } } })).to.reject(/default_plan is gold, but the plans are free, individual, research_pass, team/);
    });
  });
}
