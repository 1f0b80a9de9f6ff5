import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { slowness, testDatabases } from 'civic/testing';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountsKit, type AccountsKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const streaming = (stream: string, database: 'sqlite' | 'postgres' = 'sqlite') => accountsKit({ database, config: { jobs: { poll_seconds: 1 }, plugins: { accounts: { audit: { stream } } } } });
const exported = async (kit: AccountsKit) => (await kit.run('audit export') as string[]).map((line) => JSON.parse(line) as { seq: number; kind: string });

async function until(what: string, isDone: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 30_000 * slowness; !await isDone();) {
    if (performance.now() > end) throw new Error(`It never came to this: ${what}`);
    await new Promise((done) => { setTimeout(done, 50); });
  }
}

for (const database of testDatabases()) {
  describe(`The audit record, streamed to a file (${database})`, { timeout: 90_000 }, () => {
    let folder: string;
    let path: string;
    let kit: AccountsKit;
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'civic-audit-'));
      path = join(folder, 'audit.ndjson');
      kit = await streaming(`file:${path}`, database);
    });
    after(async () => {
      await kit.close();
      rmSync(folder, { recursive: true });
    });

    const lines = () => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line) as { seq: number }) : []);
    const isWhole = async () => existsSync(path) && readFileSync(path, 'utf8') === (await kit.run('audit export') as string[]).map((line) => `${line}\n`).join('');
    const check = () => kit.composition.checks.find(({ name }) => name === 'audit stream')!.run();

    it('is there in order, each row once', async () => {
      await Promise.all(Array.from({ length: 5 }, () => kit.person()));
      await until('the file has every row', isWhole);
      expect(await check()).to.include({ status: 'ok' });
    });

    it('goes on without gap or repetition when a crash came between the file and the position, or cut a line', async () => {
      await until('the file has every row', isWhole);
      // The process died after the rows were written and before the position was stored.
      await kit.db.write((tx) => tx('accounts_audit_stream').update({ seq: 2 }));
      await kit.person();
      await until('the file has every row', isWhole);
      appendFileSync(path, '{"seq":99,"kind":"cut');
      await kit.person();
      await until('the file has every row', isWhole);
    });

    it('goes on in a new file when the old one was rotated', async () => {
      await until('the file has every row', isWhole);
      const last = lines().at(-1)!.seq;
      renameSync(path, `${path}.1`);
      await kit.person();
      await until('the new file begins', () => lines().length >= 4);
      expect(lines()[0]!.seq).to.equal(last + 1);
    });

    it('stops when the record no longer contains the row that was streamed last, and says so', async () => {
      await until('the position is stored', async () => (await check()).status === 'ok');
      const streamed = lines().at(-1)!;
      const kept = await kit.db.read('accounts_audit').where({ seq: streamed.seq - 1 }).first();
      await kit.db.write(async (tx) => {
        await tx('accounts_audit').where('seq', '>', kept.seq).delete();
        await tx('accounts_audit_head').update({ seq: kept.seq, hash: kept.hash });
      });
      await kit.person();
      const { status, detail } = await check();
      expect([status, detail]).to.equal(['warning', `row ${streamed.seq} of the record is not the one that was streamed to file:${path}`]);
      expect(lines().at(-1)).to.equal(streamed);
    });
  });
}

describe('The audit record, streamed to syslog', { timeout: 60_000 }, () => {
  const FORM = /^<109>1 \d{4}-\d\d-\d\dT[\d:.]+Z \S+ civic \d+ (\w+) - (\{.*\})$/;

  it('by UDP', async () => {
    const socket = createSocket('udp4');
    const messages: string[] = [];
    socket.on('message', (message) => { messages.push(String(message)); });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const kit = await streaming(`syslog://127.0.0.1:${socket.address().port}`);
    await kit.person();
    await until('all arrive', async () => messages.length >= (await exported(kit)).length);
    const rows = messages.map((message) => FORM.exec(message)!);
    expect(rows.map(([, kind]) => kind)).to.equal((await exported(kit)).map(({ kind }) => kind));
    expect(JSON.parse(rows[0]![2]!)).to.include({ seq: 1 });
    await kit.close();
    socket.close();
  });

  it('by TCP and by a unix socket, with octet counting, again once the server is back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'civic-syslog-'));
    for (const kind of ['tcp', 'unix'] as const) {
      let received = '';
      const listener = () => createServer((socket) => { socket.on('data', (chunk) => { received += String(chunk); }); });
      let server = listener();
      const path = join(folder, 'log');
      server.listen(kind === 'tcp' ? { port: 0, host: '127.0.0.1' } : { path });
      await once(server, 'listening');
      const port = kind === 'tcp' ? (server.address() as AddressInfo).port : 0;
      const kit = await streaming(kind === 'tcp' ? `syslog+tcp://127.0.0.1:${port}` : `syslog+unix:${path}`);
      const messages = () => {
        const found: string[] = [];
        for (let rest = Buffer.from(received); rest.length > 0;) {
          const space = rest.indexOf(32);
          const size = Number(rest.subarray(0, space));
          found.push(rest.subarray(space + 1, space + 1 + size).toString());
          rest = rest.subarray(space + 1 + size);
        }
        return found;
      };
      await until('the first arrive', () => messages().length > 0);
      server.close();
      await once(server, 'close');
      await kit.person();
      server = listener();
      server.listen(kind === 'tcp' ? { port, host: '127.0.0.1' } : { path });
      await until(`all arrive by ${kind}`, async () => messages().length >= (await exported(kit)).length);
      expect(messages().map((message) => JSON.parse(FORM.exec(message)![2]!).seq)).to.equal((await exported(kit)).map(({ seq }) => seq));
      await kit.close();
      server.close();
    }
    rmSync(folder, { recursive: true });
  });

  it('that falls behind is a warning in readiness and doctor, and does not stop requests', async () => {
    const kit = await streaming('syslog+tcp://127.0.0.1:1');
    await kit.person();
    await kit.db.write((tx) => tx('accounts_audit').where({ seq: 1 }).update({ at: new Date(Date.now() - 120_000).toISOString() }));
    const found = await kit.composition.checks.find(({ name }) => name === 'audit stream')!.run();
    expect(found.status).to.equal('warning');
    expect(found.detail).to.contain('row 1 waits');
    const ready = await kit.request('GET', '/health/ready');
    expect([ready.status, ready.body.checks.find(({ name }: { name: string }) => name === 'audit stream').status]).to.equal([200, 'warning']);
    await kit.close();
  });

  it('is refused with an address that is none', async () => {
    for (const stream of ['file:relative', 'syslog:', 'http://example.org', '/var/log/x']) await expect(streaming(stream), stream).to.reject(/audit.stream/);
  });
});
