import type { ProblemKinds } from 'civic';

export const discoveryProblems: ProblemKinds = {
  unknown_run: { status: 404, title: 'There is no such discovery run', advice: 'List the runs with GET /api/discovery-runs; runs of another workspace are not shown.' },
  unknown_candidate: { status: 404, title: 'There is no such candidate', advice: 'List the candidates of the run with GET /api/discovery-runs/{id}/candidates.' },
  run_ended: { status: 409, title: 'The run has ended', advice: 'Start another run with POST /api/discovery-runs.' },
  run_quota_spent: { status: 429, title: 'The discovery runs of this month are used', advice: 'Wait for the next month, or ask the operator for a plan with more runs.' },
  candidate_decided: { status: 409, title: 'The candidate is decided already', advice: 'Undo the decision with DELETE …/decision, and decide again.' },
  actor_changed: { status: 409, title: 'The accepted actor was changed since', advice: 'Edit or delete the actor itself with PATCH or DELETE /api/entities/{id}.' },
  candidate_pending: { status: 409, title: 'The candidate is not decided', advice: 'Decide about it with POST …/decision.' },
  sync_limit: { status: 429, title: 'The synced entries of this month are used', advice: 'Wait for the next month, and send the bundle again.' },
  sync_replaced: { status: 409, title: 'The sync was replaced by another', advice: 'Wait until the other sync has ended, and send the bundle again if it is the current one.' },
  too_many_syncs: { status: 429, title: 'Too many syncs at the same time', advice: 'Wait until they have ended, and send the bundle again.' },
};
