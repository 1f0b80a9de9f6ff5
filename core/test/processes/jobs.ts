import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../clock.ts';
import { openDatabase } from '../../database/connect.ts';
import { quiet } from '../../database/test/support.ts';
import { createJobs } from '../../jobs.ts';

// A worker that writes down when it begins and ends each job, until it is killed. It never ends the third when told to hold it.
const { url, dataDir, by, holdsThird } = JSON.parse(process.argv[2]!);
let begun = 0;
const db = await openDatabase({ url, dataDir, pool: 5, log: quiet });
const queue = createJobs({ db: () => db, log: quiet, clock: systemClock, role: 'all', concurrency: 4, pollSeconds: 0.2 });
const jobs = queue.of('notes');
jobs.define<number>({
  name: 'notes.work',
  // Long enough that a worker on a busy machine does not lose it.
  lease_seconds: 9,
  async run({ payload, write }) {
    await write((tx) => tx('notes_heard').insert({ plugin: 'begin', number: payload, by }));
    process.send!({ begun: payload });
    if (++begun === 3 && holdsThird) await new Promise(() => undefined);
    await sleep(20 + Math.random() * 30);
    await write((tx) => tx('notes_heard').insert({ plugin: 'end', number: payload, by }));
  },
});
jobs.define({
  name: 'notes.deadly',
  lease_seconds: 1,
  max_attempts: 2,
  async run() {
    process.kill(process.pid, 'SIGKILL');
    await sleep(1000);
  },
});
process.once('SIGTERM', async () => {
  await queue.stop();
  await db.close();
  process.exit();
});
await queue.start();
process.send!({ ready: true });
