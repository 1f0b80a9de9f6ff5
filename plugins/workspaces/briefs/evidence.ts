import type { Reader } from 'civic';
import type { CitedSource, KnownActor } from 'civic/directory';
import type { WorkspaceContext, Workspaces } from '../context.ts';

/** What a brief rests on. */
export interface Evidence {
  /** In the order of the brief. */
  entities: KnownActor[];
  /** The sources that the brief names, then those of its entities; each once. */
  sources: CitedSource[];
  /** Ids that refer to nothing that the caller may read now. */
  unavailable: { entities: string[]; sources: string[] };
}

/** Reads the entities and sources of a brief that the caller may see. */
export async function readEvidence({ directory }: Workspaces, reader: Reader, { caller, workspace }: WorkspaceContext, { entityIds, sourceIds }: { entityIds: string[]; sourceIds: string[] }): Promise<Evidence> {
  const references = await directory.actorReferences(reader, entityIds, caller);
  const current = entityIds.filter((id) => references.get(id)?.state === 'current');
  const entities = (await directory.actors(reader, current)).filter(({ visibility, workspace_id }) => visibility === 'public' || workspace_id === workspace.id);
  const wanted = [...new Set([...sourceIds, ...entities.flatMap(({ sources }) => sources.map(({ id }) => id))])];
  const found = await directory.citedSources(reader, wanted, caller);
  const known = new Set(entities.map(({ id }) => id));
  return {
    entities,
    sources: wanted.flatMap((id) => found.get(id) ?? []),
    unavailable: { entities: entityIds.filter((id) => !known.has(id)), sources: sourceIds.filter((id) => !found.has(id)) },
  };
}
