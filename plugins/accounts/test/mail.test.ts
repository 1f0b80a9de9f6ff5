import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import { slowness, testDatabases } from 'civic/testing';
import type { Mail, MailService } from '../mail.ts';
import { accountsKit, type AccountsKit } from './kit.ts';
import { startMailbox, type Mailbox } from './mailbox.ts';
import { pageReader } from './reader.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const HOME = 'https://civic.example';

describe('Sign-in links by mail', () => {
  let box: Mailbox;
  let mails: string[];
  let kit: AccountsKit;

  before(async () => {
    box = await startMailbox();
    mails = box.mails;
    const mail = { smtp_url: box.url, from: 'civic@civic.example' };
    kit = await accountsKit({ config: { public_url: HOME, jobs: { poll_seconds: 1 }, plugins: { accounts: { mail } } } });
    await kit.run('account create', { name: 'Ada', email: 'ada@example.org' });
  });
  after(async () => {
    await kit.close();
    box.close();
  });

  const ask = (email: string, address = '203.0.113.1', next = '') => kit.request('POST', '/sign-in/email', { payload: `email=${encodeURIComponent(email)}&next=${encodeURIComponent(next)}`, headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html', 'x-forwarded-for': address } });
  async function arrived(count: number): Promise<void> {
    for (const end = performance.now() + 20_000 * slowness; mails.length < count && performance.now() < end;) await new Promise((done) => { setTimeout(done, 20); });
    expect(mails).to.have.length(count);
  }

  it('sign in the owner of the address, and do not reveal whether an account exists', async () => {
    const [known, unknown] = [await ask('ADA@example.org'), await ask('eve@example.org')];
    expect(known.text.replace('ADA@', 'eve@')).to.equal(unknown.text);
    expect([known.status, unknown.status]).to.equal([200, 200]);
    await arrived(1);
    expect(mails[0]).to.contain('To: ada@example.org').and.contain('From: civic@civic.example').and.contain('Sign in to');
    const link = /https:\S+/.exec(mails[0]!)![0];
    const reader = pageReader(kit, '__Host-civic_session');
    expect((await reader.follow(link)).headers.location).to.equal('/account/passkeys');
  });

  it('lead to the page that the user signs in for, in the browser that requested the link only', async () => {
    const { id } = await kit.run('account create', { name: 'Grace' });
    const wanted = async (headers: Record<string, string>) => {
      const token = new URL((await kit.run('account sign-in-link', { account: id })).sign_in_link).searchParams.get('token')!;
      return (await kit.request('POST', '/sign-in/link', { payload: `token=${token}`, headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers } })).headers;
    };
    expect((await kit.request('GET', '/sign-in/email?next=%2Fdevice', { headers: { accept: 'text/html' } })).text).to.contain('name="next" value="/device"');
    const cookie = String((await ask('grace@example.org', '203.0.113.2', '/device?user_code=A')).headers['set-cookie']);
    expect(cookie).to.match(/^__Host-civic_next=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=1800$/);
    const headers = await wanted({ cookie: cookie.split(';')[0]! });
    expect(headers.location).to.equal('/account/passkeys?next=%2Fdevice%3Fuser_code%3DA');
    expect(String(headers['set-cookie'])).to.contain('__Host-civic_next=;');
    expect((await wanted({})).location).to.equal('/account/passkeys');
    expect((await wanted({ cookie: `__Host-civic_next=${encodeURIComponent('//evil.example')}` })).location).to.equal('/account/passkeys');
    expect((await ask('grace@example.org', '203.0.113.2', '//evil.example')).headers['set-cookie']).to.be.undefined();
  });

  it('are few: no more than three a quarter of an hour', async () => {
    for (let i = 0; i < 5; i++) expect((await ask('ada@example.org')).status).to.equal(200);
    await new Promise((done) => { setTimeout(done, 1500); });
    expect(mails.length).to.be.at.most(3);
  });

  it('notify an invited account of the invitation, and send nothing to an address without an account', async () => {
    const seen = mails.length;
    const owner = await kit.person();
    const { body } = await kit.as(owner.key, 'POST', '/api/workspaces', { payload: { name: 'Newsroom' } });
    for (const email of ['eve@example.org', 'ada@example.org']) expect((await kit.as(owner.key, 'POST', `/api/workspaces/${body.id}/members`, { payload: { email } })).status).to.equal(201);
    await arrived(seen + 1);
    expect(mails.at(-1)).to.contain('To: ada@example.org').and.contain('Newsroom').and.contain('/account/workspaces');
  });

  it('are looked after by doctor, which says when they cannot be sent, and no secret', async () => {
    const check = (server: AccountsKit) => server.composition.checks.find(({ plugin, name }) => plugin === 'accounts' && name === 'mail')!.run();
    expect(await check(kit)).to.include({ status: 'ok' });
    const wrong = await accountsKit({ config: { plugins: { accounts: { mail: { smtp_url: 'smtp://civic:canary@127.0.0.1:1' } } } } });
    const { status, detail, fix } = await check(wrong);
    expect([status, fix?.includes('account sign-in-link')]).to.equal(['warning', true]);
    expect(detail).to.contain('127.0.0.1:1').and.not.contain('canary');
    await wrong.close();
    await expect(accountsKit({ config: { plugins: { accounts: { mail: { smtp_url: 'mail.example.org' } } } } })).to.reject(/smtp_url must be an address such as smtp:/);
  });

  it('are asked for with an address, and are off unless SMTP is set', async () => {
    expect((await ask('nobody')).text).to.contain('This is no e-mail address');
    const silent = await accountsKit();
    expect((await silent.request('GET', '/sign-in/email')).status).to.equal(404);
    expect((await silent.request('GET', '/sign-in', { headers: { accept: 'text/html' } })).text).to.not.contain('by e-mail');
    await silent.close();
  });
});

/** Gives a test the mail service. */
const sender = (given: { mail?: MailService }) => definePlugin({ name: 'sender', summary: 'Sends mails for tests', needs: ['accounts'], register(_server, civic) { given.mail = civic.service('accounts').mail; } });

for (const database of testDatabases()) {
  describe(`Mails of other plugins on ${database}`, () => {
    let box: Mailbox;
    let kit: AccountsKit;
    const given: { mail?: MailService } = {};
    const queue = (mail: Mail) => kit.db.write((tx) => given.mail!.queue(tx, mail));

    before(async () => {
      box = await startMailbox();
      kit = await accountsKit({ database, plugins: [sender(given)], config: { public_url: HOME, jobs: { poll_seconds: 1 }, plugins: { accounts: { mail: { smtp_url: box.url } } } } });
    });
    after(async () => {
      await kit.close();
      box.close();
    });

    it('are sent after the commit, with their language and one-click unsubscription', async () => {
      expect(given.mail!.isConfigured).to.be.true();
      await expect(kit.db.write(async (tx) => {
        await given.mail!.queue(tx, { to: 'ada@example.org', subject: 'Rolled back', lines: ['No'] });
        throw new Error('rolled back');
      })).to.reject('rolled back');
      await queue({ to: 'ada@example.org', subject: 'Heron seen', lines: ['A heron.', '', '  At the river.'], language: 'es', unsubscribe_url: `${HOME}/herons/unsubscribe?token=${'a'.repeat(90)}` });
      const mail = await box.mailTo('ada@example.org', 'Heron seen');
      expect(mail).to.contain(['From: noreply@civic.example', 'Content-Language: es', 'Auto-Submitted: auto-generated', 'List-Unsubscribe-Post: List-Unsubscribe=One-Click', 'A heron.\r\n\r\n  At the river.\r\n']);
      expect(mail.replaceAll(/\r\n /g, ' ')).to.contain(`List-Unsubscribe: <${HOME}/herons/unsubscribe?token=${'a'.repeat(90)}>`);
      await queue({ to: 'ada@example.org', subject: 'Last', lines: [''] });
      expect(await box.mailTo('ada@example.org', 'Last')).to.not.contain('List-Unsubscribe').and.not.contain('Content-Language');
      expect(box.mails.join()).to.not.contain('Rolled back');
    });

    it('go to one address, and no text adds a header or a line', async () => {
      await queue({ to: 'eve@example.org', subject: 'Seen\r\nBcc: all@example.org', lines: ['One\r\nTwo\u2028three'] });
      const mail = await box.mailTo('eve@example.org', 'Seen');
      expect(mail).to.contain(['Subject: Seen Bcc: all@example.org', 'One Two three']);
      expect(mail).to.not.match(/^Bcc/m);
    });

    it('are not queued without SMTP', async () => {
      const without: { mail?: MailService } = {};
      const silent = await accountsKit({ database, plugins: [sender(without)] });
      expect(without.mail!.isConfigured).to.be.false();
      await silent.db.write((tx) => without.mail!.queue(tx, { to: 'ada@example.org', subject: 'Never', lines: [] }));
      expect((await silent.composition.jobs.status()).pending).to.equal(0);
      await silent.close();
    });
  });
}
