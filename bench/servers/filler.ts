import { generatorFor, openDirectory } from '../directory/kit.ts';
import { mergeSearch } from '../../plugins/directory/search/merge.ts';
import type { ActorDraft } from '../../plugins/directory/types.ts';

/** Imports generated drafts in a few long transactions, which takes less than half the CPU of the short ones of an import. */
const [, , folder, wanted] = process.argv;
const AT_ONCE = 10_000;
const EDITOR = { kind: 'import' as const, account_id: null, workspace_id: null };
const directory = await openDirectory({ folder: folder!, url: null });
const generator = await generatorFor(directory);
const { civic: { db }, ledger } = directory;

async function checkedDrafts(from: number): Promise<ActorDraft[]> {
  const drafts = Array.from({ length: Math.max(0, Math.min(AT_ONCE, Number(wanted) - from)) }, (_, index) => generator.draft(from + index));
  return (await ledger.check(db.read, drafts)).map((one) => { if ('faults' in one) throw new Error(JSON.stringify(one)); return one.draft; });
}

await db.write((tx) => tx.raw('pragma cache_size = -1000000'));
let imported = Number((await db.read('directory_records').count({ count: '*' }).first())!.count);
let drafts = await checkedDrafts(imported);
while (drafts.length > 0) {
  const some = drafts;
  imported += some.length;
  // The next ones are generated while the database writes these.
  [, drafts] = await Promise.all([db.write((tx) => ledger.apply(tx, some, EDITOR), { long: true }), checkedDrafts(imported)]);
  process.send?.({ imported });
}
// As the server does at night.
await mergeSearch(db);
await directory.composition.stop();
process.disconnect?.();
