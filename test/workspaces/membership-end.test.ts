import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { until } from '../../core/test/wait.ts';
import { startMailbox, type Mailbox } from '../../plugins/accounts/test/mailbox.ts';
import { pageReader, type PageReader } from '../../plugins/accounts/test/reader.ts';
import type { Person } from '../../plugins/workspaces/test/kit.ts';
import { watchKit, type WatchKit } from '../../plugins/workspaces/test/watch-kit.ts';
import { testDatabases } from '../../core/testing.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const HERE = { places: ['liberty,missouri'] };

for (const database of testDatabases()) describe(`The end of a membership, on ${database}`, { timeout: 60_000 }, () => {
  let kit: WatchKit;
  let mailbox: Mailbox;
  let ada: Person;
  before(async () => {
    mailbox = await startMailbox();
    // At an IP address a sign-in link begins a full session, without a passkey.
    kit = await watchKit(database, { sections: { accounts: { mail: { smtp_url: mailbox.url } } }, publicUrl: 'http://192.0.2.7' });
    ada = await kit.person();
  });
  after(async () => {
    await kit.close();
    mailbox.close();
  });

  async function member(name: string): Promise<{ id: string; key: string; reader: PageReader }> {
    const { id, sign_in_link } = await kit.run('account create', { name, plan: 'team', role: 'user', email: `${name}@example.org` });
    const reader = pageReader(kit);
    await reader.follow(sign_in_link);
    return { id, reader, key: (await kit.run('key create', { account: id })).key };
  }
  async function join(workspaceId: string, { id, key }: { id: string; key: string }): Promise<void> {
    const invited = await kit.as(ada.key, 'POST', `/api/workspaces/${workspaceId}/members`, { account_id: id, role: 'member' });
    expect((await kit.as(key, 'POST', `/api/invitations/${invited.body.invitation_id}/accept`)).status).to.equal(200);
  }
  const createDesk = async () => (await kit.as(ada.key, 'POST', '/api/workspaces', { name: 'Desk' })).body.id as string;
  const watch = (workspaceId: string, key: string) => kit.as(key, 'POST', `/api/workspaces/${workspaceId}/watches`, { target: { type: 'place', id: 'liberty,missouri' }, delivery: 'immediate' });
  const leave = (workspaceId: string, id: string) => kit.as(ada.key, 'DELETE', `/api/workspaces/${workspaceId}/members/${id}`);
  const remove = (workspaceId: string) => kit.as(ada.key, 'DELETE', `/api/workspaces/${workspaceId}?name=Desk`);

  it('ends the address of the private feed, also for a member who joins again', async () => {
    const desk = await createDesk();
    const bob = await member('bob');
    await join(desk, bob);
    const page = await bob.reader.post(`/workspaces/${desk}/watches/feed`, {});
    const address = new URL(/http:[^"<]*feed\.atom[^"<]*/.exec(page.text)![0].replaceAll('&#x3D;', '='));
    const feed = async () => (await kit.request('GET', address.pathname + address.search)).status;
    expect(await feed()).to.equal(200);
    expect((await leave(desk, bob.id)).status).to.equal(204);
    expect(await feed()).to.equal(404);
    await join(desk, bob);
    expect(await feed()).to.equal(404);
  });

  for (const [what, end] of [['the workspace is deleted', remove], ['the member is removed', leave]] as const) it(`drops mails that wait for the mail server when ${what}`, async () => {
    const desk = await createDesk();
    const name = what.includes('deleted') ? 'cal' : 'dee';
    const reader = await member(name);
    await join(desk, reader);
    expect((await watch(desk, reader.key)).status).to.equal(201);
    mailbox.postpone(true);
    const before = mailbox.postponed();
    await kit.publish({ title: `Waiting for ${name}`, ...HERE });
    await kit.pass(75);
    expect(mailbox.postponed()).to.be.above(before);
    expect((await end(desk, reader.id)).status).to.equal(204);
    mailbox.postpone(false);
    await kit.pass(3600);
    const waiting = () => kit.db.read('core_jobs').where({ name: 'accounts.mail' }).whereIn('state', ['pending', 'running']);
    await until(async () => (await waiting()).length === 0);
    expect(mailbox.mails.filter((mail) => mail.includes(`Waiting for ${name}`))).to.equal([]);
  });
});
