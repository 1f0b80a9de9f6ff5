import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { startMailbox, type Mailbox } from '../../plugins/accounts/test/mailbox.ts';
import { pageReader } from '../../plugins/accounts/test/reader.ts';
import type { Person } from '../../plugins/workspaces/test/kit.ts';
import { watchKit, type WatchKit } from '../../plugins/workspaces/test/watch-kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const HERE = { places: ['liberty,missouri'] };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

for (const database of testDatabases()) describe(`Mails and feeds of watches, on ${database}`, { timeout: 60_000 }, () => {
  let kit: WatchKit;
  let mailbox: Mailbox;
  let ada: Person;
  before(async () => {
    mailbox = await startMailbox();
    // At an IP address a sign-in link begins a full session, without a passkey.
    kit = await watchKit(database, { sections: { accounts: { mail: { smtp_url: mailbox.url } } }, publicUrl: 'http://192.0.2.7' });
    ada = await kit.person({ email: 'ada@example.org' });
  });
  after(async () => {
    await kit.close();
    mailbox.close();
  });

  const watch = (person: Person, id: string, delivery: string) => kit.as(person.key, 'POST', `/api/workspaces/${person.workspace_id}/watches`, { target: { type: 'place', id }, delivery });
  /** The mails about watches; accounts get others, such as security notices. */
  const sent = (text = '') => mailbox.mails.filter((mail) => mail.includes('List-Unsubscribe:') && mail.includes(text));
  const subscriber = (person: Person) => kit.db.read('workspaces_subscribers').where({ account_id: person.id }).first();

  it('sends signals that come together as one mail, whose subject names what happened', async () => {
    await watch(ada, 'liberty,missouri', 'immediate');
    await kit.publish({ title: 'Council votes on\r\nthe budget', ...HERE, occurred_at: '2026-03-03T18:00:00Z' });
    await kit.publish({ title: 'Hearing on rents', ...HERE });
    await kit.pass(75);
    const mail = await mailbox.mailTo('ada@example.org', 'Hearing on rents');
    expect(mail).to.contain('Subject: Council votes on the budget, and 1 more');
    expect(mail).to.contain('You watch the place Liberty, MO.');
    expect(mail).to.contain('https://example.org/agenda');
    expect(mail).to.contain('List-Unsubscribe-Post: List-Unsubscribe=One-Click');
    expect(sent()).to.have.length(1);
  });

  it('waits between two immediate mails', async () => {
    await kit.publish({ title: 'Third signal', ...HERE });
    await kit.pass(75);
    expect(sent()).to.have.length(1);
    await kit.pass(600);
    expect(await mailbox.mailTo('ada@example.org', 'Third signal')).to.contain('Subject: Third signal');
  });

  it('sends the digest once a day, at the hour of the member', async () => {
    const bea = await kit.person({ email: 'bea@example.org' });
    await watch(bea, 'liberty,missouri', 'digest');
    await kit.publish({ title: 'For the digest', ...HERE });
    await kit.pass(660);
    await mailbox.mailTo('ada@example.org', 'For the digest');
    expect(sent('bea@')).to.equal([]);
    await kit.pass(20 * 3600);
    const mail = await mailbox.mailTo('bea@example.org', 'For the digest');
    expect(mail).to.contain('You get this mail once a day');
    expect((await subscriber(bea)).digest_due_at).to.equal('2026-03-03T07:00:00.000Z');
    await kit.pass(24 * 3600);
    expect(sent('bea@')).to.have.length(1);
  });

  it('does not mail what was withdrawn before the mail', async () => {
    const [id] = await kit.publish({ title: 'A mistake', ...HERE }) as [string];
    await kit.withdraw(id);
    await kit.pass(700);
    expect(sent('A mistake')).to.equal([]);
  });

  it('mails a version once that is published before the mail about the earlier one', async () => {
    const [id] = await kit.publish({ title: 'First version', ...HERE }) as [string];
    const earlier = await kit.db.read('workspaces_deliveries').where({ signal_id: id }).first();
    await kit.publish({ id, title: 'Second version', ...HERE });
    // As before the new version was compared with the watches.
    await kit.db.write((tx) => tx('workspaces_deliveries').insert(earlier));
    await kit.pass(700);
    const mail = await mailbox.mailTo('ada@example.org', 'Second version');
    expect(mail.split('Subject:')[1]!.split('\n')[0]).to.contain('Second version').and.not.contain('more');
    await kit.db.write((tx) => tx('workspaces_deliveries').where({ seq: earlier.seq }).delete());
  });

  it('ends mails by the link: GET asks, POST does it, also from a mail program without a session', async () => {
    const link = /List-Unsubscribe:\s*<([^>]*)>/.exec(sent()[0]!)![1]!;
    const path = new URL(link).pathname + new URL(link).search;
    const asked = await kit.request('GET', path, { headers: { accept: 'text/html' } });
    expect(asked.status, `${link} ${asked.text}`).to.equal(200);
    expect(asked.headers['cache-control']).to.equal('private, no-store');
    expect((await subscriber(ada)).has_mail).to.equal(1);
    const done = await kit.request('POST', path, { payload: 'List-Unsubscribe=One-Click', headers: FORM });
    expect(done.status).to.equal(200);
    expect((await subscriber(ada)).has_mail).to.equal(0);
    expect((await kit.request('POST', path, { payload: 'List-Unsubscribe=One-Click', headers: FORM })).status).to.equal(200);
    const boundary = '--x\r\ncontent-disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n';
    expect((await kit.request('POST', path, { payload: boundary, headers: { 'content-type': 'multipart/form-data; boundary=x' } })).status).to.equal(200);
    const unknown = await kit.request('POST', path.replace(/token=.{4}/, 'token=AAAA'), { payload: 'List-Unsubscribe=One-Click', headers: FORM });
    expect([unknown.status, unknown.headers['cache-control']]).to.equal([404, 'private, no-store']);
    expect(unknown.text).to.contain('This link is incomplete or no longer works.');

    await kit.publish({ title: 'After the end', ...HERE });
    await kit.pass(700);
    expect(sent('After the end')).to.equal([]);
  });

  it('sends nothing to a member who left the workspace', async () => {
    const { body: shared } = await kit.as(ada.key, 'POST', '/api/workspaces', { name: 'Desk' });
    const cal = await kit.person({ email: 'cal@example.org' });
    const invited = await kit.as(ada.key, 'POST', `/api/workspaces/${shared.id}/members`, { account_id: cal.id, role: 'member' });
    await kit.as(cal.key, 'POST', `/api/invitations/${invited.body.invitation_id}/accept`);
    const made = await kit.as(cal.key, 'POST', `/api/workspaces/${shared.id}/watches`, { target: { type: 'place', id: 'liberty,missouri' }, delivery: 'immediate' });
    expect(made.status).to.equal(201);
    expect((await kit.as(ada.key, 'DELETE', `/api/workspaces/${shared.id}/members/${cal.id}`)).status).to.equal(204);
    await kit.publish({ title: 'Behind the door', ...HERE });
    await kit.pass(700);
    expect(sent('cal@')).to.equal([]);
  });

  it('sends a digest with the newest of very many signals, and does not fall behind', async () => {
    const dee = await kit.person({ email: 'dee@example.org' });
    await watch(dee, 'smithville,missouri', 'digest');
    for (const part of [0, 1]) await kit.publish(...Array.from({ length: 300 }, (_, at) => ({ title: `Item ${part * 300 + at}.`, places: ['smithville,missouri'] })));
    await kit.pass(24 * 3600);
    const mail = await mailbox.mailTo('dee@example.org', 'Item 100.');
    expect(mail).to.contain('and 599 more').and.to.contain('550 more signals are in the digest');
    const { key, digest_seq } = await subscriber(dee);
    expect(Number(digest_seq)).to.equal(Number((await kit.db.read('workspaces_deliveries').where({ subscriber_key: key }).max({ seq: 'seq' }).first())!.seq));
    await kit.publish({ title: 'The day after', places: ['smithville,missouri'] });
    await kit.pass(24 * 3600);
    expect(await mailbox.mailTo('dee@example.org', 'The day after')).to.contain('Subject: The day after');
  });

  it('writes mails and pages in the language of the member, and mails nothing about muted watches', async () => {
    const { id, sign_in_link: link } = await kit.run('account create', { name: 'Gus', plan: 'team', role: 'user', email: 'gus@example.org' });
    const { key, workspace_id: own } = await kit.run('key create', { account: id });
    const reader = pageReader(kit);
    await reader.follow(link);
    const home = `/workspaces/${own}`;
    expect((await reader.post(`/es${home}/watches/settings`, { mail: 'yes', digest_hour: '7', time_zone: 'UTC', language: 'es' })).status).to.equal(303);
    const create = async (target: object, delivery: string) => expect((await kit.as(key, 'POST', `/api${home}/watches`, { target, delivery })).status).to.equal(201);
    await create({ type: 'query', query: { places: ['smithville,missouri'], issues: ['housing_affordability'], signal_types: ['vote'] } }, 'digest');
    await create({ type: 'issue_area', id: 'housing-and-the-built-environment' }, 'digest');
    await create({ type: 'issue_area', id: 'public_transit' }, 'muted');
    await kit.publish({ title: 'Rents', type: 'vote', places: ['smithville,missouri'], issues: ['housing_affordability'] }, { title: 'Buses', issues: ['public_transit'] });
    await kit.pass(24 * 3600);
    const mail = await mailbox.mailTo('gus@example.org', 'Rents');
    expect(mail).to.contain(['señales con Smithville, MO · Vivienda asequible · vote', 'una vez al día']).and.to.not.contain('Housing Affordability').and.to.not.contain('Buses');
    expect(sent('Buses')).to.equal([]);
    const stop = new URL(/List-Unsubscribe:\s*<([^>]*)>/.exec(mail)![1]!);
    expect((await kit.request('GET', stop.pathname + stop.search, { headers: { accept: 'text/html' } })).text).to.contain('Dejar de recibir correos');
    expect((await kit.request('POST', stop.pathname + stop.search, { payload: 'List-Unsubscribe=One-Click', headers: FORM })).status).to.equal(200);
    const page = (await reader.get(`/es${home}/watches`)).text;
    expect(page).to.contain(['Smithville, MO · Vivienda asequible · vote', '<h3>Vivienda y entorno construido</h3>', 'Silenciado']).and.to.not.contain('Housing').and.to.not.contain('ya no existe');
    expect((await reader.get(`${home}/watches`)).text).to.contain(['Smithville, MO · Housing Affordability · vote', '<h3>Housing and the Built Environment</h3>', 'Muted']);
    const digest = (await reader.get(`/es${home}/digest`)).text;
    expect(digest).to.contain(['Rents', 'Vivienda asequible']).and.to.not.contain('Buses').and.to.not.contain('Housing Affordability');
  });

  it('goes on after the clock was a year ahead for a time', async () => {
    const [eve, fay] = [await kit.person({ email: 'eve@example.org' }), await kit.person({ email: 'fay@example.org' })];
    await watch(eve, 'gladstone,missouri', 'immediate');
    await watch(fay, 'gladstone,missouri', 'digest');
    const there = { places: ['gladstone,missouri'] };
    await kit.pass(365 * 86_400);
    await kit.publish({ title: 'In the future', ...there });
    await kit.pass(86_400);
    for (const address of ['eve', 'fay']) await mailbox.mailTo(`${address}@example.org`, 'In the future');
    await kit.pass(-366 * 86_400);
    await kit.publish({ title: 'Back again', ...there });
    await kit.pass(2 * 86_400);
    for (const address of ['eve', 'fay']) expect(await mailbox.mailTo(`${address}@example.org`, 'Back again'), address).to.contain('Subject: Back again');
  });
});
