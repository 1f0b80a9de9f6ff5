import type { Reader, Tx } from 'civic';
import type { FirehoseService } from 'civic/firehose';
import type { WorkspaceContext, Workspaces } from '../context.ts';
import { createRecords, type Records } from '../records/records.ts';
import { targetHash } from './keys.ts';
import { createNames } from './names.ts';
import { deliveryFilter, newWatch, watchChange, watchList, watchShown } from './schemas.ts';
import { deleteKeys, insertKeys, setCompared, watchesOn, watchWithTarget, type WatchRow } from './store.ts';
import { createSubscribers, type Subscribers } from './subscribers.ts';
import { checkedTarget, indexedWatch, type TargetSources } from './targets.ts';
import type { Delivery, TargetScope, Watch, WatchTarget } from './types.ts';

/** What watches need to know about the coverage targets of a workspace. */
export interface CoverageScopes {
  /** Returns the name and scope of a coverage target; null when the workspace has no such target. */
  scopeOf(reader: Reader, workspaceId: string, id: string): Promise<(TargetScope & { name: string }) | null>;
}

/** What routes, pages and tools do with watches. */
export interface Watches extends Records<WatchRow, Watch> {
  subscribers: Subscribers;
  firehose: FirehoseService;
  /** Returns targets with their names, for rows that may be of several members. */
  show(reader: Reader, context: WorkspaceContext, rows: WatchRow[]): Promise<Watch[]>;
  /** Creates a watch. Returns the one that the member has on this target already as it is. */
  ensure(tx: Tx, context: WorkspaceContext, given: { target: WatchTarget; delivery: string }): Promise<{ watch: Watch; isNew: boolean }>;
  /** Compares signals with the changed scope of a coverage target from now on. */
  scopeChanged(tx: Tx, workspaceId: string, coverageTargetId: string): Promise<void>;
}

/** Creates watches. Call it once all plugins have registered, because the schemas list the types of signals. */
export function createWatches(workspaces: Workspaces, firehose: FirehoseService, coverage: CoverageScopes): Watches {
  const sources: TargetSources = { workspaces, coverage };
  const subscribers = createSubscribers(workspaces, firehose);
  const show = createShow(createNames(workspaces, coverage));

  async function columnsOf(tx: Tx, context: WorkspaceContext, given: WatchTarget): Promise<Partial<WatchRow>> {
    const target = await checkedTarget(sources, tx, context, given);
    const subscriber = await subscribers.ensure(tx, context);
    const { compared } = await indexedWatch(sources, tx, context.workspace.id, target);
    return {
      subscriber_key: subscriber.key, target_type: target.type, target_hash: targetHash(target), compared: compared && JSON.stringify(compared),
      ...(target.type === 'query' ? { target_id: null, query: JSON.stringify(target.query) } : { target_id: target.id, query: null }),
    };
  }

  const records = createRecords<WatchRow, Watch>(workspaces, {
    name: 'watches',
    noun: 'watch',
    param: 'watch_id',
    table: 'workspaces_watches',
    unknown: 'unknown_watch',
    problems: ['unknown_place', 'unknown_issue_area', 'unknown_actor', 'unknown_coverage_target'],
    schemas: { created: newWatch(firehose.queryableTypes()), changed: watchChange, shown: watchShown, list: watchList, filters: { delivery: deliveryFilter } },
    columns: async (tx, context, { target, delivery }, row) => ({ delivery: delivery as Delivery, ...(!row && await columnsOf(tx, context, target as WatchTarget)) }),
    show,
    removing: (tx, row) => deleteKeys(tx, row.key),
  });

  async function existing(tx: Tx, context: WorkspaceContext, given: { target: WatchTarget }): Promise<Watch | null> {
    const subscriber = await subscribers.ensure(tx, context);
    const row = await watchWithTarget(tx, subscriber.key, targetHash(await checkedTarget(sources, tx, context, given.target)));
    return row ? (await show(tx, context, [row]))[0]! : null;
  }

  async function create(tx: Tx, context: WorkspaceContext, given: object): Promise<Watch> {
    const watch = await records.create(tx, context, given);
    const row = await records.row(tx, context, watch.id);
    await insertKeys(tx, row.key, (await indexedWatch(sources, tx, context.workspace.id, targetOf(row))).keys);
    return watch;
  }

  return {
    ...records, subscribers, firehose, show,
    async ensure(tx, context, given) {
      const watch = await existing(tx, context, given);
      return watch ? { watch, isNew: false } : { watch: await create(tx, context, given), isNew: true };
    },
    create,
    async scopeChanged(tx, workspaceId, id) {
      for (const row of await watchesOn(tx, 'coverage_target', [id])) {
        const { keys, compared } = await indexedWatch(sources, tx, workspaceId, targetOf(row));
        await deleteKeys(tx, row.key);
        await insertKeys(tx, row.key, keys);
        await setCompared(tx, row.key, compared && JSON.stringify(compared));
      }
    },
  };
}

function createShow(namesOf: ReturnType<typeof createNames>): Watches['show'] {
  return async (reader, context, rows) => {
    const nameOf = await namesOf(reader, context, rows.map(targetOf));
    return rows.map((row) => {
      const { id, delivery, created_at, updated_at, created_by } = row;
      const target = targetOf(row);
      return { id, target: { ...target, name: nameOf(target) }, delivery, created_at, updated_at, created_by };
    });
  };
}

export function targetOf({ target_type: type, target_id: id, query }: Pick<WatchRow, 'target_type' | 'target_id' | 'query'>): WatchTarget {
  return type === 'query' ? { type, query: JSON.parse(query!) as never } : { type, id: id! };
}
