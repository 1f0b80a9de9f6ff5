import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Caller } from 'civic';
import { stoppedClock, testDatabases } from 'civic/testing';
import { newKey } from '../keys/key.ts';
import { accountsKit, callerIn, type AccountsKit, type Person } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PRIVATE = '/api/probe/private';

for (const database of testDatabases()) {
  describe(`API keys (${database})`, { timeout: 60_000 }, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let kit: AccountsKit;
    before(async () => { kit = await accountsKit({ database, clock }); });
    after(() => kit.close());

    const answer = async (key: string, path = PRIVATE, headers = {}) => {
      const { status, body } = await kit.as(key, 'GET', path, { headers });
      return [status, body.code as string | undefined, body.detail as string | undefined] as const;
    };

    const again = async ({ id, key_id, workspace_id }: Partial<Person>) => callerIn(await kit.request('GET', `/api/probe/again?account_id=${id}&credential_id=${key_id}&workspace_id=${workspace_id}`)) as Caller | null;

    it('authenticate an account with its plan, role and workspace', async () => {
      const { id, key, key_id, workspace_id } = await kit.person();
      expect(key).to.match(/^civic_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/);
      const caller = callerIn(await kit.as(key, 'GET', PRIVATE));
      expect(caller).to.equal({
        account_id: id, via: 'key', role: 'user', plan: 'team', capabilities: ['api_keys', 'probes'], workspace_id, workspace_role: 'owner', credential_id: key_id,
        scope: ['workspace:read', 'workspace:write', 'probe:read', 'probe:write', 'probe:follow'],
      });
    });

    it('have the scopes that were asked for and no others', async () => {
      const { key } = await kit.person({}, { scopes: ['probe:read'] });
      expect((await answer(key)).slice(0, 1)).to.equal([200]);
      expect((await answer(key, '/api/probe/written')).slice(0, 2)).to.equal([403, 'insufficient_scope']);
    });

    it('cannot have an unknown scope, and the nearest one is named', async () => {
      const { id } = await kit.person();
      const known = 'workspace:read, workspace:write, probe:read, probe:write, probe:review, probe:follow';
      await expect(kit.run('key create', { account: id, scopes: ['probe:read,prob:wirte'] })).to.reject(`--scopes takes ${known}, not prob:wirte; did you mean probe:write?`);
      await expect(kit.run('key create', { account: id, scopes: ['zebra'] })).to.reject(`--scopes takes ${known}, not zebra`);
    });

    it('cannot have scopes that the plan or the role does not allow', async () => {
      const user = await kit.run('account create', { name: 'No reviewer', plan: 'team', role: 'user' });
      await expect(kit.run('key create', { account: user.id, scopes: ['probe:review'] })).to.reject(/cannot have probe:review/);
      const small = await kit.run('account create', { name: 'On a plan without probes', plan: 'research_pass', role: 'user' });
      await expect(kit.run('key create', { account: small.id, scopes: ['probe:follow'] })).to.reject(/cannot have probe:follow; it can have workspace:read, workspace:write, probe:read, probe:write/);
      expect((await kit.run('key create', { account: small.id })).scopes).to.not.include('probe:follow');
      const reviewer = await kit.run('account create', { name: 'A reviewer', plan: 'team', role: 'reviewer' });
      expect((await kit.run('key create', { account: reviewer.id, scopes: ['probe:review'] })).scopes).to.equal(['probe:review']);
      expect((await kit.run('key create', { account: reviewer.id })).scopes).to.not.include('probe:review');
    });

    it('are refused once revoked, at once, also when they were used a moment before', async () => {
      const { key, key_id } = await kit.person();
      const other = await kit.person();
      expect((await answer(key))[0]).to.equal(200);
      await kit.run('key revoke', {}, [key_id]);
      expect((await answer(key)).slice(0, 2)).to.equal([401, 'invalid_credentials']);
      expect((await answer(key, '/api/probe/public'))[0]).to.equal(401);
      expect((await answer(other.key))[0]).to.equal(200);
    });

    it('are refused once expired, also when they were used a moment before', async () => {
      const { key } = await kit.person({}, { expires: '2026-03-01T13:00:00Z' });
      expect((await answer(key))[0]).to.equal(200);
      clock.advance(3_600_000);
      const [status, code, detail] = await answer(key);
      expect([status, code]).to.equal([401, 'invalid_credentials']);
      expect(detail).to.include('expired');
    });

    it('are refused by form alone, by their checksum, when unknown and when the secret is another one', async () => {
      const { key } = await kit.person();
      const [right] = [key.slice(-10, -9)];
      const mistyped = `${key.slice(0, -10)}${right === 'a' ? 'b' : 'a'}${key.slice(-9)}`;
      const stranger = newKey().key;
      const forged = newKey().key.replace(/^civic_\w{8}/, key.slice(0, 14));
      for (const wrong of ['x', key.slice(1), `${key}x`, mistyped, stranger, forged]) {
        const { status, headers, body } = await kit.as(wrong, 'GET', '/api/probe/public');
        expect([status, body.code], wrong).to.equal([401, 'invalid_credentials']);
        expect(headers['www-authenticate']).to.exist();
      }
      expect((await answer(key))[0]).to.equal(200);
    });

    it('in Authorization or in an address are refused with a hint', async () => {
      const { key } = await kit.person();
      for (const [path, headers] of [[PRIVATE, { authorization: `Bearer ${key}` }], [PRIVATE, { authorization: key }], [`${PRIVATE}?api_key=${key}`, {}], [`${PRIVATE}?key=${key}`, {}],
        [`${PRIVATE}?auth=${key}`, {}], [`${PRIVATE}?query=${key}`, {}], [`${PRIVATE}?key=x&key=${key}`, {}], [`${PRIVATE}?x-api-key=${key}`, {}], [`/?next=%2Fapi%3Ftoken%3D${key}`, {}]] as const) {
        const { status, body } = await kit.request('GET', path, { headers });
        expect([status, body.code], path).to.equal([401, 'misplaced_key']);
        expect(body.detail).to.include('X-API-Key');
        expect(JSON.stringify(body)).to.not.include(key);
      }
      expect((await kit.request('GET', '/api/probe/public?query=civic_engagement')).status, 'a word like the beginning of a key').to.equal(400);
    });

    it('of a plan that has lapsed or has no keys answer 403 and name the plans that would do', async () => {
      const { id, key } = await kit.person({ plan: 'research_pass' });
      expect((await answer(key))[0]).to.equal(200);
      clock.advance(91 * 86_400_000);
      const { status, body } = await kit.as(key, 'GET', '/api/probe/public');
      expect([status, body.code, body.plans]).to.equal([403, 'plan_required', ['individual', 'research_pass', 'team']]);
      expect(body.detail).to.include('The plan research_pass ended at').and.to.include('individual, research_pass, team');
      await kit.run('account set-plan', { account: id, plan: 'individual' });
      expect((await answer(key))[0]).to.equal(200);
      await kit.run('account set-plan', { account: id, plan: 'free' });
      expect((await answer(key)).slice(0, 2)).to.equal([403, 'plan_required']);
    });

    it('of a disabled account are rejected, and work again when it is enabled', async () => {
      const { id, key } = await kit.person();
      await kit.run('account disable', { account: id });
      expect((await answer(key)).slice(0, 2)).to.equal([401, 'invalid_credentials']);
      await kit.run('account disable', { account: id, undo: true });
      expect((await answer(key))[0]).to.equal(200);
    });

    it('follow a change of role at once', async () => {
      const { id, key } = await kit.person();
      expect((await answer(key, '/api/probe/reviewed')).slice(0, 2)).to.equal([403, 'permission_required']);
      await kit.run('account set-role', { account: id, role: 'reviewer' });
      expect((await answer(key, '/api/probe/reviewed'))[0]).to.equal(200);
    });

    it('speak for the workspace they were made in, and for no foreign one', async () => {
      const { key, workspace_id } = await kit.person();
      const other = await kit.person();
      expect(callerIn(await kit.as(key, 'GET', PRIVATE, { headers: { 'x-workspace-id': workspace_id.toUpperCase() } })).workspace_id).to.equal(workspace_id);
      for (const wrong of [other.workspace_id, 'nonsense']) expect((await answer(key, PRIVATE, { 'x-workspace-id': wrong })).slice(0, 2)).to.equal([403, 'workspace_forbidden']);
    });

    it('show when they were used last, to the minute', async () => {
      const { id, key } = await kit.person();
      const used = async () => (await kit.run('key list', { account: id }))[0].last_used_at as string | null;
      expect(await used()).to.be.null();
      await answer(key);
      for (let i = 0; i < 100 && await used() === null; i++) await new Promise((done) => { setTimeout(done, 100); });
      expect(await used()).to.equal(clock.iso());
    });

    it('are as many as the plan has room for, and none on a free plan', async () => {
      const { id, key_id } = await kit.person({ plan: 'individual' });
      await expect(kit.run('key create', { account: id })).to.reject(/The plan individual has one key, and it is in use\. Revoke a key that is no longer used with bin\/civic key revoke/);
      await kit.run('key revoke', {}, [key_id]);
      await kit.run('key create', { account: id });
      const team = await kit.person({ plan: 'team' });
      const fillPlan = async () => { for (;;) await kit.run('key create', { account: team.id }); };
      await expect(fillPlan()).to.reject(/^The plan team has \d+ keys, and all are in use\./);
      const free = await kit.run('account create', { name: 'Nobody paid', plan: 'free' });
      await expect(kit.run('key create', { account: free.id })).to.reject(/individual, research_pass, team/);
    });

    it('say when they end by themselves: with their own day or with that of the plan, whichever comes first', async () => {
      const until = async (...given: Parameters<AccountsKit['person']>) => callerIn(await kit.as((await kit.person(...given)).key, 'GET', PRIVATE)).valid_until;
      const [soon, late] = [30, 300].map((days) => clock.now() + days * 86_400_000) as [number, number];
      const expires = (time: number) => ({ expires: new Date(time).toISOString() });
      expect(await until()).to.be.undefined();
      expect(await until({}, expires(soon))).to.equal(soon);
      expect(await until({ plan: 'research_pass' })).to.equal(clock.now() + 90 * 86_400_000);
      expect(await until({ plan: 'research_pass' }, expires(soon))).to.equal(soon);
      expect(await until({ plan: 'research_pass' }, expires(late))).to.equal(clock.now() + 90 * 86_400_000);
    });

    it('are known again without being shown, by who asks for their owner later', async () => {
      const { id, key, key_id, workspace_id } = await kit.person();
      const caller = callerIn(await kit.as(key, 'GET', PRIVATE));
      expect(await again({ id, key_id, workspace_id })).to.equal(caller);
    });

    it('are not known again once revoked, expired or lapsed, disabled, for another account or outside its workspaces', async () => {
      const nobody = async (person: Partial<Person>) => { expect(await again(person)).to.be.null(); };
      const stranger = await kit.person();
      await nobody({ ...stranger, key_id: 'nonsense' });
      await nobody({ ...stranger, id: (await kit.person()).id });
      await nobody({ ...stranger, workspace_id: (await kit.person()).workspace_id });
      const revoked = await kit.person();
      await kit.run('key revoke', {}, [revoked.key_id]);
      await nobody(revoked);
      const disabled = await kit.person();
      await kit.run('account disable', { account: disabled.id });
      await nobody(disabled);
      const expired = await kit.person({}, { expires: new Date(clock.now() + 3_600_000).toISOString() });
      const lapsed = await kit.person({ plan: 'research_pass' });
      expect((await again(expired))?.account_id).to.equal(expired.id);
      expect((await again(lapsed))?.account_id).to.equal(lapsed.id);
      clock.advance(91 * 86_400_000);
      await nobody(expired);
      await nobody(lapsed);
    });

    it('are never listed with their secret', async () => {
      const { id, key } = await kit.person();
      const listed = JSON.stringify(await kit.run('key list', { account: id }));
      expect(listed).to.not.include(key.slice(-49));
      expect(listed).to.not.include('secret_hash');
    });
  });
}

describe('Many wrong keys', { timeout: 120_000 }, () => {
  it('ask the database nothing when malformed, are kept nowhere, and leave others alone', async () => {
    const kit = await accountsKit();
    const { key } = await kit.person();
    expect((await kit.as(key, 'GET', PRIVATE)).status).to.equal(200);
    let queries = 0;
    kit.db.read.on('query', () => { queries++; });
    const made = newKey().key;
    const wrong = made.slice(0, -1) + (made.endsWith('a') ? 'b' : 'a');
    for (let i = 0; i < 100; i++) {
      const { statusCode } = await kit.server.inject({ url: '/api/probe/public', headers: { 'x-api-key': wrong } });
      if (statusCode !== 401) expect(statusCode).to.equal(401);
    }
    expect(queries).to.be.below(5);
    for (let i = 0; i < 10; i++) expect((await kit.as(newKey().key, 'GET', PRIVATE)).status).to.equal(401);
    expect((await kit.as(key, 'GET', PRIVATE)).status).to.equal(200);
    await kit.close();
  });
});
