import { definePlugin, Joi } from 'civic';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A job that fails while the data folder has a file named `broken`. */
export default definePlugin({
  name: 'flaky',
  summary: 'A job that fails, for tests',
  register(server, civic) {
    civic.jobs.define({
      name: 'flaky.work',
      max_attempts: 1,
      async run() {
        if (existsSync(join(civic.instance.data_dir, 'broken'))) throw new Error('The printer is on fire');
      },
    });
    server.route({
      method: 'POST', path: '/api/flaky',
      options: { description: 'Enqueues the job', validate: { query: Joi.object({}) }, response: { schema: Joi.object({ id: Joi.string() }) } },
      handler: async () => ({ id: await civic.db.write((tx) => civic.jobs.enqueue(tx, 'flaky.work', {})) }),
    });
  },
});
