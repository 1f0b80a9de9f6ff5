import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases, type TestResponse } from 'civic/testing';
import { authenticator } from './authenticator.ts';
import { accountsKit, type AccountsKit, type Person } from './kit.ts';
import { pageReader, type PageReader } from './reader.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const HOME = 'http://localhost:8080';
const AT_ONCE = 6;

const atOnce = <T>(work: (index: number) => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: AT_ONCE }, (_, index) => work(index)));
const statuses = (answers: TestResponse[]): number[] => answers.map(({ status }) => status).sort((a, b) => a - b);
/** One that is let through, and the others. */
const oneOf = (first: number, others: number): number[] => [first, ...Array.from({ length: AT_ONCE - 1 }, () => others)].sort((a, b) => a - b);

for (const database of testDatabases()) {
  describe(`At the same moment (${database})`, { timeout: 60_000 }, () => {
    let kit: AccountsKit;
    before(async () => { kit = await accountsKit({ database, config: { public_url: HOME } }); });
    after(() => kit.close());

    const tokenOf = (url: string): string => new URL(url).searchParams.get('token')!;
    const send = (person: Person, method: string, path: string, payload?: unknown) => kit.as(person.key, method, path, { payload });

    async function settled(options = {}): Promise<{ id: string; reader: PageReader; passkey: ReturnType<typeof authenticator> }> {
      const { id, sign_in_link } = await kit.run('account create', { name: 'Ada', ...options });
      const [reader, passkey] = [pageReader(kit), authenticator(HOME)];
      await reader.follow(sign_in_link);
      await reader.addPasskey(passkey);
      await reader.get('/account');
      return { id, reader, passkey };
    }

    async function newsroom(): Promise<{ owner: Person; path: string }> {
      const owner = await kit.person();
      const { body } = await send(owner, 'POST', '/api/workspaces', { name: 'Newsroom' });
      return { owner, path: `/api/workspaces/${body.id}` };
    }

    it('several keys are asked for, and no more are made than the plan has room for', async () => {
      const { id, reader } = await settled({ plan: 'individual' });
      const [workspace] = [/name="workspace" value="([^"]+)"/.exec((await reader.get('/account/keys')).text)![1]!];
      const answers = await atOnce((index) => reader.post('/account/keys', { name: `Key ${index}`, scopes: 'probe:read', workspace }));
      expect(statuses(answers)).to.equal(oneOf(200, 403));
      expect(await kit.run('key list', { account: id })).to.have.length(1);
    });

    it('a sign-in link, a recovery code and a challenge let one in', async () => {
      const { id, reader, passkey } = await settled();
      const token = tokenOf((await kit.run('account sign-in-link', { account: id })).sign_in_link);
      expect(statuses(await atOnce(() => pageReader(kit).post('/sign-in/link', { token })))).to.equal(oneOf(303, 410));
      const code = /<li><code>([^<]+)<\/code>/.exec((await reader.post('/account/recovery-codes')).text)![1]!;
      expect(statuses(await atOnce(() => pageReader(kit).post('/sign-in/code', { code })))).to.equal(oneOf(303, 400));
      const { body } = await pageReader(kit).post('/sign-in/passkey/options');
      const answer = JSON.stringify({ ceremony: body.ceremony, response: passkey.get(body.options) });
      expect(statuses(await atOnce(() => pageReader(kit).post('/sign-in/passkey', { answer })))).to.equal(oneOf(303, 400));
    });

    it('an invitation is accepted by one account, and an account joins once', async () => {
      const { owner, path } = await newsroom();
      const guests = await atOnce(() => kit.person());
      const token = tokenOf((await send(owner, 'POST', `${path}/invitations`, {})).body.url);
      expect(statuses(await atOnce((index) => send(guests[index]!, 'POST', '/api/workspaces/join', { token })))).to.equal(oneOf(200, 404));
      const guest = await kit.person();
      const tokens = await atOnce(async () => tokenOf((await send(owner, 'POST', `${path}/invitations`, {})).body.url));
      expect(statuses(await atOnce((index) => send(guest, 'POST', '/api/workspaces/join', { token: tokens[index] })))).to.equal(oneOf(200, 409));
      const added = await kit.person();
      expect(statuses(await atOnce(() => send(owner, 'POST', `${path}/members`, { account_id: added.id })))).to.equal(oneOf(201, 409));
    });

    it('all owners leave, and one of them stays', async () => {
      const { owner, path } = await newsroom();
      const owners = [owner, ...await atOnce(async () => {
        const person = await kit.person();
        await kit.join(owner, path, person, 'owner');
        return person;
      })];
      const answers = await Promise.all(owners.map((person) => send(person, 'DELETE', `${path}/members/${person.id}`)));
      expect(answers.filter(({ status }) => status === 409)).to.have.length(1);
    });

    it('members remove each other, and a removed member removes no other', async () => {
      for (let round = 0; round < 5; round++) {
        const { owner, path } = await newsroom();
        const [one, other] = await Promise.all([kit.person(), kit.person()]);
        for (const person of [one, other]) await kit.join(owner, path, person, 'admin');
        await Promise.all([send(one, 'DELETE', `${path}/members/${other.id}`), send(other, 'DELETE', `${path}/members/${one.id}`)]);
        expect((await send(owner, 'GET', `${path}/members`)).body.total).to.equal(2);
      }
    });

    it('administrators disable each other, and one is left', async () => {
      for (let round = 0; round < 3; round++) {
        const [one, other] = [await settled({ role: 'admin' }), await settled({ role: 'admin' })];
        await Promise.all([one.reader.post(`/console/accounts/${other.id}/disable`), other.reader.post(`/console/accounts/${one.id}/role`, { role: 'user' })]);
        const left = (await kit.run('account list') as { id: string; role: string; disabled_at: string | null }[]).filter(({ id }) => id === one.id || id === other.id);
        expect(left.filter(({ role, disabled_at }) => role === 'admin' && disabled_at === null)).to.have.length(1);
      }
    });
  });
}
