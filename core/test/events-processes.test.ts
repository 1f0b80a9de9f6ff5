import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { databases, type TestDatabase } from '../database/test/support.ts';
import { startChild, type Child } from './processes/child.ts';
import { createBus, heard, prepare, writeDown } from './processes/notes.ts';
import { until } from './wait.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { describe, it, before, after, afterEach } = lab;

for (const { dialect, create } of databases()) {
  describe(`events over processes on ${dialect}`, { timeout: 120_000 }, () => {
    let database: TestDatabase;
    let children: Child[] = [];
    before(async () => { database = await create(); });
    after(() => database.drop());
    afterEach(async () => {
      for (const child of children) await child.kill('SIGKILL');
      children = [];
    });

    async function start(from: number): Promise<Child> {
      const child = await startChild('events', { url: database.url, dataDir: database.dataDir, from, by: String(from) });
      children.push(child);
      return child;
    }

    it('lose nothing and repeat nothing when processes are killed in the middle of it', async () => {
      const first = await database.open();
      await prepare(first);
      await first.close();
      const acknowledged: number[] = [];
      for (const round of [0, 1]) {
        // Several nodes share Postgres; an SQLite file belongs to one process.
        const offsets = dialect === 'postgres' ? [0, 10_000] : [0];
        const nodes = await Promise.all(offsets.map((offset) => start(round * 20_000 + offset)));
        await until(() => nodes.every((node) => node.messages.length > 50));
        await Promise.all(nodes.map((node) => node.kill('SIGKILL')));
        acknowledged.push(...nodes.flatMap((node) => node.messages.flatMap(({ added }) => (typeof added === 'number' ? [added] : []))));
      }

      const db = await database.open();
      const bus = createBus(db);
      writeDown(bus, 'reader', 'last');
      expect(await bus.open()).to.equal([]);
      await bus.start();
      await until(async () => (await db.read('core_event_outbox').first('key')) === undefined);
      const { head } = await bus.status();
      await until(async () => (await bus.status()).plugins[0]!.lag === 0);
      await bus.stop();

      const log = await db.read('core_event_log').select('seq', 'payload').orderBy('seq');
      expect(log.map(({ seq }) => seq)).to.equal(Array.from({ length: head }, (_, index) => index + 1));
      const logged = log.map(({ payload }) => JSON.parse(payload).number);
      expect(acknowledged.filter((number) => !logged.includes(number))).to.equal([]);
      const rows = await heard(db, 'reader');
      expect(rows.map(({ seq }) => seq)).to.equal(log.map(({ seq }) => seq));
      expect(rows.map(({ number }) => number)).to.equal(logged);
      expect(acknowledged.length).to.be.at.least(100);
    });
  });
}
