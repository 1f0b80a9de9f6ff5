import type { Caller } from 'civic';
import type { ReviewState, Signal, Visibility } from '../types.ts';

/**
 * Who may see a signal, as one word that is kept with it: `public`, `partner`, `reviewer`, `workspace:<id>`, `held:<id>`.
 * Every way to a signal, live, replay, snapshot and socket, compares it with the words of the asker and with nothing else.
 */
export type Audience = string;

const isOut = (state: ReviewState): boolean => state === 'not_required' || state === 'approved';

export function audienceOf({ visibility, review_state }: Pick<Signal, 'visibility' | 'review_state'>, workspaceId: string | null): Audience {
  if (visibility === 'workspace') return `${isOut(review_state) ? 'workspace' : 'held'}:${workspaceId}`;
  return isOut(review_state) ? visibility : 'reviewer';
}

/** The words that a caller who asks with this visibility belongs to. */
export function audiencesFor(visibility: Visibility, caller: Pick<Caller, 'workspace_id' | 'workspace_role'> | null): Audience[] {
  if (visibility === 'public' || !caller) return ['public'];
  return ['public', ...widerThanPublic(visibility), ...ownWorkspace(caller)];
}

function widerThanPublic(visibility: Visibility): Audience[] {
  if (visibility === 'reviewer') return ['partner', 'reviewer'];
  return visibility === 'partner' ? ['partner'] : [];
}

/** What is held back in a workspace is there for those who review in it. */
function ownWorkspace({ workspace_id, workspace_role }: Pick<Caller, 'workspace_id' | 'workspace_role'>): Audience[] {
  if (workspace_id === null) return [];
  const reviews = workspace_role !== null && workspace_role !== 'member';
  return [`workspace:${workspace_id}`, ...(reviews ? [`held:${workspace_id}`] : [])];
}
