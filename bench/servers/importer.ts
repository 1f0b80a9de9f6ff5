import { readFileSync } from 'node:fs';
import { generatorFor, openDirectory } from '../directory/kit.ts';
import type { ActorDraft } from '../../plugins/directory/types.ts';

/** Imports as many drafts as it is told to, again and again, in transactions as long as an import's. */
const [, , folder, url, joins] = process.argv;
const directory = await openDirectory({ folder: folder!, url: url || null });
const generator = await generatorFor(directory);
const { civic: { db }, ledger } = directory;

const EDITOR = { kind: 'import' as const, account_id: null, workspace_id: null };
const MOST_MS = db.dialect === 'sqlite' ? 50 : 500;
let next = Number((await db.read('directory_records').count({ count: '*' }).first())!.count);
let batch = 20;

async function importDrafts(drafts: ActorDraft[]): Promise<void> {
  for (let start = 0; start < drafts.length;) {
    const some = drafts.slice(start, start + batch);
    start += some.length;
    const checked = await ledger.check(db.read, some);
    const sound = checked.map((one) => { if ('faults' in one) throw new Error(JSON.stringify(one)); return one.draft; });
    const started = performance.now();
    await db.write(async (tx) => {
      await ledger.apply(tx, sound, EDITOR, { joins: joins !== '' });
    });
    const ms = performance.now() - started;
    batch = Math.max(10, Math.min(500, Math.round(batch * Math.min(1.3, (0.8 * MOST_MS) / ms))));
  }
}

process.on('message', async ({ count }: { count: number }) => {
  const drafts = Array.from({ length: count }, (_, index) => generator.draft(next + index));
  next += count;
  const cpu = process.cpuUsage();
  const started = performance.now();
  await importDrafts(drafts);
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const megabytes = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) / 1024;
  process.send!({ seconds, cpu: (user + system) / 1e6, megabytes, batch });
});
process.on('disconnect', () => { void directory.composition.stop().then(() => process.exit()); });
process.send!({ next });
