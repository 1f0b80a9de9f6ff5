import type { ProblemKinds } from 'civic';

export const briefProblems = {
  unknown_brief: { status: 404, title: 'No such brief', advice: 'Read the briefs of the workspace at `/api/workspaces/{id}/briefs`.' },
} satisfies ProblemKinds;
