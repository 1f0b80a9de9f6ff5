import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { newId } from '../../core/index.ts';
import { slowness, testServer, type TestServer } from '../../core/testing.ts';
import { runCommand } from '../../plugins/accounts/test/kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const AT = '2026-03-01T12:00:00.000Z';
const CLIENTS = 10;
const MOST_MB = 9;
/** Two bytes for each character in memory. */
const LONG = 'Ω'.repeat(10_000);

describe('Exports of a workspace to clients that do not read', { timeout: 120_000 }, () => {
  let kit: TestServer;
  let key: string;
  let id: string;
  let account: string;
  before(async () => {
    kit = await testServer({ plugins: ['accounts', 'directory', 'workspaces'], listen: true });
    account = (await runCommand(kit, 'account create', { name: 'Ada', plan: 'team' }, [])).id;
    ({ key, workspace_id: id } = await runCommand(kit, 'key create', { account }, []));
    const times = { created_at: AT, updated_at: AT, created_by: account };
    await kit.db.write(async (tx) => {
      for (let part = 0; part < 10; part++) await tx('workspaces_notes').insert(Array.from({ length: 60 }, () => ({ id: newId(), workspace_id: id, target_type: null, target_id: null, text: LONG, ...times })));
      const [list] = await tx('workspaces_lists').insert({ id: newId(), workspace_id: id, name: 'Long', description: null, item_count: 2000, ...times }).returning('*');
      for (let part = 0; part < 20; part++) await tx('workspaces_list_items').insert(Array.from({ length: 100 }, () => ({ list_key: list.key, entity_id: newId(), note: LONG.slice(0, 2000), added_at: AT, added_by: account })));
    });
  });
  after(() => kit.close());

  async function unread(path: string): Promise<Socket> {
    const socket = connect(Number(new URL(kit.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.pause();
    socket.write(`GET /api/workspaces/${id}${path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${key}\r\n\r\n`);
    return socket;
  }

  function liveBytes(): number {
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    return process.memoryUsage().heapUsed;
  }

  for (const path of ['/notes/export', '/lists/{list}/export']) it(`take little memory: ${path}`, async () => {
    const list = (await kit.db.read('workspaces_lists').first('id')).id as string;
    const own = path.replace('{list}', list);
    expect((await kit.request('GET', `/api/workspaces/${id}${own}`, { headers: { 'x-api-key': key } })).text.length).to.be.above(4_000_000);
    const start = liveBytes();
    const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => unread(own)));
    await sleep(3000 * slowness);
    const grown = Math.round((liveBytes() - start) / 2 ** 20);
    for (const socket of sockets) socket.destroy();
    expect(grown, `${grown} MB for ${CLIENTS} clients`).to.be.below(MOST_MB);
  });
});
