import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { Failure, Misuse, type Terminal } from '../cli/command.ts';
import { eventCommands } from '../cli/events.ts';
import { databases, type TestDatabase } from '../database/test/support.ts';
import type { EventBus } from '../events.ts';
import { createBus, heard, prepare } from './processes/notes.ts';
import { until } from './wait.ts';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

for (const { dialect, create } of databases()) {
  describe(`civic events on ${dialect}`, { timeout: 60_000 }, () => {
    let database: TestDatabase;
    let server: EventBus;
    let lines: string[];
    let isSick: boolean;

    const terminal: Terminal = {
      out: (line) => { lines.push(line); }, err: (line) => { lines.push(line); }, print: (_value, words) => { lines.push(words()); },
      progress: () => undefined, style: (_style, text) => text, json: false, signal: new AbortController().signal,
    };
    async function civic(bus: EventBus, ...words: string[]): Promise<string> {
      lines = [];
      const command = eventCommands(() => bus).find(({ name }) => name === words.slice(0, 2).join(' '))!;
      await command.run({ terminal, positionals: words.slice(2), options: {}, cwd: process.cwd() });
      return lines.join('\n');
    }

    beforeEach(async () => {
      database = await create();
      const db = await database.open();
      await prepare(db);
      isSick = true;
      server = createBus(db, { patience: { firstMs: 1, mostMs: 1, attempts: 2 } });
      server.on('reader', 'notes.added', async (tx, { seq, payload }) => {
        if (isSick) throw new Error('out of order');
        await tx('notes_heard').insert({ plugin: 'reader', seq, number: payload.number });
      });
      await server.open();
      await server.start();
      for (const number of [1, 2]) await db.write((tx) => server.emit(tx, 'notes', 'notes.added', { number }));
      await until(async () => (await server.status()).plugins[0]!.state === 'stopped');
    });
    afterEach(async () => {
      await server.stop();
      await database.drop();
    });

    it('list shows who is stopped, at which event and why', async () => {
      await until(async () => (await server.status()).head === 2);
      expect(await civic(server, 'events', 'list')).to.equal('Newest event: 2\nreader         stopped   at 0, 2 behind  event 1: out of order');
    });

    it('retry and skip set it going again, also from another process', async () => {
      const db = await database.open();
      // A command is a composition of its own that never starts; on SQLite it runs inside the server.
      const command = dialect === 'postgres' ? createBus(db) : server;
      expect(await civic(command, 'events', 'skip', 'reader')).to.equal('Event 1 (notes.added) for reader is skipped. It had failed with: out of order');
      await until(async () => (await server.status()).plugins[0]!.failed_seq === 2 && (await server.status()).plugins[0]!.state === 'stopped');
      isSick = false;
      expect(await civic(command, 'events', 'retry', 'reader')).to.startWith('Event 2 (notes.added) for reader is tried again.');
      await until(async () => (await heard(db, 'reader')).length === 1);
      expect((await heard(db, 'reader')).map(({ number }) => number)).to.equal([2]);
    });

    it('retry and skip say what is wrong with them', async () => {
      await expect(civic(server, 'events', 'retry')).to.reject(Misuse, 'Name one plugin');
      await expect(civic(server, 'events', 'skip', 'nobody')).to.reject(Failure, 'No event holds up nobody: bin/civic events list shows every plugin that listens');
    });
  });
}
