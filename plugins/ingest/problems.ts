import type { ProblemKinds } from 'civic';

export const ingestProblems: ProblemKinds = {
  unknown_watched_source: { status: 404, title: 'There is no such watched source', advice: 'List the sources of your workspace with GET /api/watched-sources.' },
  source_watched: { status: 409, title: 'The source is watched already', advice: 'Each address is watched once in a workspace. Change the source that has it.' },
  source_unreadable: { status: 400, title: 'The source cannot be read', advice: 'Open the address in a browser. Give the address of a public calendar, feed or page that programs may read.' },
  too_many_sources: { status: 429, title: 'The plan has no room for another watched source', advice: 'Delete a source, or ask the operator for a plan with more.' },
};
