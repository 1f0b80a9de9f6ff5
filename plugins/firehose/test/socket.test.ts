import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin, Joi, upgradeOnly } from 'civic';
import { slowness, stoppedClock, testDatabases, testServer, type TestServer } from 'civic/testing';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { createSockets } from '../sessions/socket.ts';
import { joinWorkspace, type Person } from './people.ts';
import { openEvents, openSocket, readersKit, refusal, soon, SUBPROTOCOL, titles, type ReadersKit, type SocketReading } from './readers.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SESSIONS = '/api/firehose/sessions';

/** A handshake by hand, for what no client library would do. */
async function rawSocket(kit: TestServer, path: string, key?: string): Promise<Socket> {
  const { hostname, port } = new URL(kit.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write([
    `GET ${path} HTTP/1.1`, `Host: ${hostname}:${port}`, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`, `Sec-WebSocket-Protocol: ${SUBPROTOCOL}`, ...(key ? [`X-API-Key: ${key}`] : []), '', '',
  ].join('\r\n'));
  const [first] = (await once(socket, 'data')) as [Buffer];
  if (!String(first).startsWith('HTTP/1.1 101 ')) throw new Error(String(first));
  return socket;
}

for (const database of testDatabases()) {
  describe(`Session sockets on ${database}`, { timeout: 60_000 }, () => {
    let kit: ReadersKit;
    let ada: Person;
    before(async () => {
      kit = await readersKit({ database, plugins: ['ratelimit'] });
      ada = await kit.person();
    });
    after(() => kit.close());

    const as = ({ key }: Person, more: Record<string, string> = {}) => ({ headers: { 'x-api-key': key, ...more } });
    const open = async (person: Person, id: string, query = '') => openSocket(kit, id, { ...as(person), query });

    it('speak the subprotocol, tell with the 101 what every answer tells, and send the payloads of the stream', async () => {
      const { id } = await kit.session(ada);
      const socket = await openSocket(kit, id, as(ada, { 'x-request-id': 'socket-1' }));
      expect(socket.client.protocol).to.equal(SUBPROTOCOL);
      expect(socket.client.extensions).to.equal('');
      expect(socket.headers).to.include({ 'x-request-id': 'socket-1', 'x-content-type-options': 'nosniff' });
      expect(Number(socket.headers['ratelimit-remaining'])).to.be.above(0);
      expect(socket.headers['traceparent']).to.exist();
      const stream = await openEvents(kit, `${SESSIONS}/${id}/events`, as(ada).headers);
      await kit.publish('Both');
      const [[message], [event]] = await Promise.all([socket.has(1), stream.has(1)]) as [any[], any[]];
      expect(message).to.equal(event);
      const [ready] = await socket.has(1, 'firehose.ready');
      expect(ready).to.include({ session_id: id });
      expect(socket.messages.indexOf(ready)).to.equal(0);
      socket.close();
      stream.close();
    });

    it('are refused before the upgrade without the subprotocol, which is named', async () => {
      const { id } = await kit.session(ada);
      for (const protocols of [[], ['service.firehose.v2'], ['chat', 'mqtt']]) {
        const { status, code, detail, headers } = await refusal(openSocket(kit, id, { ...as(ada), protocols }));
        expect([status, code]).to.equal([400, 'subprotocol_required']);
        expect(detail).to.include(SUBPROTOCOL);
        expect(headers['content-type']).to.include('application/problem+json');
      }
      const second = await openSocket(kit, id, { ...as(ada), protocols: ['other', SUBPROTOCOL] });
      expect(second.client.protocol).to.equal(SUBPROTOCOL);
      second.close();
    });

    it('are rejected for callers who may not read the session', async () => {
      const { id } = await kit.session(ada);
      const stranger = await kit.person();
      const answers = [openSocket(kit, id), open(stranger, id), open(ada, 'fhs_none'), openSocket(kit, id, { headers: { 'x-api-key': 'civic_nonsense' } })];
      expect((await Promise.all(answers.map(refusal))).map(({ status, code }) => `${status} ${code}`)).to.equal(['401 authentication_required', '404 unknown_session', '404 unknown_session', '401 invalid_credentials']);
      const { status, code } = await refusal(open(ada, id, '?last_event_id=nonsense'));
      expect([status, code]).to.equal([400, 'invalid_event_id']);
    });

    it('answer 426 to a plain GET, and 400 to a broken handshake', async () => {
      const { id } = await kit.session(ada);
      const plain = await kit.as(ada, 'GET', `${SESSIONS}/${id}/socket`);
      expect([plain.status, plain.body.code, plain.headers['upgrade']]).to.equal([426, 'upgrade_required', 'websocket']);
      const handshake = { ...as(ada).headers, connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': randomBytes(16).toString('base64'), 'sec-websocket-version': '13', 'sec-websocket-protocol': SUBPROTOCOL };
      const broken = async (headers: Record<string, string>) => openEvents(kit, `${SESSIONS}/${id}/socket`, { ...handshake, ...headers });
      for (const [name, value] of [['sec-websocket-key', 'short'], ['sec-websocket-protocol', `${SUBPROTOCOL}, ${SUBPROTOCOL}`], ['sec-websocket-protocol', `${SUBPROTOCOL},a b`]] as const) {
        const { status, problem } = await broken({ [name]: value });
        expect([status, problem.code]).to.equal([400, 'invalid_header']);
      }
      const old = await broken({ 'sec-websocket-version': '7' });
      expect([old.status, old.problem.code, old.headers['sec-websocket-version']]).to.equal([426, 'upgrade_required', '13']);
    });

    it('are not for pages of other sites, which have no ticket', async () => {
      const { id } = await kit.session(ada);
      const { status, code } = await refusal(openSocket(kit, id, { ...as(ada), origin: 'https://elsewhere.example' }));
      expect([status, code]).to.equal([403, 'foreign_origin']);
      const own = await openSocket(kit, id, { ...as(ada), origin: kit.server.app.civic.publicUrl });
      own.close();
    });

    it('move the session by an ack, and by nothing else', async () => {
      const { id } = await kit.session(ada);
      const first = await open(ada, id);
      await kit.publish('A', 'B', 'C');
      const [a, b] = await first.has(3);
      first.close();
      await first.ended;
      const again = await open(ada, id);
      expect(titles(await again.has(3))).to.equal(['A', 'B', 'C']);
      again.client.send(JSON.stringify({ type: 'ack', event_id: b.event_id }));
      again.client.send(JSON.stringify({ type: 'ack', event_id: a.event_id }));
      again.client.send('{"type":"ping"}');
      await again.has(1, 'pong');
      again.close();
      const third = await open(ada, id);
      expect(titles(await third.has(1)), 'after the furthest ack').to.equal(['C']);
      expect(third.messages[0].resume).to.include({ requested: b.event_id, status: 'complete' });
      third.close();
      const stream = await openEvents(kit, `${SESSIONS}/${id}/events`, as(ada).headers);
      expect(titles(await stream.has(1))).to.equal(['C']);
      stream.close();
    });

    it('begin after the last ack, also while its position is being stored', async () => {
      const { id } = await kit.session(ada);
      const names = Array.from({ length: 20 }, (_, at) => `Signal ${at}`);
      await kit.publish(...names);
      for (const name of names) {
        const socket = await open(ada, id);
        const [next] = await socket.has(1);
        expect(next.signal.title).to.equal(name);
        socket.client.send(JSON.stringify({ type: 'ack', event_id: next.event_id }));
        socket.client.send('{"type":"ping"}');
        await socket.has(1, 'pong');
        socket.close();
      }
    });

    it('accept an ack of where they began, and close 1008 on one of what was not sent or is of another epoch', async () => {
      const { id } = await kit.session(ada);
      await kit.publish('Sent');
      const acked = async (idOf: (ready: any) => unknown) => {
        const socket = await open(ada, id);
        const [ready] = await socket.has(1, 'firehose.ready');
        await socket.has(1);
        socket.client.send(JSON.stringify({ type: 'ack', event_id: idOf(ready) }));
        socket.client.send('{"type":"ping"}');
        const result = await Promise.race([socket.ended.then(({ code }) => code), socket.has(1, 'pong').then(() => 'fine')]);
        socket.close();
        return result;
      };
      expect(await acked(({ event_id }) => event_id)).to.equal('fine');
      expect(await acked(({ last_event_id }) => `${last_event_id}0`)).to.equal(1008);
      expect(await acked(({ event_id }) => event_id.replace(/^\w+/, 'abcdefgh'))).to.equal(1008);
      expect(await acked(() => '0')).to.equal(1008);
      expect(await acked(() => 7)).to.equal(1008);
    });

    it('close 1008 on whatever else is said, 1009 on too much, and send nothing after', async () => {
      const { id } = await kit.session(ada);
      const said = async (message: string | Buffer) => {
        const socket = await open(ada, id);
        socket.client.send(message);
        const { code } = await soon(socket.ended);
        return code;
      };
      for (const message of ['hello', '{}', '[]', 'null', '{"type":"subscribe"}', '{"type":"ping","event_id":"x"}', '{"type":"ack"}', '{"type":"pong"}', Buffer.from('{"type":"ping"}')]) {
        expect(await said(message), String(message)).to.equal(1008);
      }
      expect(await said('x'.repeat(70_000))).to.equal(1009);
      expect((await kit.request('GET', '/health')).status).to.equal(200);
    });

    it('answer pings of the protocol, too', async () => {
      const { id } = await kit.session(ada);
      const socket = await open(ada, id);
      socket.client.ping('hello');
      const [data] = await soon(once(socket.client, 'pong'));
      expect(String(data)).to.equal('hello');
      socket.close();
      expect((await soon(socket.ended)).code).to.equal(1005);
    });

    it('end when the key is revoked, for that account alone', async () => {
      const [grace, other] = [await kit.person(), await kit.person()];
      const socket = await open(grace, (await kit.session(grace)).id);
      const stays = await open(other, (await kit.session(other)).id);
      await Promise.all([socket.has(1, 'firehose.ready'), stays.has(1, 'firehose.ready')]);
      await kit.run('key revoke', {}, [grace.key_id]);
      expect((await soon(socket.ended)).code).to.equal(1008);
      await kit.publish('Still here');
      await stays.has(1);
      expect(socket.messages.filter(({ type }) => type === 'firehose.signal')).to.equal([]);
      stays.close();
    });

    it('end also when the key is revoked while they are being opened', async () => {
      const opened = await Promise.all(Array.from({ length: 40 }, async (_, i) => {
        const person = await kit.person();
        const { id } = await kit.session(person);
        const opening = open(person, id).catch(() => null);
        await sleep(i % 20);
        await kit.run('key revoke', {}, [person.key_id]);
        return opening;
      }));
      for (const socket of opened) if (socket) expect((await soon(socket.ended)).code).to.equal(1008);
    });

    it('end when the plan is taken away, the account is disabled, or the session is deleted', async () => {
      for (const [name, end] of [
        ['plan', ({ id }: Person) => kit.run('account set-plan', { account: id, plan: 'free' })],
        ['disabled', ({ id }: Person) => kit.run('account disable', { account: id })],
        ['deleted', (person: Person, id: string) => kit.as(person, 'DELETE', `${SESSIONS}/${id}`)],
      ] as const) {
        const person = await kit.person();
        const { id } = await kit.session(person);
        const socket = await open(person, id);
        await socket.has(1, 'firehose.ready');
        await end(person, id);
        expect((await soon(socket.ended)).code, name).to.equal(1008);
      }
    });

    it('end when a member leaves the workspace, who may read their own again', async () => {
      const { body: workspace } = await kit.as(ada, 'POST', '/api/workspaces', { payload: { name: 'Ours' } });
      const guest = await kit.person();
      await joinWorkspace(kit, ada, workspace.id, guest);
      const inside = { 'x-workspace-id': workspace.id };
      const { id } = (await kit.as(guest, 'POST', SESSIONS, { payload: {}, headers: inside })).body;
      const ticket = (await kit.as(guest, 'POST', `${SESSIONS}/${id}/tickets`, { headers: inside })).body.ticket;
      const socket = await openSocket(kit, id, as(guest, inside));
      await kit.as(ada, 'DELETE', `/api/workspaces/${workspace.id}/members/${guest.id}`);
      expect((await soon(socket.ended)).code).to.equal(1008);
      expect((await refusal(openSocket(kit, id, as(guest, inside)))).code).to.equal('workspace_forbidden');
      expect((await refusal(openSocket(kit, id, { query: `?ticket=${ticket}` }))).code).to.equal('invalid_credentials');
      expect((await refusal(openSocket(kit, id, as(guest)))).code).to.equal('unknown_session');
      (await open(guest, (await kit.session(guest)).id)).close();
    });

    it('are as many as the plan allows, together with streams', async () => {
      const person = await kit.person({ plan: 'individual' });
      const { id } = await kit.session(person);
      const sockets = await Promise.all([1, 2, 3, 4].map(() => open(person, id)));
      const stream = await openEvents(kit, `${SESSIONS}/${id}/events`, as(person).headers);
      const { status, code, headers } = await refusal(open(person, id));
      expect([status, code]).to.equal([429, 'too_many_streams']);
      expect(headers).to.include({ 'retry-after': '30', 'x-ratelimit-limit': '5', 'x-ratelimit-remaining': '0' });
      expect(Number(headers['x-ratelimit-reset']) - Date.now() / 1000).to.be.between(20, 32);
      sockets[0]!.close();
      await sockets[0]!.ended;
      let again: SocketReading | null = null;
      for (let i = 0; i < 20 && !again; i++) {
        again = await open(person, id).catch(() => null);
        if (!again) await sleep(50);
      }
      expect(again).to.exist();
      for (const socket of [...sockets, again!]) socket.close();
      stream.close();
    });

    it('end with their connection, also when the client closes only its half of it', async () => {
      const { id } = await kit.session(ada);
      const socket = await rawSocket(kit, `${SESSIONS}/${id}/socket`, ada.key);
      socket.resume().end();
      await soon(once(socket, 'close'));
    });
  });

  describe(`Session sockets and restarts on ${database}`, { timeout: 60_000 }, () => {
    it('close with 1001 when the server stops', async () => {
      const kit = await readersKit({ database });
      const ada = await kit.person();
      const sockets = await Promise.all([1, 2, 3].map(async () => openSocket(kit, (await kit.session(ada)).id, { headers: { 'x-api-key': ada.key } })));
      const silent = await rawSocket(kit, `${SESSIONS}/${(await kit.session(ada)).id}/socket`, ada.key);
      const started = performance.now();
      await kit.close();
      expect(performance.now() - started, 'a client that does not respond delays no other').to.be.below(8000 * slowness);
      for (const socket of sockets) expect((await socket.ended).code).to.equal(1001);
      silent.destroy();
    });
  });
}

describe('Session sockets of silent clients', { timeout: 60_000 }, () => {
  it('end when their key expires or their plan lapses, by themselves', async () => {
    const clock = stoppedClock();
    const kit = await readersKit({ clock });
    for (const person of [await kit.person({}, { expires: '2026-01-01T01:00:00Z' }), await kit.person({ plan: 'research_pass' })]) {
      const socket = await openSocket(kit, (await kit.session(person)).id, { headers: { 'x-api-key': person.key } });
      await socket.has(1, 'firehose.ready');
      clock.advance(91 * 86_400_000);
      expect((await soon(socket.ended)).code).to.equal(1008);
      clock.set('2026-01-01T00:00:00.000Z');
    }
    await kit.close();
  });

  it('are cut off when a client gives no sign of life, and kept when it does', async () => {
    const sockets = createSockets({ headers: () => ({}), silence_ms: 100 });
    const path = '/api/echo/{id}/socket';
    const echo = definePlugin({
      name: 'echo',
      summary: 'Sockets on which nothing is said',
      register(server, civic) {
        server.route({
          method: 'GET', path, handler: upgradeOnly,
          options: { description: 'A socket', validate: { query: Joi.object({}), params: Joi.object({ id: Joi.string() }) }, plugins: { civic: { stream: { protocol: 'websocket', send: {} } } } },
        });
        const access = { account_id: null, credential_id: null, caller: null, address: '127.0.0.1', valid_until: Infinity };
        civic.upgrade(path, (req, socket, head, request) => sockets.accept(req, socket as Socket, head, request, { open: () => ({ access, delivered: 0, end: () => undefined }), acknowledge: () => 'known', closed: () => undefined }));
        return {
          async start() {
            await sockets.load();
            sockets.start();
          },
          async stop() { sockets.stop(); },
        };
      },
    });
    const kit = await testServer({ plugins: [echo], listen: true });
    const silent = await rawSocket(kit, '/api/echo/1/socket');
    const alive = new WebSocket(`${kit.url.replace('http', 'ws')}/api/echo/2/socket`, SUBPROTOCOL);
    await once(alive, 'open');
    await soon(once(silent.resume(), 'close'));
    await sleep(500);
    expect(alive.readyState).to.equal(WebSocket.OPEN);
    alive.terminate();
    await kit.close();
  });
});
