import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Person } from './people.ts';
import { openSocket, readersKit, SUBPROTOCOL, type ReadersKit, type SocketReading } from './readers.ts';

export const notQuick = 'it reaches limits with large data';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

const FLOOD = 3000;
/** What a client may send at once, and what it may earn while the test sends. */
const ALLOWED = 100 + 10 * 10;

describe('A session socket whose client sends too much', { timeout: 60_000 }, () => {
  let kit: ReadersKit;
  let ada: Person;
  before(async () => {
    kit = await readersKit();
    ada = await kit.person();
  });
  after(() => kit.close());

  const open = async (): Promise<SocketReading> => openSocket(kit, (await kit.session(ada)).id, { headers: { 'x-api-key': ada.key } });

  /** A socket without a library, which would read what arrives and send only well-formed messages. */
  async function openRaw(): Promise<Socket> {
    const { id } = await kit.session(ada);
    const { hostname, port } = new URL(kit.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write([
      `GET /api/firehose/sessions/${id}/socket HTTP/1.1`, `Host: ${hostname}`, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`, `Sec-WebSocket-Protocol: ${SUBPROTOCOL}`, `X-API-Key: ${ada.key}`, '', '',
    ].join('\r\n'));
    await once(socket, 'data');
    return socket;
  }

  const closing = (socket: Socket): Promise<void> => new Promise((resolve) => { socket.once('close', () => resolve()); });

  /** A masked frame whose mask is zero. */
  const frame = (firstByte: number, payload = ''): Buffer => Buffer.concat([Buffer.from([firstByte, 0x80 | payload.length, 0, 0, 0, 0]), Buffer.from(payload)]);

  for (const [name, send] of [
    ['messages', ({ client }) => client.send('{"type":"ping"}')],
    ['pings of the protocol', ({ client }) => client.ping('x'.repeat(100))],
    ['pongs of the protocol', ({ client }) => client.pong('x'.repeat(100))],
  ] as [string, (socket: SocketReading) => void][]) {
    it(`is closed with 1008 on a flood of ${name}, and responds to no more than it allows`, async () => {
      const socket = await open();
      let pongs = 0;
      socket.client.on('pong', () => { pongs++; });
      for (let i = 0; i < FLOOD; i++) send(socket);
      const { code, reason } = await socket.ended;
      expect([code, reason]).to.equal([1008, 'More than 10 messages a second besides one ack for each signal']);
      expect(pongs + socket.messages.filter(({ type }) => type === 'pong').length).to.be.at.most(ALLOWED);
    });
  }

  it('is closed with 1008 on a flood of acks that move nothing', async () => {
    const socket = await open();
    const [ready] = await socket.has(1, 'firehose.ready');
    for (let i = 0; i < FLOOD; i++) socket.client.send(JSON.stringify({ type: 'ack', event_id: ready.event_id }));
    expect((await socket.ended).code).to.equal(1008);
  });

  it('is closed on endless empty fragments of one message', async () => {
    const socket = await openRaw();
    socket.resume();
    const closed = closing(socket);
    socket.write(frame(0x01, '{"type":'));
    const fragments = Buffer.concat(Array.from({ length: 10_000 }, () => frame(0x00)));
    for (let i = 0; i < 40 && !socket.destroyed; i++) {
      socket.write(fragments);
      await sleep(5);
    }
    await closed;
  });

  it('keeps no pongs for a client that does not read', async () => {
    const socket = await openRaw();
    socket.pause();
    const pings = Buffer.concat(Array.from({ length: 1000 }, () => frame(0x89, 'x'.repeat(125))));
    for (let i = 0; i < 100 && !socket.destroyed; i++) socket.write(pings);
    await sleep(100);
    let received = 0;
    socket.on('data', (chunk) => { received += chunk.length; });
    const closed = closing(socket);
    socket.resume();
    await closed;
    expect(received).to.be.below(ALLOWED * 127 + 4096);
  });

  it('stays open for a client that acks every signal and pings now and then', async () => {
    const socket = await open();
    for (let i = 0; i < 10; i++) await kit.publish(...Array.from({ length: 50 }, (_, n) => `Signal ${i} ${n}`));
    const signals = await socket.has(500);
    for (const { event_id } of signals) socket.client.send(JSON.stringify({ type: 'ack', event_id }));
    for (let i = 0; i < 20; i++) socket.client.send('{"type":"ping"}');
    await socket.has(20, 'pong');
    socket.close();
    expect((await socket.ended).code).to.equal(1005);
  });
});

for (const database of testDatabases()) {
  describe(`Acks on ${database}`, { timeout: 60_000 }, () => {
    it('are stored as the newest position at intervals and when the socket closes, not one by one', async () => {
      const kit = await readersKit({ database });
      const ada = await kit.person();
      const { id } = await kit.session(ada);
      const socket = await openSocket(kit, id, { headers: { 'x-api-key': ada.key } });
      const position = async () => (await kit.db.read('firehose_sessions').where({ id }).first('seq')).seq as number;
      const countsWrites = database === 'sqlite';
      if (countsWrites) {
        await kit.db.write(async (tx) => {
          await tx.raw('create table position_writes (seq integer)');
          await tx.raw('create trigger count_writes after update of seq on firehose_sessions begin insert into position_writes values (new.seq); end');
        });
      }
      for (let i = 0; i < 4; i++) await kit.publish(...Array.from({ length: 50 }, (_, n) => `Signal ${i} ${n}`));
      const signals = await socket.has(200);
      const before = await position();
      const began = performance.now();
      for (const { event_id } of signals) {
        socket.client.send(JSON.stringify({ type: 'ack', event_id }));
        await sleep(2);
      }
      socket.client.send('{"type":"ping"}');
      await socket.has(1, 'pong');
      const seconds = (performance.now() - began) / 1000;
      if (countsWrites) expect((await kit.db.read('position_writes')).length).to.be.between(-1, Math.ceil(seconds) + 2);
      socket.close();
      await socket.ended;
      const last = Number(signals.at(-1).event_id.split('-')[1]);
      for (let i = 0; i < 200 && await position() !== last; i++) await sleep(10);
      expect(await position()).to.equal(last);
      expect(before).to.be.below(last);
      await kit.close();
    });
  });
}
