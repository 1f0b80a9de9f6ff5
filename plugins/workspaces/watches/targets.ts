import { isId, problem, singleLine, type Tx } from 'civic';
import type { WorkspaceContext, Workspaces } from '../context.ts';
import { checkedActors } from '../references.ts';
import { indexedTarget, type IndexedTarget } from './keys.ts';
import type { WatchTarget } from './types.ts';
import type { CoverageScopes } from './watches.ts';

/** What watches need to check and index their targets. */
export interface TargetSources {
  workspaces: Workspaces;
  coverage: CoverageScopes;
}

/** Returns a target in its one form. Throws when there is no such place, issue area, actor or coverage target. */
export async function checkedTarget(sources: TargetSources, tx: Tx, context: WorkspaceContext, given: WatchTarget): Promise<WatchTarget> {
  if ((given.type === 'query') !== ('query' in given)) {
    throw invalid('/target', 'target: a query belongs to the type query, and an id to every other type.', 'has an id where its type needs a query, or the other way round');
  }
  switch (given.type) {
    case 'query': return checkedQuery(sources, tx, given);
    case 'entity': return { type: 'entity', id: (await checkedActors(sources.workspaces, tx, context, [given.id]))[0]! };
    case 'place': return { type: 'place', id: await checkedPlace(sources, tx, given.id) };
    case 'issue_area': return { type: 'issue_area', id: checkedIssue(sources, given.id) };
    default: return { type: 'coverage_target', id: await checkedCoverage(sources, tx, context, given.id) };
  }
}

async function checkedQuery(sources: TargetSources, tx: Tx, { query }: Extract<WatchTarget, { type: 'query' }>): Promise<WatchTarget> {
  if (Object.values(query).every((values) => values.length === 0)) throw invalid('/target/query', 'query: name at least one condition.', 'has no condition');
  for (const issue of query.issues) checkedIssue(sources, issue);
  return { type: 'query', query: { ...query, places: await Promise.all(query.places.map((text) => checkedPlace(sources, tx, text))) } };
}

async function checkedPlace({ workspaces: { directory } }: TargetSources, tx: Tx, text: string): Promise<string> {
  const key = await directory.placeKey(tx, text);
  if (key === null) throw problem('unknown_place', { detail: `No place has the key ${singleLine(text, 100)}.` });
  return key;
}

function checkedIssue({ workspaces: { directory } }: TargetSources, slug: string): string {
  if (directory.issueName(slug) === null && directory.issuesOfDomain(slug) === null) throw problem('unknown_issue_area', { detail: `No issue area has the slug ${singleLine(slug, 100)}.` });
  return slug;
}

async function checkedCoverage({ coverage }: TargetSources, tx: Tx, { workspace }: WorkspaceContext, given: string): Promise<string> {
  const id = given.toLowerCase();
  if (!isId(id) || !await coverage.scopeOf(tx, workspace.id, id)) throw problem('unknown_coverage_target', { detail: `The workspace has no coverage target with the id ${singleLine(given, 100)}.` });
  return id;
}

function invalid(pointer: string, detail: string, fault: string): Error {
  return problem('invalid_request', { detail, errors: [{ pointer, detail: fault }] });
}

/** Returns where the index has a target; a domain stands for its issue areas. */
export async function indexedWatch({ workspaces: { directory }, coverage }: TargetSources, tx: Tx, workspaceId: string, target: WatchTarget): Promise<IndexedTarget> {
  const expanded = (slugs: string[]) => [...new Set(slugs.flatMap((slug) => directory.issuesOfDomain(slug) ?? [slug]))];
  if (target.type === 'query') return indexedTarget({ type: 'query', query: { ...target.query, issues: expanded(target.query.issues) } });
  if (target.type === 'issue_area' && directory.issuesOfDomain(target.id)) {
    return indexedTarget({ type: 'query', query: { places: [], issues: expanded([target.id]), signal_types: [], actor_types: [], source_classes: [] } });
  }
  if (target.type !== 'coverage_target') return indexedTarget(target);
  const scope = await coverage.scopeOf(tx, workspaceId, target.id);
  // The target was deleted.
  return scope ? indexedTarget(target, scope) : { keys: [], compared: null };
}
