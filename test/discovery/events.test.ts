import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../core/ids.ts';
import { testDatabases, testServer, type TestServer } from '../../core/testing.ts';
import { runCommand } from '../../plugins/accounts/test/kit.ts';
import { openStream, type Stream } from '../../plugins/firehose/test/sse.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const STAFF = '<html><body><h1>Our staff</h1><ul><li><h3>Maria Delgado</h3><p>Executive Director</p></li><li><h3>Thomas Okafor</h3><p>Lead Organizer</p></li></ul><a href="/board">Board</a></body></html>';

for (const database of testDatabases()) {
  describe(`The events of a discovery run on ${database}`, { timeout: 60_000 }, () => {
    let kit: TestServer;
    let web: Server;
    let origin: string;
    let isHeld = true;
    let key: string;
    let account: string;
    let foreign: string;
    let last: Stream;
    const asked: string[] = [];
    const sockets: Socket[] = [];

    const ask = (method: string, path: string, payload?: unknown, as = key) => kit.request(method, path, { headers: { 'x-api-key': as }, ...(payload !== undefined && { payload }) });
    const start = async (seed: string) => (await ask('POST', '/api/discovery-runs', { location: 'Gladstone, MO', issue_areas: ['housing_affordability'], seeds: [`${origin}${seed}`] })).body.id as string;
    const pathOf = (id: string) => `/api/discovery-runs/${id}/events`;
    const follow = (id: string, headers: object = {}, as = key) => openStream(`${kit.url}${pathOf(id)}`, { 'x-api-key': as, ...headers });
    /** Starts a run whose only page does not respond yet. */
    async function heldRun(): Promise<string> {
      isHeld = true;
      const page = `/slow/${newId()}`;
      const id = await start(page);
      while (!asked.includes(page)) await sleep(20);
      return id;
    }

    before(async () => {
      web = createServer(async (request, response) => {
        asked.push(request.url!);
        while (isHeld && request.url!.startsWith('/slow')) await sleep(20);
        response.writeHead(/^\/(?:slow|staff|board)/.test(request.url!) ? 200 : 404, { 'content-type': 'text/html' }).end(STAFF);
      });
      await new Promise<void>((done) => { web.listen(0, '127.0.0.1', done); });
      origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
      kit = await testServer({
        database, listen: true, plugins: ['directory', 'reader', 'accounts', 'discovery'],
        config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { reader: { delay_seconds: 0, browser_fallback_enabled: false } } },
      });
      kit.server.listener.on('connection', (socket: Socket) => { sockets.push(socket); });
      account = (await runCommand(kit, 'account create', { name: 'owner', plan: 'team' }, [])).id as string;
      key = (await runCommand(kit, 'key create', { account }, [])).key as string;
      foreign = (await runCommand(kit, 'key create', { account: (await runCommand(kit, 'account create', { name: 'stranger', plan: 'team' }, [])).id }, [])).key as string;
    });
    after(async () => {
      isHeld = false;
      await kit.close();
      web.closeAllConnections();
      await new Promise((done) => { web.close(done); });
      expect(last.isOpen(), 'A stopping server ends its streams').to.be.false();
    });

    it('state its progress, then that it is completed, and end', async () => {
      const id = await heldRun();
      const stream = await follow(id);
      expect([stream.status, stream.headers['content-type'], stream.headers['cache-control']]).to.equal([200, 'text/event-stream; charset=utf-8', 'private, no-store, no-transform']);
      const first = await stream.next();
      expect(first.event).to.equal('progress');
      expect(first.data).to.include({ id, status: 'running' });
      isHeld = false;
      const events = [first, ...await stream.rest()];
      const end = events.at(-1)!;
      expect([end.event, end.data.status, end.data.progress.done]).to.equal(['completed', 'completed', 2]);
      expect(end.data.counts).to.include({ sources_fetched: 2, candidates: 2, actors_proposed: 2 });
      expect(events.slice(0, -1).every(({ event }) => event === 'progress')).to.be.true();
      expect(events.map(({ data }) => data.progress.done)).to.equal(events.map(({ data }) => data.progress.done).toSorted((a, b) => a - b));
      expect((await ask('GET', `/api/discovery-runs/${id}`)).body).to.equal(end.data);

      const again = await follow(id, { 'last-event-id': 'of another server' });
      expect((await again.rest()).map(({ event }) => event)).to.equal(['completed']);
      expect((await follow(id, { 'last-event-id': end.id })).status).to.equal(204);
    });

    it('end when the run is cancelled', async () => {
      const id = await heldRun();
      const stream = await follow(id);
      await ask('POST', `/api/discovery-runs/${id}/cancel`, {});
      const end = (await stream.rest()).at(-1)!;
      expect([end.event, end.data.error.code]).to.equal(['failed', 'cancelled']);
    });

    it('do not exist for another workspace, and are only for credentials', async () => {
      const id = await start('/staff');
      expect((await ask('GET', pathOf(id), undefined, foreign)).body.code).to.equal('unknown_run');
      expect((await ask('GET', pathOf(newId()))).body.code).to.equal('unknown_run');
      expect((await ask('GET', `${pathOf(id)}?visibility=public`, undefined, foreign)).body.code).to.equal('permission_required');
      expect((await kit.request('GET', pathOf(id))).status).to.equal(401);
      const head = await ask('HEAD', pathOf(id));
      expect([head.status, head.headers['content-type'], head.headers['cache-control'], head.body]).to.equal([200, 'text/event-stream; charset=utf-8', 'private, no-store, no-transform', '']);
    });

    it('are not held for a client that does not read', async () => {
      const id = await heldRun();
      const { hostname, port } = new URL(kit.url);
      const client = connect(Number(port), hostname);
      client.on('error', () => undefined).pause();
      sockets.length = 0;
      await once(client, 'connect');
      client.write(`GET ${pathOf(id)} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`);
      while ((sockets[0]?.bytesWritten ?? 0) === 0) await sleep(20);
      for (let done = 1; done < 4; done++) {
        await kit.db.write((tx) => tx('discovery_runs').where({ id }).update({ done }));
        await sleep(1100);
      }
      expect(sockets[0]!.writableLength).to.be.below(10_000);
      await ask('POST', `/api/discovery-runs/${id}/cancel`, {});
      for (let waited = 0; waited < 400 && !sockets[0]!.destroyed; waited++) await sleep(25);
      expect(sockets[0]!.destroyed).to.be.true();
      client.destroy();
    });

    it('are at most 20 at once for an account', async () => {
      const id = await heldRun();
      const streams = await Promise.all(Array.from({ length: 20 }, () => follow(id)));
      expect(streams.every(({ status }) => status === 200)).to.be.true();
      const refused = await ask('GET', pathOf(id));
      expect([refused.status, refused.body.code, refused.headers['retry-after']]).to.equal([429, 'too_many_requests', '30']);
      streams[0]!.close();
      let next = await follow(id);
      for (let waited = 0; waited < 100 && next.status !== 200; waited++) {
        await sleep(20);
        next = await follow(id);
      }
      expect(next.status).to.equal(200);
      for (const stream of [...streams, next]) stream.close();
      await ask('POST', `/api/discovery-runs/${id}/cancel`, {});
    });

    it('end when the key is revoked, and when the server stops', async () => {
      const id = await heldRun();
      const other = await runCommand(kit, 'key create', { account }, []);
      const stream = await follow(id, {}, other.key as string);
      expect((await stream.next()).event).to.equal('progress');
      await runCommand(kit, 'key revoke', {}, [other.id as string]);
      await stream.ended();
      expect((await follow(id, {}, other.key as string)).status).to.equal(401);
      last = await follow(id);
      await last.next();
    });
  });
}
