import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases, type TestResponse } from 'civic/testing';
import { authenticator, type Authenticator } from './authenticator.ts';
import { accountsKit, type AccountsKit } from './kit.ts';
import { pageReader, type PageReader } from './reader.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const HOME = 'http://localhost:8080';
const BARE = 'http://192.0.2.7:8080';
const MINUTE = 60_000;

interface Settled { id: string; reader: PageReader; passkey: Authenticator }

for (const database of testDatabases()) {
  describe(`Recent authentication (${database})`, { timeout: 60_000 }, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let kit: AccountsKit;
    before(async () => { kit = await accountsKit({ database, clock, config: { public_url: HOME } }); });
    after(() => kit.close());

    async function settled(options: Record<string, string> = {}): Promise<Settled> {
      const { id, sign_in_link } = await kit.run('account create', { name: 'Ada', role: 'user', ...options });
      const [reader, passkey] = [pageReader(kit), authenticator(HOME)];
      await reader.follow(sign_in_link);
      await reader.addPasskey(passkey);
      return { id, reader, passkey };
    }
    const workspaceOf = async (reader: PageReader) => /name="workspace" value="([^"]+)"/.exec((await reader.get('/account/keys')).text)![1]!;
    /** The fields that the page keeps for the form it interrupted. */
    const kept = ({ text }: TestResponse): Record<string, string[]> => {
      const fields: Record<string, string[]> = {};
      for (const [, name, value] of text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)) if (!/^(form_token|next|confirm_answer|workspace_choice)$/.test(name!)) (fields[name!] ??= []).push(value!);
      return fields;
    };
    async function proof(reader: PageReader, passkey: Authenticator): Promise<string> {
      const { body } = await reader.post('/account/confirm/options');
      return JSON.stringify({ ceremony: body.ceremony, response: passkey.get(body.options) });
    }

    it('is asked for ten minutes after the last, for every change of credentials, and nothing is changed before', async () => {
      const { id, reader, passkey } = await settled({ role: 'admin' });
      const other = await settled();
      const workspace = await workspaceOf(reader);
      clock.advance(10 * MINUTE);
      const changes: [string, Record<string, string>][] = [
        ['/account/keys', { name: 'Key', scopes: 'probe:read', workspace }], ['/account/recovery-codes', {}], ['/account/email', { email: 'new@example.org' }],
        ['/account/passkeys', { name: 'Phone', answer: '{}' }], [`/account/passkeys/${passkey.id}/rename`, { name: 'Mine' }], [`/account/passkeys/${passkey.id}/remove`, {}],
        ['/console/accounts', { name: 'New', role: 'admin' }], [`/console/accounts/${other.id}/role`, { role: 'admin' }], [`/console/accounts/${id}/sign-in-link`, {}], [`/console/accounts/${other.id}/plan`, { plan: 'free' }],
        [`/console/accounts/${other.id}/disable`, {}], [`/console/accounts/${other.id}/confirm-email`, {}],
      ];
      const audit = async () => (await kit.run('audit export') as string[]).length;
      const before = await audit();
      for (const [path, fields] of changes) {
        const answer = await reader.post(path, fields);
        expect([answer.status, answer.text.includes('Confirm it’s you')], path).to.equal([403, true]);
      }
      expect((await reader.post('/account/passkeys/options', {}, { accept: 'application/json' })).body.code).to.equal('confirmation_required');
      expect(await audit()).to.equal(before);
    });

    it('continues with the form that was interrupted, and lasts for the next ones', async () => {
      const { id, reader, passkey } = await settled();
      const workspace = await workspaceOf(reader);
      clock.advance(10 * MINUTE);
      const asked = await reader.post('/account/keys', { name: 'Night & <day>', scopes: ['probe:read', 'probe:write'], lives: '30', workspace });
      expect(kept(asked)).to.equal({ name: ['Night &amp; &lt;day&gt;'], scopes: ['probe:read', 'probe:write'], lives: ['30'], workspace: [workspace] });
      const made = await reader.post('/account/keys', { name: 'Night & <day>', scopes: ['probe:read', 'probe:write'], lives: '30', workspace, confirm_answer: await proof(reader, passkey) });
      expect(made.text).to.match(/id="key">civic_/);
      expect((await kit.run('key list', { account: id }))[0]).to.include({ name: 'Night & <day>', scopes: ['probe:read', 'probe:write'] });
      clock.advance(9 * MINUTE);
      expect((await reader.post('/account/recovery-codes')).text).to.contain('These ten codes');
      clock.advance(2 * MINUTE);
      expect((await reader.post('/account/recovery-codes')).status).to.equal(403);
    });

    it('leads from an expired page to a new passkey', async () => {
      const { reader, passkey } = await settled();
      clock.advance(10 * MINUTE);
      expect((await reader.get('/account/passkeys')).text).to.not.contain('data-ceremony="create"');
      const back = await reader.post('/account/passkeys', { name: 'Phone', answer: '', confirm_answer: await proof(reader, passkey) });
      expect(back.text).to.contain('value="Phone"').and.contain('data-ceremony="create"');
      expect((await reader.addPasskey(authenticator(HOME), 'Phone')).status).to.equal(303);
    });

    it('takes only a passkey of this account, a challenge made for this, once', async () => {
      const [ada, eve] = [await settled(), await settled()];
      clock.advance(10 * MINUTE);
      const attempt = async (confirm_answer: string) => (await ada.reader.post('/account/recovery-codes', { confirm_answer })).status;
      const forEve = await eve.reader.post('/account/confirm/options');
      const stolen = JSON.stringify({ ceremony: forEve.body.ceremony, response: eve.passkey.get(forEve.body.options) });
      expect(await attempt(stolen), 'another account’s challenge').to.equal(400);
      const { body } = await ada.reader.post('/account/confirm/options');
      expect(await attempt(JSON.stringify({ ceremony: body.ceremony, response: eve.passkey.get(body.options) })), 'another account’s passkey').to.equal(400);
      const signIn = (await ada.reader.post('/sign-in/passkey/options')).body;
      expect(await attempt(JSON.stringify({ ceremony: signIn.ceremony, response: ada.passkey.get(signIn.options) })), 'a challenge for signing in').to.equal(400);
      for (const wrong of ['x', '{}', 'null']) expect(await attempt(wrong), wrong).to.equal(400);
      const late = await ada.reader.post('/account/confirm/options');
      clock.advance(5 * MINUTE + 1);
      expect(await attempt(JSON.stringify({ ceremony: late.body.ceremony, response: ada.passkey.get(late.body.options) })), 'late').to.equal(400);
      const good = await proof(ada.reader, ada.passkey);
      expect(await attempt(good)).to.equal(200);
      clock.advance(10 * MINUTE);
      expect(await attempt(good), 'again').to.equal(400);
    });

    it('is not needed for revoking a key, ending a session or leaving', async () => {
      const { id, reader } = await settled();
      const { id: key } = await kit.run('key create', { account: id });
      clock.advance(60 * MINUTE);
      expect((await reader.post(`/account/keys/${key}/revoke`)).headers.location).to.equal('/account/keys?done=revoked');
      expect((await reader.post('/account/sessions/end-all')).headers.location).to.equal('/sign-in');
    });

    it('is not proven by a clock that was set back', async () => {
      clock.advance(1440 * MINUTE);
      const { reader } = await settled();
      clock.advance(-1440 * MINUTE);
      expect((await reader.post('/account/recovery-codes')).status).to.equal(403);
    });

    it('ends a session of a link after ten minutes, which could only add a passkey', async () => {
      const { sign_in_link } = await kit.run('account create', { name: 'Slow' });
      const reader = pageReader(kit);
      await reader.follow(sign_in_link);
      clock.advance(10 * MINUTE);
      expect((await reader.get('/account/passkeys')).headers.location).to.match(/^\/sign-in/);
    });

    it('by code or link is for accounts without a passkey alone', async () => {
      const { id, reader, passkey } = await settled();
      const code = /<li><code>([^<]+)<\/code>/.exec((await reader.post('/account/recovery-codes')).text)![1]!;
      clock.advance(10 * MINUTE);
      const confirm_secret = (await kit.run('account sign-in-link', { account: id })).sign_in_link;
      for (const secret of [code, confirm_secret]) expect((await reader.post('/account/recovery-codes', { confirm_secret: secret })).status).to.equal(403);
      await reader.post(`/account/passkeys/${passkey.id}/remove`, { confirm_answer: await proof(reader, passkey) });
      clock.advance(10 * MINUTE);
      expect((await reader.post('/account/recovery-codes', { confirm_secret: code })).status).to.equal(200);
    });
  });

  describe(`Recent authentication where passkeys cannot work (${database})`, { timeout: 60_000 }, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let kit: AccountsKit;
    before(async () => { kit = await accountsKit({ database, clock, config: { public_url: BARE } }); });
    after(() => kit.close());

    it('is a fresh link or an unused code of the account, each once', async () => {
      const people = [];
      for (const name of ['Ada', 'Eve']) {
        const { id, sign_in_link } = await kit.run('account create', { name, role: 'user' });
        const reader = pageReader(kit);
        await reader.follow(sign_in_link);
        people.push({ id, reader });
      }
      const [ada, eve] = people as [{ id: string; reader: PageReader }, { id: string; reader: PageReader }];
      const code = /<li><code>([^<]+)<\/code>/.exec((await ada.reader.post('/account/recovery-codes')).text)![1]!;
      const link = async (account: string) => (await kit.run('account sign-in-link', { account })).sign_in_link as string;
      clock.advance(10 * MINUTE);
      const attempt = async (reader: PageReader, confirm_secret: string) => (await reader.post('/account/email', { email: 'x@example.org', confirm_secret })).status;
      expect((await ada.reader.post('/account/email', { email: 'x@example.org' })).text).to.contain('Recovery code or sign-in link').and.contain('value="x@example.org"');
      const fresh = await link(ada.id);
      expect(await attempt(eve.reader, fresh), 'the link of another account').to.equal(400);
      expect(await attempt(eve.reader, code), 'the code of another account').to.equal(400);
      expect(await attempt(ada.reader, 'nonsense')).to.equal(400);
      expect(await attempt(ada.reader, ` ${fresh} `)).to.equal(303);
      clock.advance(10 * MINUTE);
      expect(await attempt(ada.reader, fresh), 'again').to.equal(400);
      expect(await attempt(ada.reader, code)).to.equal(303);
      clock.advance(10 * MINUTE);
      expect(await attempt(ada.reader, code), 'again').to.equal(400);
      const old = await link(ada.id);
      clock.advance(31 * MINUTE);
      expect(await attempt(ada.reader, old), 'expired').to.equal(400);
    });

    it('tries of codes are few', async () => {
      const { sign_in_link } = await kit.run('account create', { name: 'Guess', role: 'user' });
      const reader = pageReader(kit);
      await reader.follow(sign_in_link);
      clock.advance(16 * MINUTE);
      const statuses = [];
      for (let i = 0; i < 11; i++) statuses.push((await reader.post('/account/recovery-codes', { confirm_secret: 'AAAAA-AAAAA-AAAAA-AAAAA' })).status);
      expect([statuses.slice(0, 10).every((status) => status === 400), statuses[10]]).to.equal([true, 429]);
    });
  });
}
