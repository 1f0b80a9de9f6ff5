import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { WebSocket, WebSocketServer } from 'ws';
import { slowness } from '../../test/wait.ts';
import { problem } from '../../problems.ts';
import { httpState } from '../state.ts';
import { upgradeOnly } from '../upgrade.ts';
import { readRaw, send, sendRaw, someone, testServer, type TestServer } from './fixture.ts';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const PATH = '/api/sessions/{id}/socket';

/** The garbage collector, to be called by hand. */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

describe('An upgrade', () => {
  let made: TestServer;
  const sockets = new WebSocketServer({ noServer: true });

  beforeEach(async () => {
    made = testServer({ publicUrl: 'https://example.org/kit' });
    const { server, gates } = made;
    gates.resolvers.push(({ headers }) => (headers['x-api-key'] === 'good' ? someone : null));
    server.route({
      method: 'GET',
      path: PATH,
      options: { auth: { mode: 'required' } },
      handler: (request, h) => {
        if (request.params['id'] !== '1') throw problem('not_found');
        return upgradeOnly(request, h);
      },
    });
    server.route({ method: 'GET', path: '/plain', handler: () => 'plain' });
    server.route({ method: 'POST', path: '/plain', handler: () => 'plain' });
    httpState(server).upgrades.add(PATH, (req, socket, head, request) => {
      sockets.handleUpgrade(req, socket, head, (client) => client.send(`hello ${request.auth.credentials!.account_id} ${request.params['id']}`));
    });
    await server.start();
  });
  afterEach(async () => {
    for (const client of sockets.clients) client.terminate();
    await made.server.stop({ timeout: 200 });
  });

  const open = (path: string, headers: Record<string, string> = { 'x-api-key': 'good' }) => new WebSocket(`ws://127.0.0.1:${made.server.info.port}${path}`, { headers });

  async function refused(client: WebSocket) {
    const [, res] = await once(client, 'unexpected-response');
    const chunks: Buffer[] = [];
    for await (const chunk of res) chunks.push(chunk as Buffer);
    return { status: res.statusCode, headers: res.headers, json: JSON.parse(Buffer.concat(chunks).toString()) };
  }

  it('leaves nothing of its request behind while the socket is open', async () => {
    const left: WeakRef<object>[] = [];
    made.server.events.on('response', (request) => { left.push(new WeakRef(request), new WeakRef(request.raw.req), new WeakRef(request.raw.res)); });
    const clients = await Promise.all([1, 2, 3].map(async () => {
      const client = open('/api/sessions/1/socket');
      await once(client, 'message');
      return client;
    }));
    expect(left).to.have.length(9);
    const collect = collector();
    for (let i = 0; i < 50 && left.some((ref) => ref.deref()); i++) {
      await new Promise((done) => { setTimeout(done, 20); });
      collect();
    }
    expect(left.filter((ref) => ref.deref())).to.equal([]);
    for (const client of clients) client.terminate();
  });

  it('that is allowed reaches its handler with the caller and the path', async () => {
    for (const path of ['/api/sessions/1/socket', '/kit/api/sessions/1/socket']) {
      const client = open(path);
      const [message] = await once(client, 'message');
      expect(String(message)).to.equal('hello account-1 1');
      client.close();
      await once(client, 'close');
    }
    expect(made.lines.filter((line) => line['status'] === 101)).to.have.length(2);
  });

  it('does not keep the server from stopping', async () => {
    const client = open('/api/sessions/1/socket');
    await once(client, 'message');
    const closed = once(client, 'close');
    const before = performance.now();
    await made.server.stop({ timeout: 50_000 });
    expect(performance.now() - before).to.be.below(30_000 * slowness);
    await closed;
  });

  it('that is refused gets the same problem as any other request', async () => {
    const cases: [string, Record<string, string>, number, string][] = [
      ['/api/sessions/1/socket', {}, 401, 'authentication_required'],
      ['/api/sessions/1/socket', { 'x-api-key': 'bad' }, 401, 'invalid_credentials'],
      ['/api/sessions/2/socket', { 'x-api-key': 'good' }, 404, 'not_found'],
      ['/api/nothing', {}, 404, 'not_found'],
      ['/api/sessions/1/socket', { 'x-api-key': 'good', 'x-request-id': 'a b' }, 400, 'invalid_header'],
    ];
    for (const [path, headers, status, code] of cases) {
      const answer = await refused(open(path, headers));
      expect([answer.status, answer.json.code]).to.equal([status, code]);
      expect(answer.headers['content-type']).to.equal('application/problem+json');
      expect(answer.headers['x-request-id']).to.equal(answer.json.request_id);
      expect(answer.headers['connection']).to.equal('close');
    }
  });

  it('that is missing is 426', async () => {
    const answer = await send(made.server, 'GET', '/api/sessions/1/socket', { headers: { 'x-api-key': 'good' } });
    expect([answer.status, answer.headers.upgrade]).to.equal([426, 'websocket']);
  });

  it('to an unsupported protocol is ignored', async () => {
    const answer = await send(made.server, 'GET', '/plain', { headers: { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQCAAAAAAIAAAAA' } });
    expect([answer.status, answer.text]).to.equal([200, 'plain']);
  });

  it('with a body is refused, as that cannot be read', async () => {
    const answer = readRaw(await sendRaw(made.server, 'POST /plain HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'));
    expect([answer.status, answer.json.code]).to.equal([400, 'bad_request']);
  });

  it('that others listened for goes only where it is handed to them', async () => {
    const { server } = made;
    const adopted = new WebSocketServer({ server: server.listener as never });
    adopted.on('connection', (client) => client.send('adopted'));
    const { upgrades } = httpState(server);
    const hand = upgrades.adopt();
    server.route({ method: 'GET', path: '/adopted', handler: upgradeOnly });
    upgrades.add('/adopted', (req, socket, head) => hand(req, socket, head));
    const [message] = await once(open('/kit/adopted', {}), 'message');
    expect(String(message)).to.equal('adopted');
    expect((await refused(open('/api/nothing'))).status).to.equal(404);
    for (const client of adopted.clients) client.terminate();
  });

  it('behind a request that is not answered yet ends the connection, and nothing else', async () => {
    for (const method of ['GET /api/sessions/1/socket', 'CONNECT example.org:443']) {
      await sendRaw(made.server, `GET /plain HTTP/1.1\r\nHost: x\r\n\r\n${method} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`).catch(() => undefined);
      expect((await send(made.server, 'GET', '/plain')).status).to.equal(200);
    }
  });

  it('does not crash the server when the client goes away', async () => {
    const client = open('/api/sessions/1/socket');
    client.on('error', () => undefined);
    client.terminate();
    expect((await send(made.server, 'GET', '/plain')).status).to.equal(200);
  });
});
