import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { Client } from '@hapi/nes';
import { once } from 'node:events';
import { connect } from 'node:net';
import { hostname } from 'node:os';
import { WebSocket, WebSocketServer } from 'ws';
import { slowness, until } from '../../test/wait.ts';
import { createLive, type LiveTopic } from '../live.ts';
import { httpState } from '../state.ts';
import { upgradeOnly } from '../upgrade.ts';
import { send, testServer, type TestServer } from './fixture.ts';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const limits = { connections: 4, perAddress: 3, messages: 20, topics: 2, unreadBytes: 64 * 1024 };
const hello = (...subs: string[]) => JSON.stringify({ type: 'hello', version: '2', id: 1, subs });

describe('Live updates', () => {
  let made: TestServer;
  let news: LiveTopic;
  const raw = new WebSocketServer({ noServer: true });

  beforeEach(async () => {
    made = testServer({ publicUrl: 'http://civic.example/kit', http: { trusted_proxies: ['127.0.0.1'] } });
    const { server } = made;
    const { upgrades } = httpState(server);
    const live = createLive(server, upgrades, limits);
    news = live.topic('/news');
    for (const path of ['/two', '/three']) live.topic(path);
    server.route([
      { method: 'GET', path: '/socket', handler: upgradeOnly },
      { method: 'GET', path: '/plain', handler: () => 'plain' },
    ]);
    upgrades.add('/socket', (req, socket, head) => raw.handleUpgrade(req, socket, head, (client) => client.on('message', (data) => client.send(`raw ${String(data)}`))));
    await server.start();
  });
  afterEach(async () => {
    for (const client of raw.clients) client.terminate();
    await made.server.stop({ timeout: 200 });
  });

  const address = (path = '/live'): `ws://${string}` => `ws://127.0.0.1:${made.server.info.port}${path}`;
  const open = (headers: Record<string, string> = {}) => new WebSocket(address(), { headers });

  async function opened(headers?: Record<string, string>): Promise<WebSocket> {
    const client = open(headers);
    await once(client, 'open');
    return client;
  }

  async function answer(client: WebSocket): Promise<any> {
    const [data] = await once(client, 'message');
    return JSON.parse(String(data));
  }

  async function refusal(headers?: Record<string, string>): Promise<[number, string | undefined]> {
    const [, res] = await once(open(headers), 'unexpected-response');
    res.resume();
    return [res.statusCode, res.headers['retry-after']];
  }

  it('reveal neither the host nor the process to clients', async () => {
    const client = await opened();
    client.send(hello('/news'));
    const text = JSON.stringify(await answer(client));
    expect(text).to.contain('"socket":');
    expect(text).to.not.contain(hostname());
    expect(text).to.not.match(new RegExp(`\\b${process.pid}\\b`));
    client.terminate();
  });

  it('reach those who follow the topic, below a path too, beside sockets of plugins on the same listener', async () => {
    const client = new Client(address('/kit/live'));
    const other = new WebSocket(address('/socket'));
    const seen: unknown[] = [];
    await Promise.all([client.connect(), once(other, 'open')]);
    await client.subscribe('/news', (message) => { seen.push(message); });
    other.send('hi');
    expect(String((await once(other, 'message'))[0])).to.equal('raw hi');
    news.publish({ title: 'first' });
    news.publish({ title: 'second' });
    await until(() => seen.length === 2);
    expect(seen).to.equal([{ title: 'first' }, { title: 'second' }]);
    await client.disconnect();
    other.terminate();
  });

  it('end for a connection that no longer follows the topic, and go on for others', async () => {
    const [leaving, staying] = [await opened(), await opened()];
    const heard: string[] = [];
    for (const [name, client] of Object.entries({ leaving, staying })) {
      client.send(hello('/news'));
      await answer(client);
      client.on('message', (data) => { if (String(data).includes('"pub"')) heard.push(`${name} ${JSON.parse(String(data)).message}`); });
    }
    news.publish('é'.repeat(70_000));
    await until(() => heard.length === 2);
    leaving.send('{"type":"unsub","id":2,"path":"/news"}');
    await answer(leaving);
    news.publish(2);
    await until(() => heard.includes('staying 2'));
    expect(heard.map((text) => text.slice(0, 10)).sort()).to.equal(['leaving éé', 'staying 2', 'staying éé']);
    for (const client of [leaving, staying]) client.terminate();
  });

  it('do not exist for other topics, and a request without an upgrade gets a problem', async () => {
    const client = await opened();
    client.send(hello('/nothing'));
    expect(await answer(client)).to.include({ type: 'hello', statusCode: 404, path: '/nothing' });
    client.terminate();
    expect((await send(made.server, 'GET', '/live')).status).to.equal(426);
  });

  it('are refused to pages of other sites', async () => {
    expect((await refusal({ origin: 'https://elsewhere.example' }))[0]).to.equal(403);
    expect((await refusal({ 'origin': 'http://civic.example', 'sec-fetch-site': 'cross-site' }))[0]).to.equal(403);
    expect((await refusal({ origin: 'null' }))[0]).to.equal(403);
    (await opened({ origin: 'http://civic.example' })).terminate();
    (await opened({ origin: `http://127.0.0.1:${made.server.info.port}` })).terminate();
  });

  it('do not pass requests on, and hang up on what they do not understand', async () => {
    const odd = ['{"type":"request","id":1,"method":"GET","path":"/plain"}', 'null', '[]', 'hello', '{"type":"sub","id":1}', '{"type":"hello","id":1,"version":"2","subs":{"length":1e9}}', '{"type":"unsub","id":1,"path":["/news"]}', '{"type":"ping"}'];
    for (const message of odd) {
      const client = await opened();
      const answers: unknown[] = [];
      client.on('message', (data) => answers.push(data));
      client.send(message);
      expect((await once(client, 'close'))[0], message).to.equal(1008);
      expect(answers).to.equal([]);
    }
    const client = await opened();
    client.send(`{"type":"ping","id":"${'x'.repeat(5000)}"}`);
    expect((await once(client, 'close'))[0]).to.equal(1009);
    expect((await send(made.server, 'GET', '/plain')).text).to.equal('plain');
  });

  it('limit what one connection asks for', async () => {
    const client = await opened();
    client.send(hello('/news', '/two', '/three'));
    expect(await answer(client)).to.include({ statusCode: 400, path: '/three' });
    for (let i = 0; i < limits.messages; i++) client.send('{"type":"ping","id":1}');
    expect((await once(client, 'close'))[0]).to.equal(1008);
  });

  it('close with 1008 on a flood of protocol pings or pongs, and reply to no more than they allow', async () => {
    for (const send of [(client: WebSocket) => client.ping('x'), (client: WebSocket) => client.pong('x')]) {
      const client = await opened();
      let pongs = 0;
      client.on('pong', () => { pongs++; });
      for (let i = 0; i < 5000; i++) send(client);
      expect((await once(client, 'close'))[0]).to.equal(1008);
      expect(pongs).to.be.at.most(limits.messages + 5);
    }
    const client = await opened();
    client.ping('hello');
    expect(String((await once(client, 'pong'))[0])).to.equal('hello');
    client.terminate();
  });

  it('limit the connections of an address and of all together', async () => {
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const clients = [await opened(from('192.0.2.1')), await opened(from('192.0.2.1')), await opened(from('192.0.2.1'))];
    expect(await refusal(from('192.0.2.1'))).to.equal([429, '60']);
    clients.push(await opened(from('192.0.2.2')));
    expect(await refusal(from('192.0.2.3'))).to.equal([503, '60']);
    for (const client of clients) client.terminate();
    await until(async () => {
      const client = open(from('192.0.2.1'));
      client.on('error', () => undefined);
      const isOpen = await Promise.race([once(client, 'open').then(() => true), once(client, 'unexpected-response').then(() => false)]);
      client.terminate();
      return isOpen;
    });
  });

  it('drop who does not read, and the others hear everything', async () => {
    const slow = connect(made.server.info.port as number, '127.0.0.1');
    slow.on('error', () => undefined);
    slow.write('GET /live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n');
    await once(slow, 'data');
    const words = Buffer.from(hello('/news'));
    slow.write(Buffer.concat([Buffer.from([0x81, 0x80 | words.length, 0, 0, 0, 0]), words])); // a masked text frame
    await once(slow, 'data');
    slow.pause();
    const client = await opened();
    client.send(hello('/news'));
    await answer(client);
    let heard = 0;
    client.on('message', () => { heard++; });
    for (let i = 1; i <= 300; i++) {
      news.publish({ i, text: 'x'.repeat(50_000) });
      await until(() => heard === i);
    }
    const closed = once(slow, 'close');
    slow.resume();
    await closed;
    client.terminate();
  });

  it('end with the server: it says goodbye, and does not wait for who says none', async () => {
    const deaf = await opened();
    deaf.pause();
    const client = await opened();
    const before = performance.now();
    const closed = once(client, 'close');
    await made.server.stop({ timeout: 20_000 });
    expect((await closed)[0]).to.equal(1001);
    expect(performance.now() - before).to.be.below(8_000 * slowness);
    deaf.terminate();
  });
});
