import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Caller } from 'civic';
import { stoppedClock, testDatabases, testServer, type TestServer } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { callCommand } from '../../plugins/accounts/test/kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
let reports = 0;
let people = 0;
/** A hold also hides equal contacts of people who are entered meanwhile, so each has its own. */
const emailFor = (name: string) => `${name.toLowerCase().replaceAll(' ', '.')}@private.example`;
const REVIEWER: Partial<Caller> = { account_id: '01890000-0000-7000-8000-00000000dead', role: 'reviewer', scope: ['flags:review', 'entities:write'] };

for (const database of testDatabases()) {
  describe(`Privacy flags on ${database}`, { timeout: 60_000 }, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let kit: TestServer;

    before(async () => {
      kit = await testServer({ database, clock, plugins: ['directory', 'accounts', 'site', 'flags'], config: { http: { trusted_proxies: ['127.0.0.1'] }, jobs: { poll_seconds: 1 }, plugins: { flags: { max_holds_per_day: 2 } } } });
    });
    after(() => kit.close());

    const create = async (name: string, type = 'person') => (await kit.request('POST', '/api/entities', {
      payload: {
        type, visibility: 'public', sources: [{ local_id: 's', url: `https://example.org/${encodeURIComponent(name)}`, kind: 'org_website' }],
        claims: [{ property: 'name', value: name, source_local_id: 's' }, { property: 'email', value: emailFor(name), source_local_id: 's' }, { property: 'phone', value: `816-555-${1000 + people++}`, source_local_id: 's' }, { property: 'website', value: 'https://ada.example/', source_local_id: 's' }],
      }, as: REVIEWER,
    })).body;
    const flag = async (actor: any, more: object = {}, as: Partial<Caller> = { account_id: `01890000-0000-7000-8000-${String(Math.random()).slice(2, 14).padEnd(12, '0')}` }) => {
      const made = await kit.request('POST', '/api/entity-flags', { payload: { entity_id: actor.id, reason: `Private, says reader ${reports++}`, flag_type: 'privacy', ...more }, as });
      expect(made.status, made.text).to.equal(201);
      return made.body;
    };
    const decide = async (id: string, status: string) => { expect((await kit.request('PATCH', `/api/flags/${id}`, { payload: { status }, as: REVIEWER })).status).to.equal(200); };
    const emailOf = async (actor: any) => (await kit.request('GET', `/api/entities/${actor.id}`)).body.contact.email;
    const isHeld = async (actor: any) => await emailOf(actor) === null;

    it('hide the e-mail and phone of a person until they are dismissed, and are audited', async () => {
      const ada = await create('Ada One');
      const { id } = await flag(ada);
      const held = (await kit.request('GET', `/api/entities/${ada.id}`)).body;
      expect(held.contact).to.include({ email: null, phone: null, website: 'https://ada.example/' });
      const page = (await kit.request('GET', `/actors/${ada.id}`, { headers: { accept: 'text/html' } })).text;
      expect(page).to.contain('Ada One').and.not.contain('@private.example').and.not.contain('816-555-');
      await decide(id, 'dismissed');
      expect(await emailOf(ada)).to.equal(emailFor('Ada One'));
      const lines: string[] = await callCommand(kit, 'audit export');
      expect(lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind.startsWith('flags_h')).map(({ kind, subject }) => [kind, subject])).to.equal([['flags_held', id], ['flags_hold_ended', id]]);
      await flag(ada);
      expect(await isHeld(ada), 'not again for 30 days').to.be.false();
      clock.advance(31 * DAY);
      const { id: later } = await flag(ada);
      expect(await isHeld(ada)).to.be.true();
      await decide(later, 'accepted');
      expect(await isHeld(ada), 'while the correction is under way').to.be.true();
      await decide(later, 'resolved');
      expect(await isHeld(ada)).to.be.false();
    });

    it('are audited with the other entries whose contacts they hide', async () => {
      const [ada, twin] = [await create('Ada Eleven'), await create('ada eleven')];
      const { id } = await flag(ada);
      expect([await isHeld(ada), await isHeld(twin)]).to.equal([true, true]);
      const entries = (await callCommand(kit, 'audit export')).map((line: string) => JSON.parse(line)).filter(({ kind, subject }: any) => kind === 'flags_held' && subject === id);
      expect(entries.map(({ detail: { actor, others } }: any) => [actor, others])).to.equal([[ada.id, [twin.id]]]);
      await decide(id, 'dismissed');
    });

    it('hide nothing of organizations, of other statements, of other types, or when they may be spam', async () => {
      const office = await create('Ada Office', 'organization');
      await flag(office);
      const ada = await create('Ada Two');
      await flag(ada, { claim_id: ada.claims.find(({ property }: any) => property === 'website').id });
      await flag(ada, { flag_type: 'incorrect' });
      await flag(ada, { reason: '[url]x[/url]' });
      expect([await isHeld(office), await isHeld(ada)]).to.equal([false, false]);
      await flag(ada, { claim_id: ada.claims.find(({ property }: any) => property === 'phone').id });
      expect(await isHeld(ada)).to.be.true();
    });

    it('of one account or client address hide the contacts of few people a day', async () => {
      const people = [await create('Ada Three'), await create('Ada Four'), await create('Ada Five')];
      const as = { account_id: '01890000-0000-7000-8000-000000000077' };
      for (const one of people) await flag(one, {}, as);
      expect(await Promise.all(people.map(isHeld))).to.equal([true, true, false]);
      const others = [await create('Ada Six'), await create('Ada Seven'), await create('Ada Eight'), await create('Ada Nine')];
      const addresses = ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:1::1'];
      for (const [index, one] of others.entries()) {
        const sent = await kit.request('POST', '/report', { payload: new URLSearchParams({ entry: one.id, kind: 'privacy', words: `Private, says reader ${reports++}` }).toString(), headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': addresses[index]! } });
        expect(sent.status).to.equal(303);
      }
      expect(await Promise.all(others.map(isHeld))).to.equal([true, true, false, true]);
    });

    it('hide contacts for 72 hours when no reviewer decides', async () => {
      const ada = await create('Ada Ten');
      const { id } = await flag(ada);
      clock.advance(71 * HOUR);
      await sleep(1500);
      expect(await isHeld(ada)).to.be.true();
      clock.advance(HOUR + 120_000);
      for (let tries = 0; await isHeld(ada) && tries < 200; tries++) await sleep(100);
      expect(await emailOf(ada)).to.equal(emailFor('Ada Ten'));
      const expired = async () => (await callCommand(kit, 'audit export')).map((line: string) => JSON.parse(line)).filter(({ kind, subject }: any) => kind === 'flags_hold_expired' && subject === id);
      for (let tries = 0; (await expired()).length === 0 && tries < 100; tries++) await sleep(100);
      expect(await expired()).to.have.length(1);
      await decide(id, 'dismissed');
      expect((await expired()).length, 'once').to.equal(1);
    });
  });
}
