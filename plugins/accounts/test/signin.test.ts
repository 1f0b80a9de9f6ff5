import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from 'civic/testing';
import { authenticator } from './authenticator.ts';
import { accountsKit, type AccountsKit } from './kit.ts';
import { pageReader, type PageReader } from './reader.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const HOME = 'http://localhost:8080';
const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

for (const database of testDatabases()) {
  describe(`Signing in on ${database}`, () => {
    let kit: AccountsKit;
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    before(async () => { kit = await accountsKit({ database, clock, config: { public_url: HOME } }); });
    after(() => kit.close());

    const linkFor = async (account: string): Promise<string> => (await kit.run('account sign-in-link', { account })).sign_in_link;

    /** Somebody with an account and a passkey, signed in with it. */
    async function settled(): Promise<{ id: string; reader: PageReader; passkey: ReturnType<typeof authenticator> }> {
      const { id, sign_in_link } = await kit.run('account create', { name: 'Ada' });
      const [reader, passkey] = [pageReader(kit), authenticator(HOME)];
      await reader.follow(sign_in_link);
      await reader.addPasskey(passkey);
      return { id, reader, passkey };
    }

    it('by link needs a button on a page, so that opening the link does not use it', async () => {
      const { sign_in_link } = await kit.run('account create', { name: 'Grace <Hopper>' });
      const path = sign_in_link.slice(HOME.length);
      for (let i = 0; i < 3; i++) expect((await kit.request('GET', path, { headers: { accept: 'text/html' } })).text).to.contain('Grace &lt;Hopper&gt;');
      const reader = pageReader(kit);
      const used = await reader.follow(sign_in_link);
      expect([used.status, used.headers.location]).to.equal([303, '/account/passkeys']);
      expect(reader.cookie).to.match(/^[0-9A-Za-z]{43}$/);
      expect((await pageReader(kit).follow(sign_in_link)).status).to.equal(410);
    });

    it('by link works for 30 minutes, with the complete link and for enabled accounts', async () => {
      const { id, sign_in_link } = await kit.run('account create', { name: 'Late' });
      expect((await kit.request('GET', sign_in_link.slice(HOME.length, -1))).status).to.equal(410);
      clock.advance(30 * MINUTE + 1);
      expect((await pageReader(kit).follow(sign_in_link)).status).to.equal(410);
      const fresh = await linkFor(id);
      await kit.run('account disable', { account: id });
      const shutOut = pageReader(kit);
      expect((await shutOut.follow(fresh)).status).to.equal(410);
      expect(shutOut.cookie).to.be.null();
    });

    it('keeps the language of the address, from the first page to the account', async () => {
      const { reader, passkey } = await settled();
      await reader.post('/es/sign-out');
      const refused = await reader.get('/es/account/keys?a=1');
      expect(refused.headers.location).to.equal(`/es/sign-in?next=${encodeURIComponent('/account/keys?a=1')}`);
      expect((await reader.get(String(refused.headers.location))).text).to.contain('action="/es/sign-in/passkey"');
      const { body } = await reader.post('/es/sign-in/passkey/options');
      const signedIn = await reader.post('/es/sign-in/passkey', { next: '/account/keys?a=1', answer: JSON.stringify({ ceremony: body.ceremony, response: passkey.get(body.options) }) });
      expect(signedIn.headers.location).to.equal('/es/account/keys?a=1');
      expect((await reader.get('/es/account')).text).to.contain('action="/es/sign-out"');
      expect((await reader.post('/es/account', { name: 'Ada L.' })).headers.location).to.equal('/es/account?done=saved');
      expect((await reader.post('/es/account', { name: 'Ada L.', form_token: 'wrong' })).status).to.equal(403);
    });

    it('by link only allows adding a passkey', async () => {
      const { sign_in_link } = await kit.run('account create', { name: 'Passing' });
      const reader = pageReader(kit);
      await reader.follow(sign_in_link);
      expect((await reader.get('/account')).headers.location).to.equal('/account/passkeys');
      for (const path of ['/account/keys', '/account/sessions', '/account/workspaces', '/account/plan', '/account/recovery-codes']) {
        expect((await reader.get(path)).headers.location, path).to.equal(`/account/passkeys?next=${encodeURIComponent(path)}`);
      }
      expect((await reader.post('/account', { name: 'Changed' })).headers.location).to.equal('/account/passkeys');
      expect((await reader.get('/account/passkeys')).text).to.contain('Add your first passkey');
      expect((await reader.get('/docs')).headers['cache-control'], 'a page with their name and token').to.equal('private, no-store');
      const before = reader.cookie;
      expect((await reader.addPasskey(authenticator(HOME))).headers.location).to.equal('/account/recovery-codes?done=passkey');
      expect(reader.cookie).to.not.equal(before);
      expect((await reader.get('/account')).status).to.equal(200);
    });

    it('with a passkey needs no name, and begins another session each time', async () => {
      const { reader, passkey } = await settled();
      const first = reader.cookie;
      expect((await reader.post('/sign-out')).headers.location).to.equal('/sign-in');
      expect(reader.cookie).to.be.null();
      expect((await reader.get('/account/keys?x=1')).headers.location).to.equal('/sign-in?next=%2Faccount%2Fkeys%3Fx%3D1');
      const back = await reader.signIn(passkey, '/account/keys?x=1');
      expect([back.status, back.headers.location]).to.equal([303, '/account/keys?x=1']);
      expect(reader.cookie).to.not.equal(first);
      const old = pageReader(kit);
      old.cookie = first;
      expect((await old.get('/account')).status).to.equal(303);
    });

    it('never leads to another site', async () => {
      const { reader, passkey } = await settled();
      for (const next of ['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '/a\nb']) {
        expect((await reader.signIn(passkey, next)).headers.location, next).to.equal('/account');
        for (const path of ['/account/passkeys', '/account/recovery-codes']) expect((await reader.get(`${path}?next=${encodeURIComponent(next)}`)).text, next).to.not.match(/(?:href|value)="(?:https:|\/[/\\]|javascript:)/);
        expect((await reader.post('/account/recovery-codes', { next })).text, next).to.contain('<a class="button" href="/account">');
        expect((await reader.post('/sign-out', { next })).headers.location, next).to.equal('/sign-in');
      }
    });

    it('by link or code leads to the wanted page after the passkey', async () => {
      const next = '/account/keys?x=1';
      const carried = `next=${encodeURIComponent(next)}`;
      const { sign_in_link } = await kit.run('account create', { name: 'New' });
      const reader = pageReader(kit);
      await reader.follow(sign_in_link);
      expect((await reader.get(next)).headers.location).to.equal(`/account/passkeys?${carried}`);
      expect((await reader.get(`/account/passkeys?${carried}`)).text).to.contain('name="next" value="/account/keys?x&#x3D;1"');
      expect((await reader.addPasskey(authenticator(HOME), 'Laptop', next)).headers.location).to.equal(`/account/recovery-codes?done=passkey&${carried}`);
      expect((await reader.get(`/account/recovery-codes?done=passkey&${carried}`)).text).to.contain('<a href="/account/keys?x&#x3D;1">Skip');
      const { text } = await reader.post('/account/recovery-codes', { next });
      expect(text).to.contain('<a class="button" href="/account/keys?x&#x3D;1">Continue');
      expect((await reader.post('/sign-out', { next })).headers.location).to.equal(`/sign-in?${carried}`);
      expect((await reader.get(`/sign-in?${carried}`)).text).to.contain(`/sign-in/code?${carried.replace('=', '&#x3D;')}`);
      expect((await reader.get(`/sign-in/code?${carried}`)).text).to.contain(`/sign-in?${carried.replace('=', '&#x3D;')}`);
      expect((await reader.post('/sign-in/code', { code: 'wrong', next })).text).to.contain('name="next" value="/account/keys');
      expect((await reader.post('/sign-in/code', { code: /<li><code>([^<]+)/.exec(text)![1]!, next })).headers.location).to.equal(`/account/passkeys?${carried}`);
      expect((await reader.addPasskey(authenticator(HOME), 'Phone', next)).headers.location, 'recovery codes are left').to.equal(next);
    });

    it('accepts no session that another site put into the browser', async () => {
      const { passkey } = await settled();
      const victim = pageReader(kit);
      victim.cookie = 'A'.repeat(43);
      await victim.signIn(passkey);
      expect(victim.cookie).to.not.equal('A'.repeat(43));
      const attacker = pageReader(kit);
      attacker.cookie = 'A'.repeat(43);
      expect((await attacker.get('/account')).status).to.equal(303);
    });

    it('answers a challenge once, in time, from our own address and with a counter that rises', async () => {
      const { reader, passkey } = await settled();
      await reader.post('/sign-out');
      const begin = async () => (await reader.post('/sign-in/passkey/options')).body as { ceremony: string; options: { challenge: string } };
      const send = (ceremony: string, response: object) => reader.post('/sign-in/passkey', { answer: JSON.stringify({ ceremony, response }) });
      const { ceremony, options } = await begin();
      const good = passkey.get(options);
      expect((await send(ceremony, good)).status).to.equal(303);
      await reader.get('/account');
      await reader.post('/sign-out');
      expect((await send(ceremony, good)).status, 'again').to.equal(400);
      const slow = await begin();
      clock.advance(5 * MINUTE + 1);
      expect((await send(slow.ceremony, passkey.get(slow.options))).status, 'late').to.equal(400);
      const elsewhere = await begin();
      expect((await send(elsewhere.ceremony, passkey.get(elsewhere.options, { origin: 'http://localhost.evil.example' }))).status, 'elsewhere').to.equal(400);
      const other = await begin();
      expect((await send(other.ceremony, passkey.get(other.options, { challenge: (await begin()).options.challenge }))).status, 'another challenge').to.equal(400);
      const foreign = await begin();
      expect((await send(foreign.ceremony, passkey.get(foreign.options, { userHandle: 'c29tZWJvZHkgZWxzZQ' }))).status, 'somebody else').to.equal(400);
      const copied = await begin();
      expect((await send(copied.ceremony, passkey.get(copied.options, { counter: 1 }))).status, 'copy').to.equal(400);
      for (const answer of ['', '{}', '[]', 'null', '{"ceremony":1,"response":{}}', JSON.stringify({ ceremony: copied.ceremony, response: {} }), JSON.stringify({ ceremony: (await begin()).ceremony, response: { id: 'a\0b' } })]) {
        expect((await reader.post('/sign-in/passkey', { answer })).status, answer).to.equal(400);
      }
      expect(reader.cookie).to.be.null();
    });

    it('keeps passkeys of one account out of another', async () => {
      const [one, other] = [await settled(), await settled()];
      const { body } = await one.reader.post('/account/passkeys/options');
      const stolen = await other.reader.post('/account/passkeys', { name: 'x', answer: JSON.stringify({ ceremony: body.ceremony, response: authenticator(HOME).create(body.options) }) });
      expect(stolen.status).to.equal(400);
      expect((await other.reader.addPasskey(one.passkey)).status, 'a passkey that is known').to.equal(400);
      for (const action of ['rename', 'remove']) expect((await other.reader.post(`/account/passkeys/${one.passkey.id}/${action}`, { name: 'Mine' })).status).to.equal(404);
      expect((await one.reader.get('/account/passkeys')).text).to.contain('<h2>Laptop</h2>');
    });

    it('by recovery code works once for each, as it was typed', async () => {
      const { reader } = await settled();
      await reader.get('/account/recovery-codes');
      const { text } = await reader.post('/account/recovery-codes');
      const codes = [...text.matchAll(/<li><code>([^<]+)<\/code>/g)].map((match) => match[1]!);
      expect(codes).to.have.length(10);
      const lost = pageReader(kit);
      expect((await lost.post('/sign-in/code', { code: ` ${codes[0]!.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o')} ` })).headers.location).to.equal('/account/passkeys');
      expect((await lost.get('/account')).headers.location, 'only to add a passkey').to.equal('/account/passkeys');
      expect((await pageReader(kit).post('/sign-in/code', { code: codes[0]! })).text).to.contain('it has been used');
      expect((await reader.get('/account/recovery-codes')).text).to.contain('9 of 10 codes are left');
      await reader.post('/account/recovery-codes');
      expect((await pageReader(kit).post('/sign-in/code', { code: codes[1]! })).status, 'old ones are gone').to.equal(400);
    });

    it('ends when it was idle or long enough, and everywhere when asked', async () => {
      const { reader, passkey } = await settled();
      const second = pageReader(kit);
      await second.signIn(passkey);
      clock.advance(29 * DAY);
      expect((await second.get('/account')).status).to.equal(200);
      clock.advance(2 * DAY);
      expect((await reader.get('/account')).status, 'idle').to.equal(303);
      for (let days = 31; days < 90; days += 20) {
        expect((await second.get('/account')).status).to.equal(200);
        clock.advance(20 * DAY);
      }
      expect((await second.get('/account')).status, 'too old').to.equal(303);
      const [a, b] = [pageReader(kit), pageReader(kit)];
      await a.signIn(passkey);
      await b.signIn(passkey);
      await a.get('/account/sessions');
      expect((await a.post('/account/sessions/end-all')).headers.location).to.equal('/sign-in');
      expect([(await a.get('/account')).status, (await b.get('/account')).status]).to.equal([303, 303]);
    });

    it('shows the own sessions, ends one of them and none of other accounts', async () => {
      const [ada, bo] = [await settled(), await settled()];
      const second = pageReader(kit);
      await second.signIn(ada.passkey);
      const idsOf = async (reader: PageReader) => [...(await reader.get('/account/sessions')).text.matchAll(/sessions\/([0-9a-f-]{36})\/end/g)].map((match) => match[1]!);
      const [own, foreign] = [await idsOf(ada.reader), await idsOf(bo.reader)];
      expect([own.length, foreign.length]).to.equal([2, 1]);
      expect((await ada.reader.post(`/account/sessions/${foreign[0]}/end`)).status).to.equal(404);
      for (const id of own) await ada.reader.post(`/account/sessions/${id}/end`);
      expect([(await second.get('/account')).status, (await ada.reader.get('/account')).status, (await bo.reader.get('/account')).status]).to.equal([303, 303, 200]);
    });

    it('protects its forms: another session\'s token or site changes nothing', async () => {
      const [ada, bo] = [await settled(), await settled()];
      await bo.reader.get('/account');
      await ada.reader.get('/account');
      expect((await ada.reader.post('/account', { name: 'Eve', form_token: bo.reader.token })).status).to.equal(403);
      expect((await ada.reader.post('/account', { name: 'Eve', form_token: '' })).status).to.equal(403);
      expect((await ada.reader.post('/account', { name: 'Eve' }, { origin: 'https://evil.example' })).status).to.equal(403);
      expect((await ada.reader.post('/sign-out', {}, { 'sec-fetch-site': 'cross-site' })).status).to.equal(403);
      expect((await ada.reader.get('/account')).text).to.contain('value="Ada"');
      expect((await ada.reader.post('/account', { name: 'Ada L.' }, { origin: HOME })).headers.location).to.equal('/account?done=saved');
    });

    it('lets no cookie speak for the interface of programs', async () => {
      const { reader } = await settled();
      expect((await reader.get('/api/probe/private')).status).to.equal(401);
      expect((await reader.get('/api/probe/public')).body.caller?.account_id).to.be.undefined();
    });

    it('ends at once for disabled accounts, and begins again when they are enabled', async () => {
      const { id, reader, passkey } = await settled();
      const link = await linkFor(id);
      await kit.run('account disable', { account: id });
      expect((await reader.get('/account')).status).to.equal(303);
      await kit.run('account disable', { account: id, undo: true });
      expect((await reader.get('/account')).status, 'the session of before').to.equal(303);
      expect((await pageReader(kit).follow(link)).status, 'a link of before').to.equal(410);
      expect((await reader.signIn(passkey)).status).to.equal(303);
      expect((await reader.get('/account')).status).to.equal(200);
    });

    it('leaves no secret in the database', async () => {
      const { reader } = await settled();
      await reader.get('/account/recovery-codes');
      const { text } = await reader.post('/account/recovery-codes');
      const code = /<li><code>([^<]+)<\/code>/.exec(text)![1]!;
      const dumped = JSON.stringify(await Promise.all(['accounts_sessions', 'accounts_recovery_codes', 'accounts_links', 'accounts_audit'].map((table) => kit.db.read(table).select())));
      expect(dumped).to.contain('codes_made');
      for (const secret of [reader.cookie!, code, code.replaceAll('-', '')]) expect(dumped).to.not.contain(secret);
    });
  });
}

describe('The cookie of a session', () => {
  async function cookieAt(public_url: string): Promise<string> {
    const kit = await accountsKit({ config: { public_url } });
    const { sign_in_link } = await kit.run('account create', { name: 'Ada' });
    const answer = await kit.request('POST', '/sign-in/link', { payload: `token=${new URL(sign_in_link).searchParams.get('token')}`, headers: { 'content-type': 'application/x-www-form-urlencoded' } });
    await kit.close();
    return String(answer.headers['set-cookie']).replace(/=[0-9A-Za-z]{43};/, '=…;');
  }

  it('belongs to this host alone on https', async () => {
    expect(await cookieAt('https://civic.example/sub')).to.equal('__Host-civic_session=…; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=7776000');
  });

  it('is as careful as plain http allows', async () => {
    expect(await cookieAt('http://civic.example')).to.equal('civic_session=…; Path=/; HttpOnly; SameSite=Lax; Max-Age=7776000');
  });
});

describe('Guesses of recovery codes', () => {
  it('are few from one IPv6 customer, who has as many addresses as they like', async () => {
    const kit = await accountsKit({ config: { http: { port: 0, trusted_proxies: ['loopback'] } } });
    const guess = async (address: string) => (await kit.request('POST', '/sign-in/code', { payload: 'code=AAAAA-AAAAA-AAAAA-AAAAA', headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': address } })).status;
    const statuses = [];
    for (let i = 1; i <= 11; i++) statuses.push(await guess(`2001:db8::${i}`));
    expect(statuses).to.equal([...Array.from({ length: 10 }, () => 400), 429]);
    expect(await guess('2001:db8:0:1::1'), 'their neighbour').to.equal(400);
    await kit.close();
  });
});
