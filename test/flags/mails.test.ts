import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Caller } from 'civic';
import { stoppedClock, testDatabases, testServer, type TestServer } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { startMailbox, type Mailbox } from '../../plugins/accounts/test/mailbox.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MINUTE = 60_000;
const DAY = 86_400_000;
const REVIEWER: Partial<Caller> = { account_id: '01890000-0000-7000-8000-00000000dead', role: 'reviewer', scope: ['flags:review', 'entities:write'] };

for (const database of testDatabases()) {
  describe(`Mails to reporters on ${database}`, { timeout: 120_000 }, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let box: Mailbox;
    let kit: TestServer;
    let actor: any;

    before(async () => {
      box = await startMailbox();
      kit = await testServer({
        database, clock, plugins: ['directory', 'accounts', 'site', 'flags'],
        config: { name: 'River List', public_url: 'https://civic.example', jobs: { poll_seconds: 1 }, plugins: { accounts: { mail: { smtp_url: box.url } }, flags: { max_mails_per_hour: 2, email_days: 10 } } },
      });
      actor = (await kit.request('POST', '/api/entities', {
        payload: { type: 'organization', visibility: 'public', sources: [{ local_id: 's', url: 'https://example.org/' }], claims: [{ property: 'name', value: 'Tenants Union', source_local_id: 's' }] },
        as: REVIEWER,
      })).body;
    });
    after(async () => {
      await kit.close();
      box.close();
    });

    const form = (path: string, fields: Record<string, string>) => kit.request('POST', path, { payload: new URLSearchParams(fields).toString(), headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' } });
    const open = (path: string) => kit.request('GET', path, { headers: { accept: 'text/html' } });
    const latest = async () => (await kit.request('GET', '/api/flags?limit=1', { as: REVIEWER })).body.data[0];
    const decide = (id: string, status: string) => kit.request('PATCH', `/api/flags/${id}`, { payload: { status, note: 'A note for reviewers' }, as: REVIEWER });
    async function report(email: string, words: string, path = '/report', more = {}) {
      const sent = await form(path, { entry: actor.id, kind: 'stale', words, email, ...more });
      expect(sent.status, sent.text).to.equal(303);
      return { ...await latest(), receipt: /receipts\/([^?]+)/.exec(String(sent.headers.location))![1]! };
    }
    const mailsTo = (address: string) => box.mails.filter((mail) => mail.includes(`To: ${address}`));
    /** Long enough for events and jobs that are due. */
    const settle = () => sleep(2500);

    it('carry the receipt in the language of the report, and nothing that the reporter wrote', async () => {
      const { receipt } = await report('ana@example.org', 'Se mudaron a otra calle.', '/es/report');
      const mail = await box.mailTo('ana@example.org', receipt);
      expect(mail).to.contain(['Content-Language: es', 'Gracias por su aviso sobre Tenants Union', `https://civic.example/es/report/receipts/${receipt}`, 'se borra 10 días después de la decisión']);
      expect(mail).to.not.contain('otra calle');
    });

    it('quote the report once its decision is five minutes old', async () => {
      const { id, receipt } = await report('ben@example.org', 'The office moved.\nSee https://spam.example/x for more.\nOr spam.example, Buy.SPAM.example/now?x=1, me@spam.example; 5.30 p.m., e.g. in St. Louis.');
      await box.mailTo('ben@example.org', receipt);
      await decide(id, 'accepted');
      clock.advance(4 * MINUTE);
      await decide(id, 'resolved');
      await settle();
      expect(mailsTo('ben@example.org')).to.have.length(1);
      clock.advance(5 * MINUTE);
      const mail = await box.mailTo('ben@example.org', 'Decision on your report about Tenants Union');
      expect(mail).to.contain(['A reviewer of River List checked your report about Tenants Union and corrected it.', 'You wrote on Mar 1, 2026:', '> The office moved.\r\n> See […] for more.\r\n> Or […], […] […]; 5.30 p.m., e.g. in St. Louis.', `/report/receipts/${receipt}`]);
      expect(mail).to.not.contain('A note for reviewers').and.not.match(/spam\.example/i);
      await settle();
      expect(mailsTo('ben@example.org'), 'none about the first decision').to.have.length(2);
    });

    it('are not sent for suspected spam until it is accepted', async () => {
      const { id } = await report('cat@example.org', 'Good pills: [url]x[/url]');
      const { id: other } = await report('cat@example.org', 'Gone', '/report', { website: 'https://spam.example' });
      await decide(other, 'dismissed');
      clock.advance(6 * MINUTE);
      await settle();
      expect(mailsTo('cat@example.org')).to.equal([]);
      await decide(id, 'accepted');
      await settle();
      clock.advance(6 * MINUTE);
      await box.mailTo('cat@example.org', 'The correction is under way');
    });

    it('are few to one address: further receipts are dropped, and decisions wait', async () => {
      const sent = [];
      for (const words of ['One', 'Two', 'Three', 'Four']) sent.push(await report('DAN@example.org', words));
      await settle();
      expect(mailsTo('DAN@example.org')).to.have.length(2);
      await decide(sent[3].id, 'dismissed');
      await settle();
      clock.advance(6 * MINUTE);
      await settle();
      expect(mailsTo('DAN@example.org')).to.have.length(2);
      clock.advance(61 * MINUTE);
      expect(await box.mailTo('DAN@example.org', '> Four')).to.contain('changed nothing');
    });

    it('end when the reporter deletes the address on the page of the receipt', async () => {
      const { id, receipt } = await report('eva@example.org', 'Closed for good');
      await box.mailTo('eva@example.org', receipt);
      expect((await open(`/report/receipts/${receipt}`)).text).to.contain('Delete my e-mail address').and.not.contain('eva@example.org');
      const deleted = await form(`/report/receipts/${receipt}/forget`, {});
      expect([deleted.status, deleted.headers.location]).to.equal([303, `/report/receipts/${receipt}?done=forgotten`]);
      expect((await open(String(deleted.headers.location))).text).to.contain('The e-mail address was deleted').and.not.contain('Delete my');
      await decide(id, 'dismissed');
      await settle();
      clock.advance(6 * MINUTE);
      await settle();
      expect(mailsTo('eva@example.org')).to.have.length(1);
    });

    it('name a question, which the reporter answers on the page of the receipt', async () => {
      const { id, receipt } = await report('gil@example.org', 'The street is wrong', '/es/report');
      await box.mailTo('gil@example.org', receipt);
      const asked = await kit.request('POST', `/api/flags/${id}/messages`, { payload: { text: 'Which <street>?' }, as: REVIEWER });
      expect(asked.status, asked.text).to.equal(201);
      expect(asked.body).to.include({ reporter_email: 'gil@example.org' });
      const mail = await box.mailTo('gil@example.org', 'Pregunta sobre su aviso acerca de Tenants Union');
      expect(mail).to.contain(`/report/receipts/${receipt}`).and.not.contain('Which');
      expect((await open(`/report/receipts/${receipt}`)).text).to.contain(['Question of a reviewer', 'Which &lt;street&gt;?', 'Your reply']);
    });

    it('have an address that is deleted some days after the decision', async () => {
      const decided = await report('fay@example.org', 'Wrong number');
      const waiting = await report('fay@example.org', 'Wrong street');
      await decide(decided.id, 'dismissed');
      const hasEmail = async ({ receipt }: { receipt: string }) => (await open(`/report/receipts/${receipt}`)).text.includes('Delete my e-mail address');
      clock.advance(9 * DAY);
      await settle();
      expect([await hasEmail(decided), await hasEmail(waiting)]).to.equal([true, true]);
      clock.advance(2 * DAY);
      for (let tries = 0; await hasEmail(decided) && tries < 100; tries++) await sleep(100);
      expect([await hasEmail(decided), await hasEmail(waiting)]).to.equal([false, true]);
    });

    it('are optional, and a wrong address is rejected', async () => {
      expect((await open(`/report?entry=${actor.id}`)).text).to.contain(['name="email" type="email"', 'it is deleted 10 days after the decision']);
      const wrong = await form('/report', { entry: actor.id, kind: 'stale', words: 'Gone', email: 'a@example.org, b@example.org' });
      expect([wrong.status, wrong.text.includes('This is no e-mail address.')]).to.equal([400, true]);
      expect((await form('/report', { entry: actor.id, kind: 'stale', words: 'Gone', email: '' })).status).to.equal(303);
    });
  });
}

describe('The form for reports without a mail server', () => {
  it('does not ask for an address, and stores none', async () => {
    const kit = await testServer({ plugins: ['directory', 'accounts', 'site', 'flags'] });
    const actor = (await kit.request('POST', '/api/entities', {
      payload: { type: 'organization', visibility: 'public', sources: [{ local_id: 's', url: 'https://example.org/' }], claims: [{ property: 'name', value: 'Union', source_local_id: 's' }] }, as: REVIEWER,
    })).body;
    expect((await kit.request('GET', `/report?entry=${actor.id}`, { headers: { accept: 'text/html' } })).text).to.not.contain('type="email"');
    const sent = await kit.request('POST', '/report', { payload: new URLSearchParams({ entry: actor.id, kind: 'stale', words: 'Gone', email: 'ana@example.org' }).toString(), headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' } });
    expect((await kit.request('GET', String(sent.headers.location), { headers: { accept: 'text/html' } })).text).to.not.contain('Delete my e-mail address');
    await kit.close();
  });
});
