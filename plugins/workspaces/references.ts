import { Joi, problem, singleLine, type Reader } from 'civic';
import type { ActorReference } from 'civic/directory';
import type { WorkspaceContext, Workspaces } from './context.ts';
import { id, nullable } from './schemas.ts';

/** What the id of an actor refers to now. The id itself is never replaced. */
export interface EntityReference {
  state: 'current' | 'merged' | 'deleted' | 'unavailable';
  name: string | null;
  type: string | null;
  visibility: string | null;
  merged_into: string | null;
  deleted_at: string | null;
}

export const entityReference = Joi.object<EntityReference, true>({
  state: Joi.string().valid('current', 'merged', 'deleted', 'unavailable').required().description('`unavailable` when the caller may not read it: private entries need the scope `directory:read`'),
  name: nullable,
  type: nullable,
  visibility: nullable,
  merged_into: nullable.description('The entry that it is part of now'),
  deleted_at: nullable,
}).meta({ name: 'EntityReference' });

export interface SourceShown {
  source_id: string;
  state: 'current' | 'unavailable';
  url: string | null;
  title: string | null;
  publication: string | null;
}

export const sourceShown = Joi.object<SourceShown, true>({
  source_id: id, state: Joi.string().valid('current', 'unavailable').required().description('`unavailable` when no entry that the caller may read cites it'), url: nullable, title: nullable, publication: nullable,
}).meta({ name: 'SourceReference' });

const NOTHING = { name: null, type: null, visibility: null, merged_into: null, deleted_at: null };

/** Throws `unknown_actor` when one of the ids is no actor that the caller may read, or was merged or deleted. Returns the ids in their stored form. */
export async function checkedActors({ directory }: Workspaces, reader: Reader, { caller }: WorkspaceContext, ids: string[]): Promise<string[]> {
  const found = await directory.actorReferences(reader, ids, caller);
  return ids.map((given) => {
    const known = found.get(given.toLowerCase());
    if (known?.state === 'current') return given.toLowerCase();
    const detail = known?.state === 'merged' ? `The actor ${given} was merged into ${known.into}.` : `No actor has the id ${singleLine(given, 100)}.`;
    throw problem('unknown_actor', { detail, ...(known?.state === 'merged' && { extra: { merged_into: known.into } }) });
  });
}

/** Throws `unknown_source` when one of the ids is no source that the caller may read. Returns the ids in their stored form. */
export async function checkedSources({ directory }: Workspaces, reader: Reader, { caller }: WorkspaceContext, ids: string[]): Promise<string[]> {
  const found = await directory.sourceReferences(reader, ids, caller);
  return ids.map((given) => {
    if (found.has(given.toLowerCase())) return given.toLowerCase();
    throw problem('unknown_source', { detail: `No source has the id ${singleLine(given, 100)}.` });
  });
}

/** Returns what stored ids of actors refer to now. */
export async function entityReferences({ directory }: Workspaces, reader: Reader, { caller }: WorkspaceContext, ids: string[]): Promise<(id: string) => EntityReference> {
  const found = await directory.actorReferences(reader, ids, caller);
  return (one) => shownReference(found.get(one));
}

/** Returns what stored ids of sources refer to now. */
export async function sourceReferences({ directory }: Workspaces, reader: Reader, { caller }: WorkspaceContext, ids: string[]): Promise<(id: string) => SourceShown> {
  const found = await directory.sourceReferences(reader, ids, caller);
  return (one) => {
    const known = found.get(one);
    return known ? { source_id: one, state: 'current', ...known } : { source_id: one, state: 'unavailable', url: null, title: null, publication: null };
  };
}

function shownReference(found: ActorReference | undefined): EntityReference {
  if (!found) return { ...NOTHING, state: 'unavailable' };
  if (found.state === 'deleted') return { ...NOTHING, state: 'deleted', deleted_at: found.at };
  if (found.state === 'merged') return { ...NOTHING, state: 'merged', name: found.name, merged_into: found.into };
  const { name, type, visibility } = found;
  return { ...NOTHING, state: 'current', name, type, visibility };
}
