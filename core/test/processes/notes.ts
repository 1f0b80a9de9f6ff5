import Joi from 'joi';
import { systemClock, type Clock } from '../../clock.ts';
import type { OpenDatabase } from '../../database/connect.ts';
import { migrate } from '../../database/migrate.ts';
import { quiet } from '../quiet.ts';
import { createEvents, type EventBus, type EventsOptions } from '../../events.ts';

/** The events of the tests' own plugin, `notes`. */
export const kinds = {
  'notes.added': { summary: 'A note was added', version: 2, payload: Joi.object({ number: Joi.number().integer().required() }) },
  'notes.removed': { summary: 'A note was removed', version: 1, payload: Joi.object({ number: Joi.number().required() }) },
};

/** Where handlers leave their traces. */
export async function prepare(db: OpenDatabase): Promise<void> {
  await migrate(db, []);
  await db.write(async (tx) => {
    if (await tx.schema.hasTable('notes_heard')) return;
    await tx.schema.createTable('notes_heard', (table) => {
      table.increments('key');
      table.text('plugin');
      table.integer('seq');
      table.integer('number');
      table.text('by');
    });
  });
}

export async function empty(db: OpenDatabase, ...tables: string[]): Promise<void> {
  await db.write(async (tx) => {
    for (const table of tables) await tx(table).delete();
  });
}

export function createBus(db: OpenDatabase, options: Partial<EventsOptions> = {}): EventBus {
  const clock: Clock = options.clock ?? systemClock;
  return createEvents({ db: () => db, log: quiet, clock, kinds, retentionDays: 30, pollMs: 30, delivers: true, ...options });
}

/** Makes `plugin` write down each note it hears of. */
export function writeDown(bus: EventBus, plugin: string, by = ''): void {
  bus.on(plugin, 'notes.added', async (tx, { seq, payload }) => {
    await tx('notes_heard').insert({ plugin, seq, number: payload.number, by });
  });
}

export async function heard(db: OpenDatabase, plugin: string): Promise<{ seq: number; number: number; by: string }[]> {
  return db.read('notes_heard').select('seq', 'number', 'by').where({ plugin }).orderBy('key');
}
