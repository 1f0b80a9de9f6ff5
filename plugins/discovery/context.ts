import { problem, type Caller, type Civic } from 'civic';
import type { DirectoryService } from 'civic/directory';

/** The services that all parts of the plugin use. */
export interface Discovery {
  civic: Civic;
  directory: DirectoryService;
}

export function createDiscovery(civic: Civic): Discovery {
  return { civic, directory: civic.service('directory') };
}

/** Whose runs are meant: those of a workspace, or the operator's. */
export interface Owner {
  workspace_id: string | null;
}

export type RunVisibility = 'workspace' | 'public';

/** Returns whose runs a caller works with. The operator's require the role of a reviewer. */
export function ownerOf(caller: Caller, visibility: RunVisibility): Owner {
  if (visibility === 'public') {
    if (caller.role === 'user') throw problem('permission_required', { detail: 'Runs of the operator are for reviewers and administrators of this instance.' });
    return { workspace_id: null };
  }
  if (caller.workspace_id === null) throw problem('workspace_forbidden', { detail: 'Choose a workspace: the credential works in none.' });
  return { workspace_id: caller.workspace_id };
}

/** Checks that a caller may decide about candidates: members read, reviewers of the workspace decide. */
export function checkMayDecide(caller: Caller, { workspace_id }: Owner): void {
  if (workspace_id !== null && (caller.workspace_role === 'member' || caller.workspace_role === null)) {
    throw problem('workspace_forbidden', { detail: 'Reviewers, administrators and owners of the workspace decide about candidates. You are a member.' });
  }
}
