import { openDirectory } from '../directory/kit.ts';
import type { ActorDraft } from '../../plugins/directory/types.ts';

/** A node that enters an actor whenever it is told to, says when that was committed, and takes them all away in the end. */
const [, , folder, url, place] = process.argv;
const { composition, civic: { db }, ledger } = await openDirectory({ folder: folder!, url: url! });
await composition.start();

const EDITOR = { kind: 'import' as const, account_id: null, workspace_id: null };
const ORIGIN = 'bench-nodes:';
const eraseAll = () => db.write((tx) => ledger.erase(tx, ORIGIN, 10_000));

function draftOf(number: number): ActorDraft {
  return {
    type: 'organization',
    origin: `${ORIGIN}${number}`,
    sources: [{ local_id: 's', url: `https://nodes.example/${number}` }],
    claims: Object.entries({ name: `Neighbours of node ${number}`, place: place!, issue_area: 'housing_affordability' }).map(([property, value]) => ({ property: property as 'name', value, source_local_id: 's' })),
  };
}

process.on('message', async ({ number }: { number: number | null }) => {
  if (number === null) {
    await eraseAll();
    await composition.stop();
    process.exit();
  }
  const [checked] = await ledger.check(db.read, [draftOf(number)]);
  if (!checked || 'faults' in checked) throw new Error(JSON.stringify(checked));
  await db.write((tx) => ledger.apply(tx, [checked.draft], EDITOR));
  process.send!({ at: performance.timeOrigin + performance.now() });
});
await eraseAll();
process.send!({ at: 0 });
