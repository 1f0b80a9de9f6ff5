import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from 'civic/testing';
import type { Person } from './people.ts';
import { openEvents, openSocket, readersKit, refusal, titles, type ReadersKit } from './readers.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SESSIONS = '/api/firehose/sessions';
const HOUR = 3_600_000;
const FOREIGN = { origin: 'https://elsewhere.example' };

for (const database of testDatabases()) {
  describe(`Tickets on ${database}`, { timeout: 60_000 }, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let kit: ReadersKit;
    let ada: Person;
    let session: string;
    before(async () => {
      kit = await readersKit({ database, clock });
      ada = await kit.person();
      session = (await kit.session(ada)).id;
    });
    after(() => kit.close());

    const events = (ticket: string, id = session, headers: Record<string, string> = {}) => openEvents(kit, `${SESSIONS}/${id}/events?ticket=${ticket}`, headers);
    const socket = (ticket: string, id = session, options = {}) => openSocket(kit, id, { query: `?ticket=${ticket}`, ...options });
    /** The status of a stream that is opened and let go. */
    const tried = async (ticket: string, id = session) => {
      const stream = await events(ticket, id);
      stream.close();
      return stream.status;
    };

    it('are made for a minute, and not kept by any cache', async () => {
      const { status, body, headers } = await kit.as(ada, 'POST', `${SESSIONS}/${session}/tickets`);
      expect([status, body.expires_at, headers['cache-control']]).to.equal([201, '2026-03-01T12:01:00.000Z', 'no-store']);
      expect(body.ticket).to.match(/^fht_[\w-]{43}$/);
    });

    it('are never given twice for one Idempotency-Key', async () => {
      const again = () => kit.as(ada, 'POST', `${SESSIONS}/${session}/tickets`, { headers: { 'idempotency-key': 'a-ticket' } });
      expect((await again()).status).to.equal(201);
      expect((await again()).body.code).to.equal('secret_shown_once');
    });

    it('let a page of any site into the socket, once', async () => {
      const ticket = await kit.ticket(ada, session);
      const first = await socket(ticket, session, FOREIGN);
      await first.has(1, 'firehose.ready');
      const { status, code } = await refusal(socket(ticket));
      expect([status, code]).to.equal([401, 'invalid_credentials']);
      expect(await tried(ticket), 'nor is it good for events then').to.equal(401);
      first.close();
    });

    it('let only the first of many at once into the socket', async () => {
      const ticket = await kit.ticket(ada, session);
      const opened = await Promise.allSettled(Array.from({ length: 5 }, () => socket(ticket)));
      const inside = opened.filter((one) => one.status === 'fulfilled');
      expect(inside).to.have.length(1);
      inside[0]!.value.close();
    });

    it('are not used up by a handshake that fails for another reason', async () => {
      const ticket = await kit.ticket(ada, session);
      expect((await refusal(socket(ticket, session, { protocols: ['other'] }))).code).to.equal('subprotocol_required');
      (await socket(ticket)).close();
    });

    it('let a page of any site read the events, and reconnect, which a key does not', async () => {
      const ticket = await kit.ticket(ada, session);
      const stream = await events(ticket, session, FOREIGN);
      expect(stream.headers).to.include({ 'access-control-allow-origin': '*' });
      await kit.publish('Told');
      const [told] = await stream.has(1);
      stream.close();
      clock.advance(2 * HOUR);
      const again = await events(ticket, session, { ...FOREIGN, 'last-event-id': told.event_id });
      await kit.publish('Later');
      expect(titles(await again.has(1))).to.equal(['Later']);
      again.close();
      expect((await refusal(socket(ticket))).code, 'a bound one opens no socket').to.equal('invalid_credentials');
      const keyed = await openEvents(kit, `${SESSIONS}/${session}/events`, { ...FOREIGN, 'x-api-key': ada.key });
      expect([keyed.status, keyed.headers['access-control-allow-origin']]).to.equal([200, undefined]);
      keyed.close();
    });

    it('end a minute after they were made, or 12 hours after their first use', async () => {
      const [unused, used] = [await kit.ticket(ada, session), await kit.ticket(ada, session)];
      expect(await tried(used)).to.equal(200);
      clock.advance(61_000);
      expect(await tried(unused)).to.equal(401);
      expect((await refusal(socket(unused))).status).to.equal(401);
      clock.advance(11 * HOUR);
      expect(await tried(used)).to.equal(200);
      clock.advance(HOUR);
      expect(await tried(used)).to.equal(401);
    });

    it('are for one session, and for nothing but its events and socket', async () => {
      const other = (await kit.session(ada)).id;
      const ticket = await kit.ticket(ada, session);
      expect(await tried(ticket, other)).to.equal(401);
      expect((await refusal(socket(ticket, other))).status).to.equal(401);
      for (const path of [`${SESSIONS}/${session}`, `${SESSIONS}/${session}/snapshot`, SESSIONS, '/api/firehose', '/api/workspaces']) {
        const { status, body } = await kit.request('GET', `${path}?ticket=${ticket}`);
        expect([status, body.code], path).to.equal([401, 'authentication_required']);
      }
      expect((await kit.request('POST', `${SESSIONS}/${session}/tickets?ticket=${ticket}`)).status).to.equal(401);
      expect(await tried(ticket), 'it is still good where it belongs').to.equal(200);
    });

    it('are refused when made up, mistyped, given twice or beside a key', async () => {
      const ticket = await kit.ticket(ada, session);
      for (const wrong of ['', 'fht_', ticket.slice(0, -1), `${ticket}x`, ticket.toUpperCase()]) expect(await tried(wrong), wrong).to.equal(401);
      expect(await tried(`${ticket}&ticket=${ticket}`)).to.equal(401);
      const both = await events(ticket, session, { 'x-api-key': ada.key });
      expect([both.status, both.problem.code]).to.equal([400, 'two_credentials']);
    });

    it('are worth nothing once their key is revoked, their account disabled, their plan lapsed or their session gone', async () => {
      for (const [name, end] of [
        ['revoked', (person: Person) => kit.run('key revoke', {}, [person.key_id])],
        ['disabled', (person: Person) => kit.run('account disable', { account: person.id })],
        ['plan', (person: Person) => kit.run('account set-plan', { account: person.id, plan: 'free' })],
        ['deleted', (person: Person, id: string) => kit.as(person, 'DELETE', `${SESSIONS}/${id}`)],
      ] as const) {
        const person = await kit.person();
        const { id } = await kit.session(person);
        const [bound, fresh] = [await kit.ticket(person, id), await kit.ticket(person, id)];
        const stream = await events(bound, id);
        await stream.has(1, 'firehose.ready');
        await end(person, id);
        await stream.ended;
        expect([await tried(bound, id), await tried(fresh, id)], name).to.equal([401, 401]);
      }
    });

    it('are not for other workspaces to make', async () => {
      const stranger = await kit.person();
      expect((await kit.as(stranger, 'POST', `${SESSIONS}/${session}/tickets`)).body.code).to.equal('unknown_session');
    });
  });
}

describe('Without accounts', { timeout: 60_000 }, () => {
  it('no ticket is accepted, and sessions report that tickets are not available', async () => {
    const { testServer } = await import('civic/testing');
    const { default: firehose } = await import('../index.ts');
    const kit = await testServer({ plugins: [firehose], callers: false });
    const { status, body } = await kit.request('GET', `${SESSIONS}/fhs_x/events?ticket=fht_x`);
    expect([status, body.code]).to.equal([401, 'no_accounts']);
    await kit.close();
  });
});
