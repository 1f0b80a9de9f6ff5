import type { ProblemKinds } from 'civic';

export const discoveryProblems: ProblemKinds = {
  unknown_run: { status: 404, title: 'There is no such discovery run', advice: 'List the runs with GET /api/discovery-runs; runs of another workspace are not shown.' },
  unknown_candidate: { status: 404, title: 'There is no such candidate', advice: 'List the candidates of the run with GET /api/discovery-runs/{id}/candidates.' },
  candidate_decided: { status: 409, title: 'The candidate is decided already', advice: 'Undo the decision with DELETE …/decision, and decide again.' },
  candidate_pending: { status: 409, title: 'The candidate is not decided', advice: 'Decide about it with POST …/decision.' },
};
