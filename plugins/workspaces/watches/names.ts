import { isId, type Reader } from 'civic';
import type { WorkspaceContext, Workspaces } from '../context.ts';
import type { CoverageScopes } from './watches.ts';
import type { WatchQuery, WatchTarget } from './types.ts';

/** Between the conditions in the name of a query. */
export const NAME_SEPARATOR = ' · ';

type NameOf = (target: WatchTarget) => string | null;

/** Returns a function that reads the names of targets, in few queries for many of them. */
export function createNames({ directory }: Workspaces, coverage: CoverageScopes) {
  return async (reader: Reader, context: WorkspaceContext, targets: WatchTarget[]): Promise<NameOf> => {
    const ids = (type: WatchTarget['type']) => [...new Set(targets.flatMap((target) => (target.type === type && target.type !== 'query' ? [target.id] : [])))];
    const queries = targets.flatMap((target) => (target.type === 'query' ? [target.query] : []));
    const places = await directory.places(reader, [...new Set([...ids('place'), ...queries.flatMap((query) => query.places)])]);
    const actors = await directory.actorReferences(reader, ids('entity').filter(isId), context.caller);
    const scopes = new Map<string, string>();
    for (const id of ids('coverage_target')) {
      const scope = await coverage.scopeOf(reader, context.workspace.id, id);
      if (scope) scopes.set(id, scope.name);
    }
    const place = (key: string) => places.get(key)?.display_name ?? null;
    const domains = new Map(directory.topics().map(({ slug, name }) => [slug, name]));
    const issue = (slug: string) => directory.issueName(slug) ?? domains.get(slug) ?? null;
    const queryName = ({ places: keys, issues, signal_types: types, actor_types: kinds, source_classes: classes }: WatchQuery) =>
      [keys.map((key) => place(key) ?? key), issues.map((slug) => issue(slug) ?? slug), types, kinds, classes].filter((part) => part.length > 0).map((part) => part.join(', ')).join(NAME_SEPARATOR);
    return (target) => {
      if (target.type === 'query') return queryName(target.query);
      if (target.type === 'place') return place(target.id);
      if (target.type === 'issue_area') return issue(target.id);
      if (target.type === 'coverage_target') return scopes.get(target.id) ?? null;
      return actorName(actors.get(target.id));
    };
  };
}

function actorName(found: { state: string; name?: string | null } | undefined): string | null {
  return found && found.state !== 'deleted' ? found.name ?? null : null;
}
