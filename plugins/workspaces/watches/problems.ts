import type { ProblemKinds } from 'civic';

export const watchProblems = {
  unknown_watch: { status: 404, title: 'No such watch', advice: 'Read the watches of the workspace at `/api/workspaces/{id}/watches`.' },
  unknown_coverage_target: { status: 404, title: 'No such coverage target', advice: 'Read the coverage targets of the workspace at `/api/workspaces/{id}/coverage-targets`.' },
  watch_exists: { status: 409, title: 'You watch this already', advice: 'Change the watch that `watch_id` names instead.' },
  unknown_feed: { status: 404, title: 'No such feed', advice: 'Create the address of a feed on the page of the watches. An address that was revoked does not work any longer.' },
} satisfies ProblemKinds;
