import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { slowness, testDatabases } from 'civic/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEvents, openSocket, readersKit, refusal, titles, type ReadersKit } from './readers.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SESSIONS = '/api/firehose/sessions';

describe('Sessions over a restart', { timeout: 60_000 }, () => {
  it('are still there, go on after what was acknowledged, and have missed nothing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'civic-sessions-'));
    const start = () => readersKit({ config: { data_dir: folder, database: { url: null } } });
    let kit = await start();
    const ada = await kit.person();
    const headers = { 'x-api-key': ada.key };
    const made = await kit.session(ada, { query: { signal_types: ['vote'] } });
    const socket = await openSocket(kit, made.id, { headers });
    await kit.publish('Read', 'Unread');
    const [read] = await socket.has(2);
    socket.client.send(JSON.stringify({ type: 'ack', event_id: read.event_id }));
    socket.client.send('{"type":"ping"}');
    await socket.has(1, 'pong');
    const bound = await kit.ticket(ada, made.id);
    (await openEvents(kit, `${SESSIONS}/${made.id}/events?ticket=${bound}`)).close();
    await kit.close();
    expect((await socket.ended).code).to.equal(1001);

    kit = await start();
    expect((await kit.as(ada, 'GET', `${SESSIONS}/${made.id}`)).body.query).to.equal(made.query);
    const again = await openSocket(kit, made.id, { headers });
    await kit.publish('New');
    expect(titles(await again.has(2))).to.equal(['Unread', 'New']);
    const stream = await openEvents(kit, `${SESSIONS}/${made.id}/events?ticket=${bound}`);
    expect(titles(await stream.has(2)), 'a bound ticket is still good').to.equal(['Unread', 'New']);
    await kit.close();
    rmSync(folder, { recursive: true, force: true });
  });
});

if (testDatabases().includes('postgres')) {
  describe('Sessions on two nodes', { timeout: 60_000 }, () => {
    let here: ReadersKit;
    let there: ReadersKit;
    before(async () => {
      here = await readersKit({ database: 'postgres' });
      there = await readersKit({ config: { database: { url: here.composition.config.database.url! } } });
    });
    after(async () => {
      await there.close();
      await here.close();
    });

    it('are read on one after being made and acknowledged on the other', async () => {
      const ada = await here.person();
      const headers = { 'x-api-key': ada.key };
      const { id } = await here.session(ada);
      const socket = await openSocket(here, id, { headers });
      await there.publish('First', 'Second');
      const [first] = await socket.has(2);
      socket.client.send(JSON.stringify({ type: 'ack', event_id: first.event_id }));
      socket.client.send('{"type":"ping"}');
      await socket.has(1, 'pong');
      socket.close();
      let seen: string[] = [];
      for (let i = 0; i < 50 && seen.length !== 1; i++) {
        const stream = await openEvents(there, `${SESSIONS}/${id}/events`, headers);
        await stream.has(1);
        await new Promise((done) => { setTimeout(done, 50); });
        seen = titles(stream.messages.slice(1));
        stream.close();
      }
      expect(seen).to.equal(['Second']);
    });

    it('end on both when deleted, or when the key is revoked, on one', async () => {
      for (const end of [
        (ada: { key: string; key_id: string }, id: string) => here.as(ada, 'DELETE', `${SESSIONS}/${id}`),
        (ada: { key: string; key_id: string }) => here.run('key revoke', {}, [ada.key_id]),
      ]) {
        const ada = await here.person();
        const { id } = await here.session(ada);
        const sockets = await Promise.all([here, there].map((kit) => openSocket(kit, id, { headers: { 'x-api-key': ada.key } })));
        await Promise.all(sockets.map((socket) => socket.has(1, 'firehose.ready')));
        const started = performance.now();
        await end(ada, id);
        for (const socket of sockets) expect((await socket.ended).code).to.equal(1008);
        expect(performance.now() - started).to.be.below(5000 * slowness);
      }
    });

    it('take a ticket once, on whichever node', async () => {
      const ada = await here.person();
      const { id } = await here.session(ada);
      const ticket = await here.ticket(ada, id);
      const opened = await Promise.allSettled([here, there, here, there].map((kit) => openSocket(kit, id, { query: `?ticket=${ticket}` })));
      const inside = opened.filter((one) => one.status === 'fulfilled');
      expect(inside).to.have.length(1);
      inside[0]!.value.close();
      expect((await refusal(openSocket(there, id, { query: `?ticket=${ticket}` }))).status).to.equal(401);
    });
  });
}
