import type { ActorDraft, Editor } from '../types.ts';
import type { RecordRow } from './rows.ts';

/** The workspace that a record is private to; null when it is public, wherever it came from. */
export function ownerOf({ visibility, workspace_id }: Pick<RecordRow, 'visibility' | 'workspace_id'>): string | null {
  return visibility === 'public' ? null : workspace_id;
}

/** The same for a record that a draft is about to create. */
export function ownerOfDraft({ visibility }: Pick<ActorDraft, 'visibility'>, editor: Editor): string | null {
  if (visibility !== 'workspace') return null;
  if (editor.workspace_id === null) throw new Error('A private record needs a workspace');
  return editor.workspace_id;
}
