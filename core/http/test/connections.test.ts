import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { until } from '../../test/wait.ts';
import { readyAnswers } from '../ready.ts';
import { readRaw, send, sendRaw, testServer, type Setup, type TestServer } from './fixture.ts';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

const MEGABYTE = 1024 * 1024;

describe('A connection', () => {
  let made: TestServer | null = null;
  let handled = 0;
  let produced = 0;
  const clients: Socket[] = [];
  const serverSockets: Socket[] = [];

  async function start(connections: Setup['connections'] = {}): Promise<void> {
    made = testServer({ connections });
    [handled, produced] = [0, 0];
    const ready = readyAnswers({ maxBytes: 20 * MEGABYTE, now: () => 0 });
    const large = 'x'.repeat(MEGABYTE);
    made.server.ext('onRequest', (_request, h) => { handled += 1; return h.continue; });
    made.server.route([
      { method: 'GET', path: '/string', handler: () => large },
      { method: 'GET', path: '/object', handler: () => ({ large }) },
      { method: 'GET', path: '/cached', options: { ext: { onPostAuth: { method: ready.hit } } }, handler: (request, h) => ready.answer(request, h, 'large', async () => ({ body: large, etag: 'W/"x"' })) },
      { method: 'GET', path: '/stream', handler: (_request, h) => h.response(Readable.from(chunks(), { objectMode: false })) },
      { method: 'GET', path: '/number/{number}', handler: (request) => `<${request.params.number}>` },
      { method: 'POST', path: '/echo', handler: (request) => request.payload as object },
    ]);
    made.server.listener.on('connection', (socket: Socket) => { serverSockets.push(socket); });
    await made.server.start();
  }

  function* chunks(): Generator<string> {
    for (let i = 0; i < 512; i++) {
      produced += 1;
      yield 'x'.repeat(64 * 1024);
    }
  }

  /** A client that sends and never reads. */
  function unread(bytes: string): Socket {
    const socket = connect(Number(made!.server.info.port), '127.0.0.1', () => { socket.write(bytes); });
    socket.on('error', () => undefined).pause();
    clients.push(socket);
    return socket;
  }

  const queuedBytes = (): number => serverSockets.reduce((sum, socket) => sum + (socket.destroyed ? 0 : socket.writableLength), 0);
  const connections = (): Promise<number> => new Promise((resolve) => { (made!.server.listener as HttpServer).getConnections((_error, count) => resolve(count)); });
  const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

  /** Several requests of another client are served, so the server had time for everything it wanted to do before. */
  async function othersAreServed(): Promise<void> {
    for (let i = 0; i < 5; i++) expect((await send(made!.server, 'GET', '/health')).status).to.equal(200);
  }

  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    serverSockets.length = 0;
    await made?.server.stop({ timeout: 200 });
    made = null;
  });

  for (const path of ['/string', '/object', '/cached', '/stream']) {
    it(`that pipelines and does not read holds one response of ${path}`, async () => {
      await start();
      unread(get(path).repeat(90));
      await until(() => handled > 0);
      await othersAreServed();
      expect(handled - 5).to.be.below(20);
      expect(queuedBytes()).to.be.below(2 * MEGABYTE);
      expect(produced).to.be.below(512);
    });
  }

  it('is refused before the process has no file descriptor left', async () => {
    const limit = existsSync('/proc/self/limits') ? Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]) : null;
    await start();
    if (limit === null) return;
    expect(made!.server.listener.maxConnections).to.be.below(limit);
    expect(made!.server.listener.maxConnections).to.be.at.least(limit / 2);
  });

  it('with more unanswered requests than any client sends is closed', async () => {
    await start();
    unread(get('/string').repeat(1538));
    await until(() => serverSockets.length > 0 && serverSockets[0]!.destroyed);
    await othersAreServed();
    expect(handled - 5).to.be.below(10);
  });

  it('that pipelines and reads gets every response in order', async () => {
    await start();
    const numbers = Array.from({ length: 80 }, (_, index) => index);
    const text = await sendRaw(made!.server, numbers.map((number) => get(`/number/${number}`, number === 79 ? 'Connection: close\r\n' : '')).join(''));
    expect(text.match(/<\d+>/g)).to.equal(numbers.map((number) => `<${number}>`));
  });

  it('may pipeline bodies, also one that waits for a 100', async () => {
    await start();
    const post = (body: string, headers = ''): string => `POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${headers}\r\n${body}`;
    const text = await sendRaw(made!.server, post('{"n":1}') + post('{"n":2}', 'Expect: 100-continue\r\n') + post('{"n":3}', 'Connection: close\r\n'));
    expect(text.match(/\{"n":\d\}/g)).to.equal(['{"n":1}', '{"n":2}', '{"n":3}']);
  });

  it('that does not read its one large response is closed', async () => {
    await start({ idleMs: 300 });
    unread(get('/stream'));
    await until(() => handled > 0);
    await until(async () => (await connections()) === 0);
    expect(produced).to.be.below(512);
  });

  it('that stops in the middle of a body gets a response and is closed', async () => {
    await start({ idleMs: 300 });
    const answer = readRaw(await sendRaw(made!.server, 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{'));
    expect([answer.status, answer.json.code]).to.equal([408, 'request_timeout']);
  });

  it('that sends its headers byte by byte gets a response and is closed', async () => {
    await start({ headersMs: 400, checkMs: 100 });
    const socket = connect(Number(made!.server.info.port), '127.0.0.1');
    clients.push(socket);
    const trickle = setInterval(() => { if (socket.writable) socket.write('X'); }, 50);
    socket.on('error', () => undefined).write('GET /health HTTP/1.1\r\n');
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk) => { text += chunk; });
    await once(socket, 'close');
    clearInterval(trickle);
    expect(readRaw(text).json?.code).to.equal('request_timeout');
  });

  it('whose client keeps it open after a last response is closed all the same', async () => {
    await start({ graceMs: 200 });
    const head = 'Host: x\r\nConnection: close\r\n';
    const requests = [
      'CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n',
      get('/number/1', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'),
      get('/number/1', 'Connection: Upgrade\r\nUpgrade: h2c\r\n'),
      get('/nothing', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'),
      `GET / HTTP/9.9\r\n${head}\r\n`,
      'nonsense\r\n\r\n',
      `GET foo://bar HTTP/1.1\r\n${head}\r\n`,
    ];
    for (const request of requests) for (let i = 0; i < 5; i++) unread(request);
    await until(() => serverSockets.length === 35);
    await until(async () => (await connections()) === 0);
  });

  it('of a refused upgrade that does not read a large response is closed', async () => {
    await start({ graceMs: 200, idleMs: 300 });
    unread(get('/stream', 'Connection: Upgrade\r\nUpgrade: h2c\r\n'));
    await until(() => handled > 0);
    await until(async () => (await connections()) === 0);
  });
});
