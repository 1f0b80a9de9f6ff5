import { openDatabase } from '../../database/connect.ts';
import { quiet } from '../quiet.ts';
import { createBus, writeDown } from './notes.ts';

// A node that adds notes and writes down what it hears, until it is killed. Says which notes were acknowledged.
const { url, dataDir, from, by } = JSON.parse(process.argv[2]!);
const db = await openDatabase({ url, dataDir, pool: 5, log: quiet });
const bus = createBus(db);
writeDown(bus, 'reader', by);
await bus.open();
await bus.start();
process.send!({ ready: true });

for (let number = from; number < from + 5000; number++) {
  await db.write((tx) => bus.emit(tx, 'notes', 'notes.added', { number }));
  process.send!({ added: number });
}
