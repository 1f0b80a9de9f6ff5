import { isId, problem, singleLine, type Reader, type Tx } from 'civic';
import type { FirehoseService } from 'civic/firehose';
import type { WorkspaceContext, Workspaces } from '../context.ts';
import { createRecords, type Records } from '../records/records.ts';
import { checkedActors } from '../references.ts';
import { indexedTarget, targetHash, type IndexedTarget } from './keys.ts';
import { createNames } from './names.ts';
import { deliveryFilter, newWatch, watchChange, watchList, watchShown } from './schemas.ts';
import { deleteKeys, insertKeys, setCompared, watchesOn, watchWithTarget, type WatchRow } from './store.ts';
import { createSubscribers, type Subscribers } from './subscribers.ts';
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
  const { directory } = workspaces;
  const subscribers = createSubscribers(workspaces, firehose);
  const namesOf = createNames(workspaces, coverage);

  const show = async (reader: Reader, context: WorkspaceContext, rows: WatchRow[]): Promise<Watch[]> => {
    const nameOf = await namesOf(reader, context, rows.map(targetOf));
    return rows.map((row) => {
      const { id, delivery, created_at, updated_at, created_by } = row;
      const target = targetOf(row);
      return { id, target: { ...target, name: nameOf(target) }, delivery, created_at, updated_at, created_by };
    });
  };

  /** Returns a target in its one form. Throws when there is no such place, issue area, actor or coverage target. */
  async function checkedTarget(tx: Tx, context: WorkspaceContext, given: WatchTarget): Promise<WatchTarget> {
    if ((given.type === 'query') !== ('query' in given)) throw problem('invalid_request', { detail: 'target: a query belongs to the type query, and an id to every other type.', errors: [{ pointer: '/target', detail: 'has an id where its type needs a query, or the other way round' }] });
    if (given.type === 'query') {
      const { places, issues, ...rest } = given.query;
      if (Object.values(given.query).every((values) => values.length === 0)) throw problem('invalid_request', { detail: 'query: name at least one condition.', errors: [{ pointer: '/target/query', detail: 'has no condition' }] });
      for (const issue of issues) checkedIssue(issue);
      return { type: 'query', query: { ...rest, issues, places: await Promise.all(places.map((text) => checkedPlace(tx, text))) } };
    }
    if (given.type === 'entity') return { type: 'entity', id: (await checkedActors(workspaces, tx, context, [given.id]))[0]! };
    if (given.type === 'place') return { type: 'place', id: await checkedPlace(tx, given.id) };
    if (given.type === 'issue_area') return { type: 'issue_area', id: checkedIssue(given.id) };
    const id = given.id.toLowerCase();
    if (!isId(id) || !await coverage.scopeOf(tx, context.workspace.id, id)) throw problem('unknown_coverage_target', { detail: `The workspace has no coverage target with the id ${singleLine(given.id, 100)}.` });
    return { type: 'coverage_target', id };
  }

  async function checkedPlace(tx: Tx, text: string): Promise<string> {
    const key = await directory.placeKey(tx, text);
    if (key === null) throw problem('unknown_place', { detail: `No place has the key ${singleLine(text, 100)}.` });
    return key;
  }

  function checkedIssue(slug: string): string {
    if (directory.issueName(slug) === null && directory.issuesOfDomain(slug) === null) throw problem('unknown_issue_area', { detail: `No issue area has the slug ${singleLine(slug, 100)}.` });
    return slug;
  }

  /** Returns where the index has a target; a domain stands for its issue areas. */
  async function indexed(tx: Tx, workspaceId: string, target: WatchTarget): Promise<IndexedTarget> {
    const expanded = (slugs: string[]) => [...new Set(slugs.flatMap((slug) => directory.issuesOfDomain(slug) ?? [slug]))];
    if (target.type === 'query') return indexedTarget({ type: 'query', query: { ...target.query, issues: expanded(target.query.issues) } });
    if (target.type === 'issue_area' && directory.issuesOfDomain(target.id)) return indexedTarget({ type: 'query', query: { places: [], issues: expanded([target.id]), signal_types: [], actor_types: [], source_classes: [] } });
    if (target.type !== 'coverage_target') return indexedTarget(target);
    const scope = await coverage.scopeOf(tx, workspaceId, target.id);
    // The target was deleted.
    return scope ? indexedTarget(target, scope) : { keys: [], compared: null };
  }

  const records = createRecords<WatchRow, Watch>(workspaces, {
    name: 'watches',
    noun: 'watch',
    param: 'watch_id',
    table: 'workspaces_watches',
    unknown: 'unknown_watch',
    problems: ['unknown_place', 'unknown_issue_area', 'unknown_actor', 'unknown_coverage_target'],
    schemas: { created: newWatch(firehose.queryableTypes()), changed: watchChange, shown: watchShown, list: watchList, filters: { delivery: deliveryFilter } },
    async columns(tx, context, { target, delivery }, row) {
      if (row) return { delivery: delivery as Delivery };
      const checked = await checkedTarget(tx, context, target as WatchTarget);
      const subscriber = await subscribers.ensure(tx, context);
      const hash = targetHash(checked);
      const { compared } = await indexed(tx, context.workspace.id, checked);
      return {
        subscriber_key: subscriber.key, target_type: checked.type, target_hash: hash, delivery: delivery as Delivery, compared: compared && JSON.stringify(compared),
        ...(checked.type === 'query' ? { target_id: null, query: JSON.stringify(checked.query) } : { target_id: checked.id, query: null }),
      };
    },
    show,
    removing: (tx, row) => deleteKeys(tx, row.key),
  });

  async function existing(tx: Tx, context: WorkspaceContext, given: { target: WatchTarget }): Promise<Watch | null> {
    const subscriber = await subscribers.ensure(tx, context);
    const row = await watchWithTarget(tx, subscriber.key, targetHash(await checkedTarget(tx, context, given.target)));
    return row ? (await show(tx, context, [row]))[0]! : null;
  }

  async function create(tx: Tx, context: WorkspaceContext, given: object): Promise<Watch> {
    const watch = await records.create(tx, context, given);
    const row = await records.row(tx, context, watch.id);
    await insertKeys(tx, row.key, (await indexed(tx, context.workspace.id, targetOf(row))).keys);
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
        const { keys, compared } = await indexed(tx, workspaceId, targetOf(row));
        await deleteKeys(tx, row.key);
        await insertKeys(tx, row.key, keys);
        await setCompared(tx, row.key, compared && JSON.stringify(compared));
      }
    },
  };
}

export function targetOf({ target_type: type, target_id: id, query }: Pick<WatchRow, 'target_type' | 'target_id' | 'query'>): WatchTarget {
  return type === 'query' ? { type, query: JSON.parse(query!) as never } : { type, id: id! };
}
