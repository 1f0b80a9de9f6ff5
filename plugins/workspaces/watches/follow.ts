import type { Caller, Tx } from 'civic';
import type { ActorsChanged, DirectoryService } from 'civic/directory';
import { entitySubject } from './keys.ts';
import { copySubject, deleteKeys, entityWatchesUnder, insertKeys, type WatchRow } from './store.ts';

/** Updates the index of watches on actors that were merged or split. A watch keeps the id that it was given, and also finds signals about the actor that this id is part of now. */
export async function followActors(directory: DirectoryService, tx: Tx, changes: ActorsChanged['actors']): Promise<void> {
  for (const { id, change, into } of changes) {
    if (change === 'merged' && into) await copySubject(tx, entitySubject(id), entitySubject(into));
    // Also watches on actors that were merged into this one before: they may be part of either side now.
    if (change === 'split') for (const watch of await entityWatchesUnder(tx, entitySubject(id))) await indexAgain(directory, tx, watch);
  }
}

async function indexAgain(directory: DirectoryService, tx: Tx, { key, target_id, workspace_id, created_by }: WatchRow): Promise<void> {
  const member: Caller = { account_id: created_by, via: 'session', scope: [], role: 'user', plan: '', capabilities: [], workspace_id, workspace_role: 'member' };
  const found = (await directory.actorReferences(tx, [target_id!], member)).get(target_id!);
  const ids = [target_id!, ...(found?.state === 'merged' ? [found.into] : [])];
  await deleteKeys(tx, key);
  await insertKeys(tx, key, ids.map((id) => ({ subject: entitySubject(id), issue: '', type: '' })));
}
