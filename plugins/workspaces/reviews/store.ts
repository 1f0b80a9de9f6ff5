import type { Reader } from 'civic';
import type { RecordRow } from '../records/store.ts';

export interface ReviewRow extends RecordRow {
  target_type: 'entity';
  target_id: string;
  status: string;
  note: string | null;
  decided_by: string;
  decided_at: string;
}

/** Returns the id of the review of an actor; undefined when the workspace has none. */
export async function reviewOf(reader: Reader, workspaceId: string, targetId: string): Promise<string | undefined> {
  const row = (await reader('workspaces_reviews').where({ workspace_id: workspaceId, target_type: 'entity', target_id: targetId }).first('id')) as { id: string } | undefined;
  return row?.id;
}
