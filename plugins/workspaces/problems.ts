import type { ProblemKinds } from 'civic';

export const workspaceProblems = {
  record_limit: { status: 409, title: 'The workspace has too many of these', advice: 'Delete records that are no longer needed, or ask the operator to raise `plugins.workspaces.max_records`.' },
  list_full: { status: 409, title: 'The list is full', advice: 'Remove entries, or use another list. The operator can raise `plugins.workspaces.max_list_items`.' },
  unknown_list: { status: 404, title: 'No such list', advice: 'Read the lists of the workspace at `/api/workspaces/{id}/lists`.' },
  unknown_list_item: { status: 404, title: 'The list does not have this entry', advice: 'Read the entries of the list at `/api/workspaces/{id}/lists/{list_id}/items`.' },
  unknown_workspace_note: { status: 404, title: 'No such note', advice: 'Read the notes of the workspace at `/api/workspaces/{id}/notes`.' },
  unknown_coverage_target: { status: 404, title: 'No such coverage target', advice: 'Read the targets of the workspace at `/api/workspaces/{id}/coverage-targets`.' },
  unknown_review: { status: 404, title: 'No such review', advice: 'Read the reviews of the workspace at `/api/workspaces/{id}/reviews`.' },
  already_reviewed: { status: 409, title: 'The workspace has a review of this', advice: 'Change it with PATCH; `review_id` is its id.' },
} satisfies ProblemKinds;
