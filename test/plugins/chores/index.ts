import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { definePlugin, isId, Joi, newId, problem } from 'civic';
import { createGuard } from './guard.ts';
import * as store from './store.ts';

const run = Joi.object({
  process: Joi.number().required(),
  attempt: Joi.number().required(),
  begun_at: Joi.string().required(),
  ended_at: Joi.string().allow(null).required(),
});
const chore = Joi.object({ id: Joi.string().required(), done: Joi.number().required(), runs: Joi.array().items(run).required() }).meta({ name: 'Chore' });

interface Order {
  id: string;
  milliseconds: number;
}

/** Does each chore in a job, and keeps a list of who did what when. */
export default definePlugin({
  name: 'chores',
  summary: 'Work that is done in the background',
  problems: {
    unknown_chore: { status: 404, title: 'No such chore', advice: 'Use the id that was given when it was ordered.' },
  },
  migrations: `${import.meta.dirname}/migrations`,

  register(server, civic) {
    const guard = createGuard(join(civic.instance.data_dir, 'chores'));

    civic.jobs.define<Order>({
      name: 'chores.do',
      payload: Joi.object({ id: Joi.string().required(), milliseconds: Joi.number().required() }),
      // A process that is slow on a busy machine keeps it; one that was killed holds it up for this long.
      lease_seconds: 9,
      // Killed processes are what it is for.
      max_attempts: 1000,
      async run({ payload: { id, milliseconds }, attempt, signal, write }) {
        const leave = guard.enter(id);
        try {
          const key = await write((tx) => store.beginRun(tx, { chore: id, process: process.pid, attempt, begun_at: civic.clock.iso() }));
          await sleep(milliseconds, undefined, { signal });
          await write((tx) => store.endRun(tx, key, id, civic.clock.iso()));
        } finally {
          leave();
        }
      },
    });
    civic.check({ name: 'chores', run: async () => ({ status: 'ok', detail: `${await store.countWaiting(civic.db.read)} to be done` }) });

    server.route([
      {
        method: 'POST',
        path: '/api/chores',
        options: {
          description: 'Order a chore',
          validate: { query: Joi.object({}), payload: Joi.object({ milliseconds: Joi.number().integer().min(0).max(60_000).required() }) },
          response: { status: { 201: chore } },
        },
        handler: async (request, h) => {
          const { milliseconds } = request.payload as Omit<Order, 'id'>;
          const id = newId();
          await civic.db.write(async (tx) => {
            await store.addChore(tx, id);
            await civic.jobs.enqueue(tx, 'chores.do', { id, milliseconds });
          });
          return h.response({ id, done: 0, runs: [] }).code(201).header('location', civic.url(`/api/chores/${id}`));
        },
      },
      {
        method: 'GET',
        path: '/api/chores/{id}',
        options: {
          description: 'One chore, and who did it',
          validate: { query: Joi.object({}), params: Joi.object({ id: Joi.string() }) },
          plugins: { civic: { problems: ['unknown_chore'] } },
          response: { schema: chore },
        },
        handler: async (request) => {
          const id = String(request.params.id);
          const found = isId(id) ? await civic.db.snapshot((tx) => store.choreById(tx, id)) : null;
          if (!found) throw problem('unknown_chore', { detail: `No chore has the id ${id}.` });
          return found;
        },
      },
    ]);

    return { start: async () => { guard.open(); } };
  },
});
