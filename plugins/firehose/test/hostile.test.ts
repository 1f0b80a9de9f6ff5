import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { slowness } from 'civic/testing';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { firehoseKit, titlesOf, type FirehoseKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('Whoever means no good', () => {
  let kit: FirehoseKit;
  before(async () => { kit = await firehoseKit({ firehose: { anonymous: true, max_streams: 20 } }); });
  after(() => kit.close());

  async function rawSocket(): Promise<Socket> {
    const socket = connect(Number(new URL(kit.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => undefined);
    return socket;
  }

  const streamRequest = (path = '/api/firehose?visibility=public') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`;

  it('finds nothing by a star: it is no name of a place or an issue', async () => {
    const streams = [await kit.stream('place=*'), await kit.stream('issue=*'), await kit.stream('')];
    await kit.snapshot('place=*');
    await kit.publish({ title: 'Seen', places: ['austin,texas'], issues: ['housing'] });
    await streams[2]!.signals(1);
    expect(streams.slice(0, 2).map(({ events }) => events.filter(({ event }) => event === 'firehose.signal').length)).to.equal([0, 0]);
    expect((await kit.snapshot('place=*')).summary.total_signals).to.equal(0);
    for (const stream of streams) stream.close();
  });

  it('does not keep others waiting by a long Prefer', async () => {
    for (const prefer of [`"${'\\"'.repeat(7000)}`, `a=x${' '.repeat(14_000)}y`, `a${' '.repeat(14_000)}x`, `"${'\\"'.repeat(7000)}\\`]) {
      const began = performance.now();
      expect((await kit.ask('GET', '/api/firehose?limit=1', { as: kit.reader, headers: { prefer } })).status).to.equal(200);
      expect(performance.now() - began).to.be.below(150 * slowness);
    }
  });

  it('uses no room up by streams that wait behind another one on a connection that ends', async () => {
    const socket = await rawSocket();
    socket.write(streamRequest().repeat(15));
    await once(socket, 'data');
    await sleep(200);
    socket.destroy();
    await sleep(200);
    const streams = [];
    for (let i = 0; i < 18; i++) streams.push(await kit.stream('visibility=public', { as: null }));
    expect(streams.map(({ status }) => status)).to.equal(Array.from({ length: 18 }, () => 200));
    for (const stream of streams) stream.close();
  });

  it('breaks nothing with a moment that has no year of four digits in UTC', async () => {
    for (const since of ['0000-01-01T00:00:00+14:00', '9999-12-31T23:59:59-14:00']) {
      const { status } = await kit.ask('GET', `/api/firehose?since=${encodeURIComponent(since)}`, { as: kit.reader });
      expect(status).to.equal(400);
      const made = await kit.ask('POST', '/api/firehose/sessions', { as: kit.reader, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query: { since } }) });
      expect(made.status).to.equal(400);
    }
  });

  it('gets no further with a forged cursor, in a session either', async () => {
    for (const after of [[1.5, 1, 1], [1e300, 1, 1], [1, 1.5, 3], [1, 1, '2']]) {
      const text = JSON.stringify([{}, after]);
      const cursor = Buffer.from(text).toString('base64url') + createHash('sha256').update(`/api/firehose\n${text}`).digest('base64url').slice(0, 8);
      const made = await kit.ask('POST', '/api/firehose/sessions', { as: kit.reader, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query: { cursor } }) });
      expect((await kit.ask('GET', `/api/firehose?cursor=${cursor}`, { as: kit.reader })).status).to.equal(400);
      // A position of the wrong form is refused at once, one that no signal has when it is read.
      const session = made.status === 201 ? await kit.ask('GET', `/api/firehose/sessions/${made.body.id}/snapshot`, { as: kit.reader }) : made;
      expect(session.status).to.equal(400);
    }
  });

  it('survives what clients do to their connections', async () => {
    for (const end of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy(), (socket: Socket) => socket.write('GARBAGE\r\n\r\n'), (socket: Socket) => socket.write('GET /live HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n')]) {
      const socket = await rawSocket();
      socket.write(streamRequest());
      await once(socket, 'data');
      end(socket);
      await kit.publish({ title: 'Meanwhile' }, { title: 'Again' });
      await sleep(50);
      socket.destroy();
    }
    const old = await rawSocket();
    old.write('GET /api/firehose?visibility=public HTTP/1.0\r\nAccept: text/event-stream\r\n\r\n');
    await once(old, 'data');
    old.destroy();
    expect((await kit.ask('GET', '/api/firehose?visibility=public')).status).to.equal(200);
  });

  it('breaks no page by an address that is none', async () => {
    await kit.publish({ title: 'Odd', evidence: [{ source_url: 'http://256.256.256.256/x' }] });
    const page = await kit.ask('GET', '/signals');
    expect(page.text).to.contain('href="/api/firehose?visibility').and.to.not.contain('/account/keys');
    expect(page.status).to.equal(200);
    expect(page.text).to.contain('Odd');
    expect(titlesOf((await kit.snapshot('limit=1')).signals)).to.equal(['Odd']);
  });
});
