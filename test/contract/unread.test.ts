import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { testServer, type TestServer } from '../../core/testing.ts';
import { until } from '../../core/test/wait.ts';

export const notQuick = 'it tries every route';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

const MEGABYTE = 1024 * 1024;
const PATHS = [
  '/openapi.json', '/asyncapi.json', '/docs', '/problems', '/problems/not_found', '/metrics', '/', '/health/ready', '/sign-in', '/nowhere',
  '/api/issue-areas', '/api/entities', '/api/exports/entities', '/api/places/kansas-city,missouri', '/api/places/kansas-city,missouri/entities',
  '/api/places/kansas-city,missouri/feed.atom', '/api/places/kansas-city,missouri/feed.json', '/api/places/kansas-city,missouri/meetings.ics', '/reconcile',
];

describe('A client that does not read', () => {
  let kit: TestServer;
  let handled = 0;
  let sockets: Socket[] = [];

  before(async () => {
    kit = await testServer({ plugins: ['directory', 'accounts', 'firehose'], listen: true, config: { metrics: { enabled: true } } });
    kit.server.events.on('response', () => { handled += 1; });
    kit.server.listener.on('connection', (socket: Socket) => { sockets.push(socket); });
  });
  after(() => kit.close());

  async function pipeline(path: string, times: number, check: (socket: Socket) => Promise<void>): Promise<void> {
    [handled, sockets] = [0, []];
    const client = connect(Number(new URL(kit.url).port), '127.0.0.1');
    client.on('error', () => undefined).pause();
    await once(client, 'connect');
    client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(times));
    await until(() => sockets.length > 0);
    await check(sockets[0]!);
    for (let i = 0; i < 3; i++) expect((await fetch(`${kit.url}/health`)).status, path).to.equal(200);
    client.destroy();
  }

  it('and pipelines makes no route queue more than one response', async () => {
    const style = /\/assets\/style[^"]+/.exec((await kit.request('GET', '/docs')).text)![0];
    for (const path of [...PATHS, style]) {
      await pipeline(path, 60, async (socket) => {
        await until(() => handled > 0 || socket.writableLength > 0);
        expect(socket.writableLength, path).to.be.below(MEGABYTE);
      });
    }
  });

  it('and pipelines without end is disconnected', async () => {
    for (const path of ['/openapi.json', '/docs', '/api/exports/entities']) {
      await pipeline(path, 1538, async (socket) => { await until(() => socket.destroyed); });
      expect(handled, path).to.be.below(20);
    }
  });
});
