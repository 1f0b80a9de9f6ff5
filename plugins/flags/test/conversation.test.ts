import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin, type Caller } from 'civic';
import { stoppedClock, testDatabases, testServer, type TestServer } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const reviewer: Partial<Caller> = { account_id: '01890000-0000-7000-8000-00000000dead', role: 'reviewer', scope: ['flags:review', 'entities:write'] };

const observer = (events: string[]) => definePlugin({
  name: 'observer', summary: 'Records events for tests', needs: ['flags'],
  register(_server, civic) { for (const name of ['flags.replied', 'flags.reopened'] as const) civic.watch(name, ({ payload }) => { events.push(`${name} ${payload.status} ${payload.is_suspected}`); }); },
});

for (const database of testDatabases()) {
  describe(`Questions about a flag on ${database}`, () => {
    let kit: TestServer;
    let actor: any;
    const events: string[] = [];

    before(async () => {
      kit = await testServer({ database, clock: stoppedClock('2026-03-01T12:00:00.000Z'), plugins: ['directory', 'site', 'flags', 'firehose', observer(events)], config: { plugins: { firehose: { anonymous: true } } } });
      actor = (await kit.request('POST', '/api/entities', {
        payload: { type: 'organization', visibility: 'public', sources: [{ local_id: 's', url: 'https://example.org/' }], claims: [{ property: 'name', value: 'Tenants Union', source_local_id: 's' }] }, as: reviewer,
      })).body;
    });
    after(() => kit.close());

    const post = (path: string, payload: object, as?: Partial<Caller>) => kit.request('POST', path, { payload, ...(as && { as }) });
    const flag = async (reason = 'The office moved.') => (await post('/api/entity-flags', { entity_id: actor.id, reason, flag_type: 'stale' })).body;
    const ask = (id: string, text = 'Where to?', as: Partial<Caller> = reviewer) => post(`/api/flags/${id}/messages`, { text }, as);
    const reply = (receipt: string, text = 'To 5 Main Street.') => post(`/api/flags/receipts/${receipt}/messages`, { text });
    const reopen = (receipt: string, text = 'It still has the old address.') => post(`/api/flags/receipts/${receipt}/reopen`, { text });
    const messages = async (receipt: string) => (await kit.request('GET', `/api/flags/receipts/${receipt}/messages`)).body;
    const decide = (id: string, status: string) => kit.request('PATCH', `/api/flags/${id}`, { payload: { status }, as: reviewer });
    const reviewed = async (id: string) => (await kit.request('GET', '/api/flags', { as: reviewer })).body.data.find((one: any) => one.id === id);
    const form = (path: string, fields: Record<string, string>) => kit.request('POST', path, { payload: new URLSearchParams(fields).toString(), headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' } });
    const open = async (path: string) => (await kit.request('GET', path, { headers: { accept: 'text/html' } })).text;
    const openFlags = async () => (await kit.request('GET', `/api/entities/${actor.id}`)).body.flags.open;
    async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
      for (let tries = 0; tries < 200; tries++) {
        if (await isDone()) return;
        await sleep(50);
      }
      throw new Error(`Waited in vain for: ${isDone}, ${events.join()}`);
    }

    it('are asked by reviewers, and replied to by the holder of the receipt; replies are for reviewers only', async () => {
      const { id, receipt } = await flag();
      expect((await reply(receipt)).body).to.include({ status: 409, code: 'flag_not_open' });
      const asked = await ask(id);
      expect([asked.status, asked.body.messages[0].text, asked.body.reporter_email]).to.equal([201, 'Where to?', null]);
      expect((await reply(receipt.toLowerCase())).body).to.equal({ id, flag_type: 'stale', status: 'open', created_at: '2026-03-01T12:00:00.000Z', decided_at: null });
      expect(await messages(receipt)).to.equal({
        data: [{ kind: 'question', text: 'Where to?', at: '2026-03-01T12:00:00.000Z' }, { kind: 'reply', text: null, at: '2026-03-01T12:00:00.000Z' }], can_reply: true, can_reopen: false,
      });
      expect((await reviewed(id)).messages.map(({ kind, text, suspicion }: any) => [kind, text, suspicion])).to.equal([['question', 'Where to?', null], ['reply', 'To 5 Main Street.', null]]);
      await until(() => events.includes('flags.replied open false'));
    });

    it('need a reviewer, a flag that is open and no spam, and a text; replies are limited', async () => {
      const { id, receipt } = await flag();
      for (const [as, status] of [[{ ...reviewer, role: 'user' }, 403], [{ ...reviewer, scope: [] }, 403]] as const) expect((await ask(id, 'x', as as Partial<Caller>)).status).to.equal(status);
      expect((await post(`/api/flags/${id}/messages`, { text: 'x' })).status).to.equal(401);
      for (const text of ['', ' ', 'x'.repeat(2001), 'a\u0000b']) expect((await ask(id, text)).status).to.equal(400);
      expect((await ask('01890000-0000-7000-8000-000000000001')).body.code).to.equal('unknown_flag');
      expect((await reply('AAAAA-AAAAA-AAAAA-AAAAA-AAAAA')).body.code).to.equal('unknown_receipt');
      const spam = await flag('[url]x[/url]');
      expect((await ask(spam.id)).body).to.include({ code: 'flag_not_open', detail: 'The flag is suspected spam, whose reporter gets no mail: clear it first.' });
      await ask(id);
      await reply(receipt, '<a href="x">pills</a>');
      expect((await reviewed(id)).messages[1].suspicion).to.equal('markup');
      for (let count = 1; count < 10; count++) expect((await reply(receipt)).status).to.equal(201);
      expect((await reply(receipt)).body.code).to.equal('flag_not_open');
      await decide(id, 'dismissed');
      expect((await ask(id)).body.code).to.equal('flag_not_open');
    });

    it('take a reply on the page of the receipt, without an account and without JavaScript', async () => {
      const { id, receipt } = await flag();
      expect(await open(`/report/receipts/${receipt}`)).to.not.contain('Your reply');
      await ask(id, 'Which <street>?\nAnd since when?');
      expect(await open(`/report/receipts/${receipt}`)).to.contain(['Question of a reviewer', 'Which &lt;street&gt;?', `action="/report/receipts/${receipt}/reply"`]);
      const empty = await form(`/report/receipts/${receipt}/reply`, { text: ' ' });
      expect([empty.status, empty.text.includes('id="reply-error"')]).to.equal([400, true]);
      const sent = await form(`/es/report/receipts/${receipt}/reply`, { text: 'Main Street', website: 'https://spam.example' });
      expect([sent.status, sent.headers.location]).to.equal([303, `/es/report/receipts/${receipt}?done=replied`]);
      expect(await open(String(sent.headers.location))).to.contain(['La respuesta se ha enviado', 'Usted respondió']).and.not.contain('Main Street');
      expect((await reviewed(id)).messages[1]).to.include({ text: 'Main Street', suspicion: 'hidden_field' });
      await decide(id, 'dismissed');
      const late = await form(`/report/receipts/${receipt}/reply`, { text: 'Too late' });
      expect([late.status, late.text.includes('has changed in the meantime')]).to.equal([409, true]);
      const foreign = await kit.request('POST', `/report/receipts/${receipt}/reopen`, { payload: 'text=x', headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'cross-site' } });
      expect(foreign.status).to.equal(403);
    });

    it('are not needed to reopen a flag that was dismissed or resolved, once', async () => {
      const { id, receipt } = await flag();
      expect((await reopen(receipt)).body.code).to.equal('flag_not_closed');
      await decide(id, 'accepted');
      expect((await reopen(receipt)).body.code).to.equal('flag_not_closed');
      await decide(id, 'resolved');
      const signals = async () => (await kit.request('GET', '/api/firehose?visibility=public&signal_type=flag_resolved')).body.signals.length;
      await until(async () => await signals() === 1);
      const before = await openFlags();
      const reopened = await reopen(receipt);
      expect(reopened.body).to.equal({ id, flag_type: 'stale', status: 'open', created_at: '2026-03-01T12:00:00.000Z', decided_at: null });
      expect(await openFlags()).to.equal(before + 1);
      await until(async () => await signals() === 0);
      expect((await reviewed(id)).messages.at(-1)).to.include({ kind: 'reopening', text: 'It still has the old address.' });
      await until(() => events.includes('flags.reopened open false'));
      await decide(id, 'dismissed');
      expect((await reopen(receipt)).body).to.include({ code: 'flag_not_closed', detail: 'The report is dismissed and was reopened before.' });
    });

    it('are not needed to reopen a flag at the same time: only the first request does', async () => {
      const { id, receipt } = await flag();
      await decide(id, 'dismissed');
      const page = await open(`/report/receipts/${receipt}`);
      expect(page).to.contain(['Do you disagree?', `action="/report/receipts/${receipt}/reopen"`]);
      const sent = await Promise.all(Array.from({ length: 5 }, () => form(`/report/receipts/${receipt}/reopen`, { text: 'Look again' })));
      expect(sent.map(({ status }) => status).sort()).to.equal([303, 409, 409, 409, 409]);
      expect(await open(`/report/receipts/${receipt}?done=reopened`)).to.contain(['The report is open again.', 'You reopened the report', 'Waiting for a reviewer']).and.not.contain('Look again');
    });

    it('are not needed to reopen suspected spam, which stays suspected', async () => {
      const { id, receipt } = await flag('[url]x[/url]');
      await decide(id, 'dismissed');
      const before = await openFlags();
      expect((await reopen(receipt)).status).to.equal(200);
      expect([(await reviewed(id)).suspicion, await openFlags()]).to.equal(['markup', before]);
    });
  });
}
