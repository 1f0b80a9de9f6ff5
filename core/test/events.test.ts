import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { setTimeout as sleep } from 'node:timers/promises';
import { stoppedClock } from '../clock.ts';
import type { OpenDatabase } from '../database/connect.ts';
import { databases, type TestDatabase } from '../database/test/support.ts';
import { eventsCheck } from '../events/status.ts';
import type { EventBus, EventsOptions } from '../events.ts';
import { createBus, empty, heard, prepare, writeDown } from './processes/notes.ts';
import { until } from './wait.ts';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach, afterEach } = lab;

for (const { dialect, create } of databases()) {
  describe(`events on ${dialect}`, { timeout: 60_000 }, () => {
    let database: TestDatabase;
    let db: OpenDatabase;
    let running: EventBus[];

    async function start(declare: (bus: EventBus) => void, options: Partial<EventsOptions> = {}, on = db): Promise<EventBus> {
      const bus = createBus(on, options);
      declare(bus);
      await bus.open();
      await bus.start();
      running.push(bus);
      return bus;
    }
    async function stop(bus: EventBus): Promise<void> {
      await bus.stop();
      running = running.filter((other) => other !== bus);
    }
    const add = (bus: EventBus, ...numbers: number[]) => db.write(async (tx) => {
      for (const number of numbers) await bus.emit(tx, 'notes', 'notes.added', { number });
    });
    const numbers = async (plugin: string) => (await heard(db, plugin)).map(({ number }) => number);
    const stateOf = async (bus: EventBus, plugin: string) => (await bus.status()).plugins.find((one) => one.plugin === plugin)!;

    before(async () => {
      database = await create();
      db = await database.open({ pool: 10 });
      await prepare(db);
    });
    after(() => database.drop());
    beforeEach(() => { running = []; });
    afterEach(async () => {
      for (const bus of running) await bus.stop();
      await empty(db, 'core_event_log', 'core_event_outbox', 'core_event_positions', 'notes_heard');
      await db.write((tx) => tx('core_event_head').update({ last_seq: 0, floor_seq: 0 }));
    });

    it('tries again without waiting for a time that was stored while the clock was a day ahead', async () => {
      const clock = stoppedClock();
      let tries = 0;
      const bus = await start((bus) => bus.on('sick', 'notes.added', async () => { if (++tries === 1) throw new Error('out of order'); }), { clock });
      clock.advance(86_400_000);
      await add(bus, 1);
      await until(async () => (await stateOf(bus, 'sick')).state === 'retrying');
      clock.advance(-86_400_000);
      await until(() => tries === 2);
    });

    it('delivers what was emitted, in order, with name, version, time and payload', async () => {
      const events: unknown[] = [];
      const clock = stoppedClock('2026-03-01T12:00:00.000Z');
      const bus = await start((bus) => bus.on('reader', 'notes.added', async (_tx, event) => { events.push(event); }), { clock });
      await add(bus, 7, 8);
      await until(() => events.length === 2);
      expect(events).to.equal([7, 8].map((number, index) => ({ seq: index + 1, name: 'notes.added', version: 2, at: '2026-03-01T12:00:00.000Z', payload: { number } })));
    });

    it('delivers nothing of a transaction that was rolled back', async () => {
      const bus = await start((bus) => writeDown(bus, 'reader'));
      await expect(db.write(async (tx) => {
        await bus.emit(tx, 'notes', 'notes.added', { number: 1 });
        throw new Error('no');
      })).to.reject('no');
      await add(bus, 2);
      await until(async () => (await numbers('reader')).length > 0);
      expect(await numbers('reader')).to.equal([2]);
    });

    it('refuses events that are not declared, belong to another plugin, or do not fit their schema', async () => {
      const bus = createBus(db);
      const emit = (plugin: string, name: string, payload: unknown) => db.write((tx) => bus.emit(tx, plugin, name, payload));
      await expect(emit('notes', 'notes.changed', {})).to.reject('The event "notes.changed" is not declared: add it to the events of the plugin notes');
      await expect(emit('flags', 'notes.added', { number: 1 })).to.reject('The plugin flags cannot emit "notes.added": its events begin with "flags."');
      await expect(emit('notes', 'notes.added', { number: '1' })).to.reject('The payload of the event "notes.added" does not fit its schema: "number" must be a number');
      await expect(emit('notes', 'notes.added', { number: 1, more: 2 })).to.reject(/"more" is not allowed/);
      expect(() => bus.on('reader', 'notes.aded', async () => {})).to.throw('There is no event "notes.aded", only notes.added, notes.removed');
      expect(() => bus.on('reader', 'accounts.closed', async () => {})).to.not.throw();
      expect((await bus.status()).head).to.equal(0);
    });

    it('lets a handler emit in its own transaction', async () => {
      const bus = await start((bus) => {
        bus.on('notes', 'notes.removed', (tx, { payload }) => bus.emit(tx, 'notes', 'notes.added', { number: payload.number + 1 }));
        writeDown(bus, 'reader');
      });
      await db.write((tx) => bus.emit(tx, 'notes', 'notes.removed', { number: 1 }));
      await until(async () => (await numbers('reader')).length === 1);
      expect(await numbers('reader')).to.equal([2]);
    });

    it('rolls back what a failing handler wrote, tries again, and keeps the order', async () => {
      let failures = 0;
      const bus = await start((bus) => {
        writeDown(bus, 'reader');
        bus.on('reader', 'notes.added', async (_tx, { payload }) => {
          if (payload.number === 3 && ++failures < 4) throw new Error('not yet');
        });
      }, { patience: { firstMs: 20, mostMs: 50, attempts: 12 } });
      await add(bus, 1, 2, 3, 4, 5);
      await until(async () => (await numbers('reader')).length === 5);
      expect(await numbers('reader')).to.equal([1, 2, 3, 4, 5]);
      expect(failures).to.be.at.least(4);
      expect(await stateOf(bus, 'reader')).to.include({ state: 'running', attempts: 0, error: null });
    });

    it('says what holds a plugin up while it waits, and lets others go on', async () => {
      const clock = stoppedClock();
      const bus = await start((bus) => {
        bus.on('sick', 'notes.added', async () => { throw new Error('out of order'); });
        writeDown(bus, 'healthy');
      }, { clock });
      await add(bus, 1, 2);
      await until(async () => (await numbers('healthy')).length === 2 && (await stateOf(bus, 'sick')).attempts === 1);
      expect(await stateOf(bus, 'sick')).to.include({ position: 0, lag: 2, state: 'retrying', failed_seq: 1, error: 'out of order', retry_at: '2026-01-01T00:00:01.000Z' });
      await sleep(100);
      expect((await stateOf(bus, 'sick')).attempts).to.equal(1);
      clock.advance(1000);
      await until(async () => (await stateOf(bus, 'sick')).attempts === 2);
      expect((await stateOf(bus, 'sick')).retry_at).to.equal('2026-01-01T00:00:03.000Z');
      expect((await eventsCheck(bus.status).run()).status).to.equal('warning');
    });

    it('stops the delivery to a plugin after too many failures until an operator retries', async () => {
      let isSick = true;
      const bus = await start((bus) => {
        writeDown(bus, 'reader');
        bus.on('reader', 'notes.added', async () => { if (isSick) throw new Error('out of order'); });
      }, { patience: { firstMs: 1, mostMs: 1, attempts: 3 } });
      await add(bus, 1, 2);
      await until(async () => (await stateOf(bus, 'reader')).state === 'stopped');
      expect(await eventsCheck(bus.status).run()).to.equal({ status: 'failed', detail: 'Delivery to reader stopped at event 1: out of order', fix: 'bin/civic events retry reader' });
      isSick = false;
      await sleep(100);
      expect(await numbers('reader')).to.equal([]);
      expect(await bus.retry('reader')).to.equal({ plugin: 'reader', seq: 1, name: 'notes.added', error: 'out of order', missed: 0 });
      await until(async () => (await numbers('reader')).length === 2);
      expect((await eventsCheck(bus.status).run()).status).to.equal('ok');
      expect(await bus.retry('reader')).to.be.null();
      expect(await bus.skip('nobody')).to.be.null();
    });

    it('skips one event on request, and only that one', async () => {
      const bus = await start((bus) => {
        writeDown(bus, 'reader');
        bus.on('reader', 'notes.added', async (_tx, { payload }) => { if (payload.number === 2) throw new Error('never'); });
      }, { patience: { firstMs: 1, mostMs: 1, attempts: 2 } });
      await add(bus, 1, 2, 3);
      await until(async () => (await stateOf(bus, 'reader')).state === 'stopped');
      expect(await bus.skip('reader')).to.include({ seq: 2, name: 'notes.added' });
      await until(async () => (await numbers('reader')).length === 2);
      expect(await numbers('reader')).to.equal([1, 3]);
    });

    it('counts a handler that hides a failed statement as failing', async () => {
      const bus = await start((bus) => bus.on('reader', 'notes.added', async (tx) => {
        await tx('notes_heard').insert({ plugin: 'reader' });
        await tx('notes_missing').insert({ a: 1 }).catch(() => undefined);
      }), { patience: { firstMs: 1, mostMs: 1, attempts: 2 } });
      await add(bus, 1, 2);
      if (dialect === 'postgres') await until(async () => (await stateOf(bus, 'reader')).state === 'stopped');
      else await until(async () => (await heard(db, 'reader')).length === 2);
    });

    it('resumes after a restart where it was', async () => {
      const first = await start((bus) => writeDown(bus, 'reader', 'first'));
      await add(first, 1, 2);
      await until(async () => (await numbers('reader')).length === 2);
      await stop(first);
      const between = createBus(db);
      await add(between, 3);
      const second = await start((bus) => writeDown(bus, 'reader', 'second'));
      await add(second, 4);
      await until(async () => (await numbers('reader')).length === 4);
      expect((await heard(db, 'reader')).map(({ number, by }) => `${number} ${by}`)).to.equal(['1 first', '2 first', '3 second', '4 second']);
    });

    it('starts a plugin that is new or was off at the head, and says that it must rebuild until it has started', async () => {
      const first = await start((bus) => writeDown(bus, 'reader'));
      await add(first, 1);
      await until(async () => (await numbers('reader')).length === 1);
      await stop(first);

      const without = await start((bus) => writeDown(bus, 'other'));
      await add(without, 2);
      await until(async () => (await numbers('other')).length === 1);
      expect((await stateOf(without, 'reader')).state).to.equal('off');
      expect((await eventsCheck(without.status).run()).status).to.equal('ok');
      await stop(without);

      const crashing = createBus(db);
      writeDown(crashing, 'reader');
      writeDown(crashing, 'other');
      expect(await crashing.open()).to.equal(['reader']);
      const again = createBus(db);
      writeDown(again, 'reader');
      writeDown(again, 'other');
      expect(await again.open()).to.equal(['reader']);
      await again.start();
      running.push(again);
      await add(again, 3);
      await until(async () => (await numbers('reader')).length === 2 && (await numbers('other')).length === 2);
      expect(await numbers('reader')).to.equal([1, 3]);
      expect(await again.open()).to.equal([]);
    });

    it('passes over events a plugin does not listen to', async () => {
      const bus = await start((bus) => bus.on('reader', 'notes.removed', async () => {}));
      await add(bus, 1, 2, 3);
      await until(async () => (await stateOf(bus, 'reader')).position === 3);
      expect(await stateOf(bus, 'reader')).to.include({ lag: 0, state: 'running' });
    });

    it('outlives a watcher that fails after a while', async () => {
      const seen: number[] = [];
      const bus = await start((bus) => {
        bus.watch('sick', 'notes.added', async () => { await sleep(1); throw new Error('no'); });
        bus.watch('cache', 'notes.added', ({ payload }) => { seen.push(payload.number); });
      });
      await add(bus, 1);
      await until(() => seen.length === 1);
      await sleep(20);
      await add(bus, 2);
      await until(() => seen.length === 2);
    });

    it('notifies watchers without a guarantee: a failing one affects no other', async () => {
      const seen: number[] = [];
      const bus = await start((bus) => {
        bus.watch('sick', 'notes.added', () => { throw new Error('no'); });
        bus.watch('cache', 'notes.added', ({ payload }) => seen.push(payload.number));
      });
      await add(bus, 1);
      await add(bus, 2);
      await until(() => seen.length === 2);
      expect(seen).to.equal([1, 2]);
      expect((await bus.status()).plugins).to.equal([]);
    });

    it('removes old events, but none that a plugin has still to hear', async () => {
      const clock = stoppedClock('2026-01-01T00:00:00.000Z');
      const bus = await start((bus) => {
        writeDown(bus, 'healthy');
        bus.on('sick', 'notes.added', async (_tx, { payload }) => { if (payload.number === 3) throw new Error('no'); });
      }, { clock, retentionDays: 7, patience: { firstMs: 1, mostMs: 1, attempts: 1 } });
      await add(bus, 1, 2, 3, 4);
      await until(async () => (await stateOf(bus, 'healthy')).lag === 0 && (await stateOf(bus, 'sick')).state === 'stopped');
      clock.set('2026-01-07T00:00:00.000Z');
      expect(await bus.prune()).to.equal(0);
      await db.write((tx) => tx('core_event_positions').where({ plugin: 'sick' }).update({ stopped_at: clock.iso() }));
      clock.set('2026-01-09T00:00:00.000Z');
      await add(bus, 5);
      await until(async () => (await stateOf(bus, 'healthy')).position === 5);
      expect(await bus.prune()).to.equal(2);
      clock.set('2026-01-15T00:00:00.000Z');
      expect(await bus.prune()).to.equal(2);
      expect(await bus.status()).to.include({ head: 5, floor: 4 });
      expect(await bus.retry('sick')).to.equal({ plugin: 'sick', seq: 3, name: null, error: 'no', missed: 2 });
      await until(async () => (await stateOf(bus, 'sick')).lag === 0);
    });

    it('rebuilds at its next start a plugin whose events were removed', async () => {
      const bus = await start((bus) => writeDown(bus, 'reader'));
      await stop(bus);
      await add(bus, 1, 2);
      const moving = await start(() => {});
      await until(async () => (await moving.status()).head === 2);
      await db.write((tx) => tx('core_event_head').update({ floor_seq: 2 }));
      await db.write((tx) => tx('core_event_positions').update({ off_at: null }));
      const next = createBus(db);
      writeDown(next, 'reader');
      expect(await next.open()).to.equal(['reader']);
      expect((await stateOf(next, 'reader')).position).to.equal(2);
    });

    if (dialect === 'postgres') {
      it('delivers once per installation with two nodes, while watchers hear everything on both', async () => {
        const other = await database.open({ pool: 10 });
        const seen: number[][] = [[], []];
        const nodes = await Promise.all([db, other].map((on, index) => start((bus) => {
          writeDown(bus, 'reader', String(index));
          writeDown(bus, 'second', String(index));
          bus.watch('cache', 'notes.added', ({ payload }) => seen[index]!.push(payload.number));
        }, {}, on)));
        const all = Array.from({ length: 100 }, (_, number) => number);
        await Promise.all(all.map((number) => add(nodes[number % 2]!, number)));
        for (const plugin of ['reader', 'second']) {
          await until(async () => (await numbers(plugin)).length >= all.length);
          const rows = await heard(db, plugin);
          expect(rows.map(({ seq }) => seq)).to.equal(all.map((number) => number + 1));
        }
        await until(() => seen.every((one) => one.length === all.length));
        expect(seen.map((one) => one.toSorted((a, b) => a - b))).to.equal([all, all]);
      });

      it('goes on with a plugin that another node, which lacks it, has marked as off', async () => {
        const bus = await start((bus) => writeDown(bus, 'reader'));
        const other = await start(() => {}, {}, await database.open());
        await add(other, 1);
        await until(async () => (await numbers('reader')).length === 1 && (await stateOf(bus, 'reader')).state === 'running');
      });
    }
  });
}
