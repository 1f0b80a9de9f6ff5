import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { newId } from 'civic';
import { stoppedClock, testDatabases } from 'civic/testing';
import { accountsKit, callerIn, type AccountsKit, type Person } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

for (const database of testDatabases()) {
  describe(`Workspaces (${database})`, { timeout: 60_000 }, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let kit: AccountsKit;
    let owner: Person;
    let id: string;

    before(async () => {
      kit = await accountsKit({ database, clock });
      owner = await kit.person();
      id = (await kit.as(owner.key, 'POST', '/api/workspaces', { payload: { name: 'Newsroom' } })).body.id;
    });
    after(() => kit.close());

    const send = (person: Person, method: string, path: string, payload?: unknown) => kit.as(person.key, method, path.replace('{id}', id), { payload });
    const codeOf = async (person: Person, method: string, path: string, payload?: unknown) => {
      const { status, body } = await send(person, method, path, payload);
      return [status, body.code];
    };
    const tokenOf = (url: string) => new URL(url).searchParams.get('token')!;
    const join = async (role = 'member'): Promise<Person> => {
      const person = await kit.person();
      await kit.join(owner, `/api/workspaces/${id}`, person, role);
      return person;
    };

    it('are listed to those who belong to them, the personal one first', async () => {
      const { body } = await send(owner, 'GET', '/api/workspaces');
      expect(body.data.map((one: { personal: boolean; role: string }) => [one.personal, one.role])).to.equal([[true, 'owner'], [false, 'owner']]);
      expect([body.total, body.next_cursor]).to.equal([2, null]);
      expect((await send(owner, 'GET', '/api/workspaces/{id}')).body.name).to.equal('Newsroom');
    });

    it('do not exist for others, whatever is asked of them, also for administrators of the instance', async () => {
      const stranger = await kit.person();
      const admin = await kit.person({ role: 'admin' });
      for (const [method, path, payload] of [
        ['GET', '', undefined], ['GET', '/members', undefined], ['GET', '/audit', undefined], ['GET', '/invitations', undefined], ['GET', `/members/${owner.id}`, undefined],
        ['POST', '/members', { account_id: stranger.id }], ['POST', '/invitations', {}], ['PATCH', `/members/${owner.id}`, { role: 'member' }], ['DELETE', `/members/${owner.id}`, undefined], ['DELETE', `/invitations/${newId()}`, undefined],
      ] as const) {
        for (const who of [stranger, admin]) expect(await codeOf(who, method, `/api/workspaces/{id}${path}`, payload), `${method} ${path}`).to.equal([404, 'unknown_workspace']);
      }
      for (const wrong of ['x', newId()]) expect((await kit.as(owner.key, 'GET', `/api/workspaces/${wrong}`)).status).to.equal(404);
    });

    it('are chosen by who belongs to several, in a header or with the key', async () => {
      const asked = await kit.as(owner.key, 'GET', '/api/probe/private', { headers: { 'x-workspace-id': id } });
      expect([callerIn(asked).workspace_id, callerIn(asked).workspace_role]).to.equal([id, 'owner']);
      await expect(kit.run('key create', { account: owner.id })).to.reject(/choose one of/);
      const bound = await kit.run('key create', { account: owner.id, workspace: id });
      expect(callerIn(await kit.as(bound.key, 'GET', '/api/probe/private')).workspace_id).to.equal(id);
    });

    it('are joined by link, once, by any account', async () => {
      const [guest, late] = [await kit.person(), await kit.person()];
      const made = await send(owner, 'POST', '/api/workspaces/{id}/invitations', { role: 'reviewer' });
      expect(made.status).to.equal(201);
      const token = tokenOf(made.body.url);
      expect((await send(owner, 'GET', '/api/workspaces/{id}/invitations')).text).to.include(made.body.id).and.not.include(token);
      expect((await send(guest, 'POST', '/api/workspaces/join', { token })).body).to.include({ id, role: 'reviewer' });
      expect(await codeOf(late, 'POST', '/api/workspaces/join', { token })).to.equal([404, 'unknown_invitation']);
      expect(await codeOf(late, 'GET', '/api/workspaces/{id}')).to.equal([404, 'unknown_workspace']);
      expect((await send(guest, 'GET', `/api/workspaces/{id}/members/${guest.id}`)).body.role).to.equal('reviewer');
    });

    it('are not joined by a link of a member who could no longer create it', async () => {
      const path = `/api/workspaces/${(await send(owner, 'POST', '/api/workspaces', { name: 'Archive' })).body.id}`;
      const joined = async (role: string): Promise<Person> => {
        const person = await kit.person();
        await kit.join(owner, path, person, role);
        return person;
      };
      const linkOf = async (person: Person, role: string) => tokenOf((await send(person, 'POST', `${path}/invitations`, { role })).body.url);
      const [out, lowered, fallen, lasting, shut] = [await joined('admin'), await joined('admin'), await joined('owner'), await joined('owner'), await joined('admin')];
      const ended = [await linkOf(out, 'admin'), await linkOf(lowered, 'member'), await linkOf(fallen, 'owner'), await linkOf(shut, 'admin')];
      const open = [await linkOf(fallen, 'admin'), await linkOf(lasting, 'owner')];
      await send(owner, 'DELETE', `${path}/members/${out.id}`);
      await send(owner, 'PATCH', `${path}/members/${lowered.id}`, { role: 'reviewer' });
      await send(owner, 'PATCH', `${path}/members/${fallen.id}`, { role: 'admin' });
      await kit.run('account disable', { account: shut.id });
      for (const token of ended) expect(await codeOf(out, 'POST', '/api/workspaces/join', { token })).to.equal([404, 'unknown_invitation']);
      expect((await send(owner, 'GET', `${path}/invitations`)).body.total).to.equal(2);
      for (const token of open) expect((await send(await kit.person(), 'POST', '/api/workspaces/join', { token })).status).to.equal(200);
    });

    it('are not joined by a link that was withdrawn, has expired or does not exist', async () => {
      const guest = await kit.person();
      const [gone, old] = [await send(owner, 'POST', '/api/workspaces/{id}/invitations', {}), await send(owner, 'POST', '/api/workspaces/{id}/invitations', {})];
      expect((await send(owner, 'DELETE', `/api/workspaces/{id}/invitations/${gone.body.id}`)).status).to.equal(204);
      expect(await codeOf(guest, 'POST', '/api/workspaces/join', { token: tokenOf(gone.body.url) })).to.equal([404, 'unknown_invitation']);
      clock.advance(7 * 86_400_000);
      for (const token of [tokenOf(old.body.url), 'x']) expect(await codeOf(guest, 'POST', '/api/workspaces/join', { token })).to.equal([404, 'unknown_invitation']);
    });

    it('let members read, and only administrators and owners manage', async () => {
      const member = await join();
      const reviewer = await join('reviewer');
      for (const who of [member, reviewer]) {
        expect((await send(who, 'GET', '/api/workspaces/{id}/members')).status).to.equal(200);
        for (const [method, path, payload] of [['GET', '/audit'], ['GET', '/invitations'], ['POST', '/invitations', {}], ['POST', '/members', { account_id: owner.id }], ['PATCH', `/members/${owner.id}`, { role: 'member' }], ['DELETE', `/members/${owner.id}`]] as const) {
          expect(await codeOf(who, method, `/api/workspaces/{id}${path}`, payload), `${method} ${path}`).to.equal([403, 'workspace_forbidden']);
        }
      }
    });

    it('let no member give a role above their own', async () => {
      const admin = await join('admin');
      const member = await join();
      expect((await send(admin, 'PATCH', `/api/workspaces/{id}/members/${member.id}`, { role: 'admin' })).body.role).to.equal('admin');
      expect(await codeOf(admin, 'PATCH', `/api/workspaces/{id}/members/${admin.id}`, { role: 'owner' })).to.equal([403, 'workspace_forbidden']);
      expect(await codeOf(admin, 'PATCH', `/api/workspaces/{id}/members/${owner.id}`, { role: 'member' })).to.equal([403, 'workspace_forbidden']);
      expect(await codeOf(admin, 'POST', '/api/workspaces/{id}/invitations', { role: 'owner' })).to.equal([403, 'workspace_forbidden']);
    });

    it('keep an owner, and a personal one keeps to itself', async () => {
      expect(await codeOf(owner, 'DELETE', `/api/workspaces/{id}/members/${owner.id}`)).to.equal([409, 'last_owner']);
      expect(await codeOf(owner, 'PATCH', `/api/workspaces/{id}/members/${owner.id}`, { role: 'admin' })).to.equal([409, 'last_owner']);
      for (const [path, payload] of [['members', { account_id: (await kit.person()).id }], ['invitations', {}]] as const) {
        expect(await codeOf(owner, 'POST', `/api/workspaces/${owner.workspace_id}/${path}`, payload)).to.equal([409, 'personal_workspace']);
      }
    });

    it('are closed at once to who left or was taken out, also to keys made for them', async () => {
      const member = await join();
      const bound = await kit.run('key create', { account: member.id, workspace: id });
      expect((await kit.as(bound.key, 'GET', '/api/probe/private')).status).to.equal(200);
      expect((await send(owner, 'DELETE', `/api/workspaces/{id}/members/${member.id}`)).status).to.equal(204);
      expect((await kit.as(bound.key, 'GET', '/api/probe/private')).body.code).to.equal('workspace_forbidden');
      expect(await codeOf(member, 'GET', '/api/workspaces/{id}')).to.equal([404, 'unknown_workspace']);
      const leaver = await join();
      expect((await send(leaver, 'DELETE', `/api/workspaces/{id}/members/${leaver.id}`)).status).to.equal(204);
    });

    it('list their events to owners, page by page, without addresses of others', async () => {
      const first = await send(owner, 'GET', '/api/workspaces/{id}/audit?limit=2');
      expect(first.body.data).to.have.length(2);
      const rest = await kit.as(owner.key, 'GET', `/api/workspaces/${id}/audit?limit=100&cursor=${first.body.next_cursor}`);
      const kinds = [...first.body.data, ...rest.body.data].map(({ kind }: { kind: string }) => kind);
      expect(kinds.length).to.equal(first.body.total);
      expect(kinds.at(-1)).to.equal('workspace_made');
      expect(kinds).to.include(['member_added', 'member_removed', 'invitation_made', 'member_changed']);
      expect(rest.text).to.not.include('address');
    });
  });
}
