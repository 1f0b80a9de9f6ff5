import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../database/connect.ts';
import { quiet } from '../quiet.ts';
import { startWorker } from './worker.ts';

// A worker that runs until it is killed, also by a job that kills it.
const { url, dataDir, by, holdsThird } = JSON.parse(process.argv[2]!);
const db = await openDatabase({ url, dataDir, pool: 5, log: quiet });
const die = async (): Promise<void> => {
  process.kill(process.pid, 'SIGKILL');
  await sleep(1000);
};
await startWorker(db, { by, holdsThird, die, onBegin: (payload) => { process.send!({ begun: payload }); } });
process.send!({ ready: true });
