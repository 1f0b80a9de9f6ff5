import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { Failure, newId } from 'civic';
import { stoppedClock, testDatabases } from 'civic/testing';
import { authenticator } from './authenticator.ts';
import { accountsKit, type AccountsKit } from './kit.ts';
import { pageReader, type PageReader } from './reader.ts';
import { startMailbox, type Mailbox } from './mailbox.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const HOME = 'http://localhost:8080';
const DAY = 86_400_000;
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';

for (const database of testDatabases()) {
  describe(`Security notices (${database})`, { timeout: 60_000 }, () => {
    let kit: AccountsKit;
    before(async () => { kit = await accountsKit({ database, config: { public_url: HOME } }); });
    after(() => kit.close());

    const noticesIn = (text: string): string[] => [...text.matchAll(/<div class="thing"><p>([^<]+)</g)].map((match) => match[1]!);

    it('report new passkeys, keys, codes and sign-ins to an account, and are dismissed one by one or all', async () => {
      const { id, sign_in_link } = await kit.run('account create', { name: 'Ada', role: 'user' });
      const [reader, passkey] = [pageReader(kit), authenticator(HOME)];
      await reader.follow(sign_in_link);
      await reader.addPasskey(passkey);
      expect(noticesIn((await reader.get('/account')).text), 'not of the first sign-in').to.equal(['The passkey “Laptop” was added.']);
      await kit.run('key create', { account: id, name: 'by the operator' });
      const code = /<li><code>([^<]+)<\/code>/.exec((await reader.post('/account/recovery-codes')).text)![1]!;
      const again = pageReader(kit);
      await again.signIn(passkey);
      expect(noticesIn((await reader.get('/account')).text), 'a known device is no news').to.have.length(3);
      const thief = pageReader(kit);
      await thief.get('/', { 'user-agent': FIREFOX });
      await thief.post('/sign-in/code', { code }, { 'user-agent': FIREFOX });
      const { body } = await again.post('/sign-in/passkey/options');
      await pageReader(kit).post('/sign-in/passkey', { answer: JSON.stringify({ ceremony: body.ceremony, response: passkey.get(body.options) }) }, { 'user-agent': `${FIREFOX} other` });
      const { text } = await reader.get('/account');
      expect(noticesIn(text)).to.equal([
        'New sign-in with Firefox on Linux.', 'New sign-in with Firefox on Linux, by a recovery code, which is used up.', 'New recovery codes were created. The old ones no longer work.',
        'The API key “by the operator” was created.', 'The passkey “Laptop” was added.',
      ]);
      const one = /name="id" value="([0-9a-f-]{36})"/.exec(text)![1]!;
      const { sign_in_link: others } = await kit.run('account create', { name: 'Eve', role: 'user' });
      const eve = pageReader(kit);
      await eve.follow(others);
      await eve.addPasskey(authenticator(HOME));
      await eve.post('/account/notices/dismiss', { id: one });
      expect(noticesIn((await reader.get('/account')).text), 'not by another account').to.have.length(5);
      await reader.post('/account/notices/dismiss', { id: one });
      expect(noticesIn((await reader.get('/account')).text)[0]).to.contain('recovery code');
      await reader.post('/account/notices/dismiss');
      expect(noticesIn((await reader.get('/account')).text)).to.equal([]);
      expect(noticesIn((await eve.get('/account')).text)).to.have.length(1);
    });
  });

  describe(`A new e-mail address (${database})`, { timeout: 60_000 }, () => {
    // At a bare address a link signs in fully.
    const BARE = 'http://192.0.2.7:8080';
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let kit: AccountsKit;
    let mailed: AccountsKit;
    let box: Mailbox;
    before(async () => {
      box = await startMailbox();
      kit = await accountsKit({ database, clock, config: { public_url: BARE } });
      mailed = await accountsKit({ database, config: { public_url: BARE, jobs: { poll_seconds: 1 }, plugins: { accounts: { mail: { smtp_url: box.url } } } } });
    });
    after(async () => {
      await kit.close();
      await mailed.close();
      box.close();
    });

    async function signedIn(on: AccountsKit, options: Record<string, string> = {}): Promise<PageReader & { id: string }> {
      const { id, sign_in_link } = await on.run('account create', { name: 'Ada', role: 'user', ...options });
      const reader = pageReader(on);
      await reader.follow(sign_in_link);
      return Object.assign(reader, { id });
    }
    const emailOf = async (on: AccountsKit, id: string) => (await on.run('account list')).find((one: { id: string }) => one.id === id).email as string | null;
    const address = () => `${newId()}@example.org`;

    it('without SMTP counts once the operator confirms it, by command or in the console', async () => {
      const [first, second] = [address(), address()];
      const ada = await signedIn(kit);
      expect((await ada.post('/account/email', { email: first })).headers.location).to.equal('/account?done=requested');
      expect((await ada.get('/account')).text).to.contain(`<strong>${first}</strong> is not confirmed yet. Ask the operator to confirm it.`);
      expect(await emailOf(kit, ada.id)).to.be.null();
      expect((await kit.run('account confirm-email', { account: ada.id })).email).to.equal(first);
      await expect(kit.run('account confirm-email', { account: ada.id })).to.reject(Failure, /requested no other address/);
      const admin = await signedIn(kit, { role: 'admin' });
      await ada.post('/account/email', { email: second });
      expect(await emailOf(kit, ada.id)).to.equal(first);
      expect((await admin.get(`/console/accounts/${ada.id}`)).text).to.contain(second);
      expect((await admin.post(`/console/accounts/${ada.id}/confirm-email`)).headers.location).to.equal(`/console/accounts/${ada.id}?done=email`);
      expect(await emailOf(kit, ada.id)).to.equal(second);
    });

    it('is cancelled, replaced and expires; an address is removed at once', async () => {
      const ada = await signedIn(kit);
      const [first, second] = [address(), address()];
      await ada.post('/account/email', { email: first });
      await ada.post('/account/email/cancel');
      await expect(kit.run('account confirm-email', { account: ada.id })).to.reject(Failure);
      await ada.post('/account/email', { email: first });
      await ada.post('/account/email', { email: second });
      expect((await kit.run('account confirm-email', { account: ada.id })).email).to.equal(second);
      await ada.post('/account/email', { email: first });
      await ada.post('/account/email', { email: '' });
      expect(await emailOf(kit, ada.id)).to.be.null();
      await expect(kit.run('account confirm-email', { account: ada.id }), 'the pending one, too').to.reject(Failure);
      await ada.post('/account/email', { email: first });
      clock.advance(7 * DAY);
      await expect(kit.run('account confirm-email', { account: ada.id })).to.reject(Failure);
    });

    it('is no longer requested once the account was disabled or signed out everywhere', async () => {
      const ada = await signedIn(kit);
      await ada.post('/account/email', { email: address() });
      await kit.run('account disable', { account: ada.id });
      await kit.run('account disable', { account: ada.id, undo: true });
      await expect(kit.run('account confirm-email', { account: ada.id })).to.reject(Failure, /requested no other address/);
      const bob = await signedIn(kit);
      await bob.post('/account/email', { email: address() });
      await bob.post('/account/sessions/end-all');
      await expect(kit.run('account confirm-email', { account: bob.id })).to.reject(Failure, /requested no other address/);
    });

    it('ends the sign-in links of the account', async () => {
      const ada = await signedIn(kit);
      await ada.post('/account/email', { email: address() });
      const { sign_in_link } = await kit.run('account sign-in-link', { account: ada.id });
      await kit.run('account confirm-email', { account: ada.id });
      const { pathname, search } = new URL(sign_in_link);
      expect((await pageReader(kit).get(pathname + search)).status).to.equal(410);
    });

    it('of another account is not revealed to a user who requests it, and is never assigned to them', async () => {
      const email = address();
      const [owner, eve, fair] = [await signedIn(kit, { email }), await signedIn(kit), await signedIn(kit)];
      const [taken, free] = [await eve.post('/account/email', { email: email.toUpperCase() }), await fair.post('/account/email', { email: address() })];
      expect([taken.status, taken.headers.location]).to.equal([free.status, free.headers.location]);
      await expect(kit.run('account confirm-email', { account: eve.id })).to.reject(Failure, /Another account has/);
      expect(await emailOf(kit, owner.id)).to.equal(email);
    });

    it('claimed by several accounts at the same moment is given to one; the others are 409', async () => {
      const email = address();
      const admin = await signedIn(kit, { role: 'admin' });
      const claimants = await Promise.all(Array.from({ length: 4 }, () => signedIn(kit)));
      for (const one of claimants) await one.post('/account/email', { email });
      const answers = await Promise.all(claimants.map(({ id }) => admin.post(`/console/accounts/${id}/confirm-email`)));
      expect(answers.map(({ status }) => status).sort((a, b) => a - b)).to.equal([303, 409, 409, 409]);
      const other = address();
      const made = await Promise.allSettled(Array.from({ length: 4 }, () => kit.run('account create', { email: other })));
      expect(made.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
      for (const one of made) if (one.status === 'rejected') expect(one.reason).to.be.instanceof(Failure);
      const third = address();
      const pages = await Promise.all(Array.from({ length: 4 }, () => admin.post('/console/accounts', { name: 'Twin', email: third, role: 'user' })));
      expect(pages.map(({ status }) => status).filter((status) => status !== 200 && status !== 400 && status !== 409)).to.equal([]);
      expect(pages.filter(({ status }) => status === 200)).to.have.length(1);
    });

    it('with SMTP is changed once its link is used, and the old address is notified before and after', async () => {
      const [old, fresh] = [address(), address()];
      const ada = await signedIn(mailed, { email: old });
      await ada.post('/account/email', { email: fresh });
      const link = /http:\S+token=\S+/.exec(await box.mailTo(fresh, 'Confirm your e-mail address'))![0];
      expect(await box.mailTo(old, 'was requested')).to.contain(fresh);
      const guest = pageReader(mailed);
      const { pathname, search, searchParams } = new URL(link);
      expect((await guest.get(pathname + search)).text).to.contain(fresh).and.contain('Ada');
      expect(await emailOf(mailed, ada.id), 'looking changes nothing').to.equal(old);
      expect((await guest.post(pathname, { token: searchParams.get('token')! })).text).to.contain('is confirmed');
      expect(await emailOf(mailed, ada.id)).to.equal(fresh);
      expect(await box.mailTo(old, 'was changed to')).to.contain(fresh);
      for (const token of [searchParams.get('token')!, 'x']) {
        expect((await guest.get(`${pathname}?token=${token}`)).status).to.equal(410);
        expect((await guest.post(pathname, { token })).status).to.equal(410);
      }
    });

    it('with SMTP reports a new key by mail', async () => {
      const email = address();
      const { id } = await mailed.run('account create', { name: 'Ada', email });
      await mailed.run('key create', { account: id, name: 'nightly' });
      expect(await box.mailTo(email, 'nightly')).to.contain('Security notice');
    });
  });
}
