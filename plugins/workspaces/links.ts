import { problem, type Caller, type Reader, type Tx } from 'civic';
import type { BriefRow, Briefs } from './briefs/briefs.ts';
import { MOST_ENTITIES } from './briefs/schemas.ts';
import { contextIn, type WorkspaceContext, type Workspaces } from './context.ts';
import type { Lists } from './lists/lists.ts';
import { addToCount, insertItems, itemsAmong } from './lists/store.ts';
import { updateRecord } from './records/store.ts';
import type { Targets } from './targets/targets.ts';

/** Records of a workspace that results of another plugin belong to. */
export interface RecordLinks {
  brief_id?: string | null | undefined;
  list_id?: string | null | undefined;
  coverage_target_id?: string | null | undefined;
}

/** What another plugin found: actors that the caller may read, and the discovery run that found them. */
export interface LinkedResults {
  entity_ids: string[];
  run_id: string;
}

export interface LinkWrites {
  /** Throws `unknown_list`, `unknown_brief` or `unknown_coverage_target` when the workspace of the caller has no such record, and `list_full` when the list has no room for so many further entries. */
  checkLinks(reader: Reader, caller: Caller & { workspace_id: string }, links: RecordLinks, entries: number): Promise<void>;
  /** Adds actors to a list and to a brief, as many as the brief can have, and the run to the brief. What is there already stays as it is. Throws as `checkLinks` does. */
  link(tx: Tx, caller: Caller & { workspace_id: string }, links: RecordLinks, results: LinkedResults): Promise<void>;
}

const MOST_RUNS = 100;

export function createLinks(workspaces: Workspaces, { lists, briefs, targets }: { lists: Lists; briefs: Briefs; targets: Targets }): LinkWrites {
  const { civic, accounts } = workspaces;

  function checkRoom(count: number): void {
    const most = civic.config.max_list_items;
    if (count > most) throw problem('list_full', { detail: `A list can have ${most} entries.` });
  }

  async function addToList(tx: Tx, context: WorkspaceContext, listId: string, entityIds: string[]): Promise<void> {
    const list = await lists.rowToChange(tx, context, listId);
    const known = await itemsAmong(tx, list.key, entityIds);
    const added = entityIds.filter((id) => !known.has(id));
    checkRoom(Number(list.item_count) + added.length);
    if (added.length === 0) return;
    const at = civic.clock.iso();
    await insertItems(tx, added.map((entity_id) => ({ list_key: list.key, entity_id, note: null, added_at: at, added_by: context.caller.account_id })));
    await addToCount(tx, list.key, added.length, at);
    await workspaces.use(tx, context, 'record_writes', added.length);
  }

  async function addToBrief(tx: Tx, context: WorkspaceContext, briefId: string, { entity_ids, run_id }: LinkedResults): Promise<void> {
    const brief = await briefs.rowToChange(tx, context, briefId);
    const entities = united(brief.entity_ids, entity_ids).slice(0, MOST_ENTITIES);
    const runs = united(brief.run_ids, [run_id]).slice(-MOST_RUNS);
    await updateRecord<BriefRow>(tx, briefs.kind.table, brief.key, { entity_ids: JSON.stringify(entities), run_ids: JSON.stringify(runs), updated_at: civic.clock.iso() });
    await workspaces.use(tx, context, 'record_writes');
  }

  return {
    async checkLinks(reader, caller, { brief_id, list_id, coverage_target_id }, entries) {
      const context = await contextIn(accounts, reader, caller, caller.workspace_id);
      if (brief_id) await briefs.row(reader, context, brief_id);
      if (list_id) checkRoom(Number((await lists.row(reader, context, list_id)).item_count) + entries);
      if (coverage_target_id) await targets.row(reader, context, coverage_target_id);
    },
    async link(tx, caller, { brief_id, list_id }, results) {
      const context = await contextIn(accounts, tx, caller, caller.workspace_id);
      if (list_id) await addToList(tx, context, list_id, results.entity_ids);
      if (brief_id) await addToBrief(tx, context, brief_id, results);
    },
  };
}

function united(stored: string, added: string[]): string[] {
  return [...new Set([...JSON.parse(stored) as string[], ...added])];
}
