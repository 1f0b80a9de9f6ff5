import type { ProblemKinds } from 'civic';

export const watchProblems = {
  unknown_watch: { status: 404, title: 'No such watch', advice: 'Read the watches of the workspace at `/api/workspaces/{id}/watches`.' },
  unknown_feed: { status: 404, title: 'No such feed', advice: 'Create the address of a feed on the page of the watches. An address that was revoked does not work any longer.' },
} satisfies ProblemKinds;
