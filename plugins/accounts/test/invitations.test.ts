import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { newId } from 'civic';
import { stoppedClock, testDatabases } from 'civic/testing';
import { accountsKit, type AccountsKit, type Person } from './kit.ts';
import { pageReader, type PageReader } from './reader.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

// At an address where passkeys cannot work a link signs in fully, so that these tests need none.
const HOME = 'http://192.0.2.7:8080';
const DAY = 86_400_000;

for (const database of testDatabases()) {
  describe(`Invitations to an account (${database})`, { timeout: 60_000 }, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let kit: AccountsKit;
    let owner: Person;
    let path: string;

    before(async () => {
      const limits = { max_memberships_per_account: 4, max_members_per_workspace: 3, max_invitations_per_workspace: 4 };
      kit = await accountsKit({ database, clock, config: { public_url: HOME, plugins: { accounts: limits } } });
    });
    lab.beforeEach(async () => {
      owner = await kit.person();
      path = await workspaceOf(owner);
    });
    after(() => kit.close());

    async function workspaceOf(person: Person, name = 'Newsroom'): Promise<string> {
      return `/api/workspaces/${(await send(person, 'POST', '/api/workspaces', { name })).body.id}`;
    }
    const send = (person: Person, method: string, to: string, payload?: unknown) => kit.as(person.key, method, to, { payload });
    const codeOf = async (...asked: Parameters<typeof send>) => {
      const { status, body } = await send(...asked);
      return [status, body.code];
    };
    const invite = (payload: object) => send(owner, 'POST', `${path}/members`, payload);
    const inbox = async (person: Person) => (await send(person, 'GET', '/api/invitations')).body.data as { id: string; workspace: { id: string; name: string }; role: string; invited_by: string }[];
    const accept = (person: Person, id: string) => send(person, 'POST', `/api/invitations/${id}/accept`);

    it('give no access before they are accepted, and are listed as pending to administrators only', async () => {
      const [guest, member] = [await kit.person(), await kit.person()];
      await kit.join(owner, path, member);
      const invited = await invite({ account_id: guest.id, role: 'reviewer' });
      expect([invited.status, invited.body.status, invited.body.account_id, invited.body.name]).to.equal([201, 'pending', guest.id, null]);
      expect(await codeOf(guest, 'GET', path)).to.equal([404, 'unknown_workspace']);
      expect((await kit.as(guest.key, 'GET', '/api/probe/private', { headers: { 'x-workspace-id': path.split('/').at(-1)! } })).body.code).to.equal('workspace_forbidden');
      const statuses = async (person: Person) => (await send(person, 'GET', `${path}/members`)).body.data.map(({ status }: { status: string }) => status);
      expect(await statuses(owner)).to.equal(['active', 'active', 'pending']);
      expect(await statuses(member)).to.equal(['active', 'active']);
      const [open] = await inbox(guest);
      expect(open).to.include({ role: 'reviewer' });
      expect(open!.workspace.name).to.equal('Newsroom');
      expect((await accept(guest, open!.id)).body).to.include({ role: 'reviewer', name: 'Newsroom' });
      expect((await send(guest, 'GET', path)).status).to.equal(200);
      expect(await inbox(guest)).to.equal([]);
      expect((await accept(guest, open!.id)).status).to.equal(404);
    });

    it('are declined for good, and are not accepted by another account', async () => {
      const [guest, stranger] = [await kit.person(), await kit.person()];
      await invite({ account_id: guest.id });
      const [open] = await inbox(guest);
      for (const what of ['accept', 'decline']) expect(await codeOf(stranger, 'POST', `/api/invitations/${open!.id}/${what}`), what).to.equal([404, 'unknown_invitation']);
      for (const wrong of [newId(), 'x']) expect(await codeOf(guest, 'POST', `/api/invitations/${wrong}/accept`)).to.equal([404, 'unknown_invitation']);
      expect(await inbox(stranger)).to.equal([]);
      expect((await send(guest, 'POST', `/api/invitations/${open!.id}/decline`)).status).to.equal(204);
      expect((await accept(guest, open!.id)).status).to.equal(404);
      expect((await send(owner, 'GET', `${path}/members`)).body.total).to.equal(1);
      const kinds = (await send(owner, 'GET', `${path}/audit`)).body.data.map(({ kind }: { kind: string }) => kind);
      expect(kinds.slice(0, 2)).to.equal(['invitation_declined', 'invitation_made']);
    });

    it('end when they expire, are withdrawn, or when the account that sent them may no longer send them', async () => {
      const guest = await kit.person();
      const { body } = await invite({ account_id: guest.id });
      expect((await send(owner, 'DELETE', `${path}/invitations/${body.invitation_id}`)).status).to.equal(204);
      expect((await accept(guest, body.invitation_id)).status).to.equal(404);
      const admin = await kit.person();
      await kit.join(owner, path, admin, 'admin');
      await send(admin, 'POST', `${path}/members`, { account_id: guest.id });
      await send(owner, 'PATCH', `${path}/members/${admin.id}`, { role: 'member' });
      expect(await inbox(guest)).to.equal([]);
      await invite({ account_id: guest.id });
      clock.advance(7 * DAY);
      expect(await inbox(guest)).to.equal([]);
    });

    it('by e-mail are alike whether an account has the address or not', async () => {
      const email = `${newId()}@example.org`;
      const guest = await kit.person({ email });
      const answers = [await invite({ email: email.toUpperCase() }), await invite({ email: `${newId()}@example.org` })];
      const shape = ({ status, body }: { status: number; body: Record<string, unknown> }) => [status, { ...body, email: '…', invitation_id: '…' }];
      expect(shape(answers[0]!)).to.equal(shape(answers[1]!));
      expect(answers[0]!.body).to.include({ account_id: null, name: null, status: 'pending' });
      const [open] = await inbox(guest);
      expect((await accept(guest, open!.id)).status).to.equal(200);
      const again = [await invite({ email }), await invite({ email: answers[1]!.body.email as string })];
      expect(again.map(({ status }) => status), 'a member, and an address that is invited already').to.equal([201, 409]);
    });

    it('are one per account, and not for members or addresses without an account', async () => {
      const guest = await kit.person();
      expect((await invite({ account_id: guest.id })).status).to.equal(201);
      expect(await codeOf(owner, 'POST', `${path}/members`, { account_id: guest.id })).to.equal([409, 'already_invited']);
      expect(await codeOf(owner, 'POST', `${path}/members`, { account_id: owner.id })).to.equal([409, 'already_member']);
      expect(await codeOf(owner, 'POST', `${path}/members`, { account_id: newId() })).to.equal([404, 'unknown_member']);
      for (const wrong of [{}, { email: 'x' }, { account_id: guest.id, email: 'a@example.org' }]) expect((await invite(wrong)).status).to.equal(400);
    });

    it('stop at the limits, which say what to do', async () => {
      for (let i = 0; i < 4; i++) expect((await invite({ email: `limit-${i}@example.org` })).status).to.equal(201);
      const refused = await invite({ email: 'limit-5@example.org' });
      expect([refused.status, refused.body.code]).to.equal([409, 'invitation_limit']);
      expect(refused.body.detail).to.include('4');
      expect(await codeOf(owner, 'POST', `${path}/invitations`, {}), 'links count, too').to.equal([409, 'invitation_limit']);

      const other = await workspaceOf(owner);
      for (const person of [await kit.person(), await kit.person()]) await kit.join(owner, other, person);
      const late = await kit.person();
      await send(owner, 'POST', `${other}/members`, { account_id: late.id });
      const full = await accept(late, (await inbox(late))[0]!.id);
      expect([full.status, full.body.code]).to.equal([409, 'member_limit']);
      expect((await inbox(late)).length, 'the invitation stays').to.equal(1);

      const busy = await kit.person();
      for (let i = 0; i < 3; i++) await workspaceOf(busy);
      expect(await codeOf(busy, 'POST', '/api/workspaces', { name: 'Fifth' })).to.equal([409, 'membership_limit']);
      const third = await workspaceOf(owner);
      await send(owner, 'POST', `${third}/members`, { account_id: busy.id });
      expect((await accept(busy, (await inbox(busy))[0]!.id)).body.code).to.equal('membership_limit');
      const token = new URL((await send(owner, 'POST', `${third}/invitations`, {})).body.url).searchParams.get('token');
      expect(await codeOf(busy, 'POST', '/api/workspaces/join', { token })).to.equal([409, 'membership_limit']);
    });

    it('accepted at the same moment do not pass the limits', async () => {
      const guest = await kit.person();
      const paths = await Promise.all(Array.from({ length: 5 }, async () => workspaceOf(await kit.person())));
      const owners = await Promise.all(paths.map(async () => kit.person()));
      const all = await Promise.all(owners.map(async (one) => {
        const own = await workspaceOf(one);
        await send(one, 'POST', `${own}/members`, { account_id: guest.id });
      }));
      expect(all).to.have.length(5);
      const answers = await Promise.all((await inbox(guest)).map(({ id }) => accept(guest, id)));
      expect(answers.map(({ status }) => status).sort((a, b) => a - b)).to.equal([200, 200, 200, 409, 409]);
    });

    async function signedIn(options: Record<string, string> = {}): Promise<PageReader & { id: string }> {
      const { id, sign_in_link } = await kit.run('account create', { name: 'Bo Guest', role: 'user', ...options });
      const reader = pageReader(kit);
      await reader.follow(sign_in_link);
      return Object.assign(reader, { id });
    }

    it('are accepted and declined on the pages of the account', async () => {
      const guest = await signedIn();
      const other = await workspaceOf(owner, 'Archive');
      await invite({ account_id: guest.id });
      await send(owner, 'POST', `${other}/members`, { account_id: guest.id });
      expect((await guest.get('/account')).text).to.contain('2 workspaces invite you');
      const { text } = await guest.get('/account/workspaces');
      expect(text).to.contain('Newsroom').and.contain('Archive');
      const [first, second] = [...text.matchAll(/\/account\/invitations\/([0-9a-f-]{36})\/accept/g)].map((match) => match[1]!);
      const stranger = await signedIn();
      for (const what of ['accept', 'decline']) expect((await stranger.post(`/account/invitations/${first}/${what}`)).status, what).to.equal(404);
      expect((await guest.post(`/account/invitations/${first}/accept`)).headers.location).to.match(/\/account\/workspaces\/[0-9a-f-]{36}\?done=joined$/);
      expect((await guest.post(`/account/invitations/${second}/decline`)).headers.location).to.equal('/account/workspaces?done=declined');
      expect((await guest.get('/account')).text).to.not.contain('invite you');
    });

    it('are sent by e-mail from the page of a workspace, which lists them as pending', async () => {
      const host = await signedIn();
      const at = String((await host.post('/account/workspaces', { name: 'Harlow Watch' })).headers.location).split('?')[0]!;
      const email = `page-${database}@example.org`;
      const guest = await signedIn({ email });
      expect((await host.post(`${at}/members`, { email, role: 'member' })).headers.location).to.equal(`${at}?done=invited`);
      const { text } = await host.get(at);
      expect(text).to.contain(email).and.contain('pending').and.not.contain('Bo Guest</h3>\n      <p class="quiet">pending');
      expect((await host.post(`${at}/members`, { email: 'nonsense', role: 'member' })).status).to.equal(400);
      expect((await guest.get('/account/workspaces')).text).to.contain('Harlow Watch');
      const id = /invitations\/([0-9a-f-]{36})\/withdraw/.exec(text)![1]!;
      await host.post(`${at}/invitations/${id}/withdraw`);
      expect((await guest.get('/account/workspaces')).text).to.not.contain('Harlow Watch');
    });
  });
}
