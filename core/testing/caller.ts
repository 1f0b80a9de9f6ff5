import type { RequestApplicationState } from '@hapi/hapi';
import { definePlugin, type Caller } from '../plugin.ts';

interface TestRequestState extends RequestApplicationState {
  caller?: Caller;
}

const ACCOUNT = '00000000-0000-4000-8000-000000000001';

/** Identifies the caller that a test names in its request. The checks of scope, role, plan and rate limits then run as in production. */
export const testCallers = definePlugin({
  name: 'testcallers',
  summary: 'Identifies the callers that tests name',
  register(_server, civic) {
    civic.identify((request) => (request.app as TestRequestState).caller ?? null);
  },
});

/** Returns what hapi's `inject` takes as `app`, where `testCallers` reads it; clients cannot set it. */
export function stateFor(as: Partial<Caller> | undefined): TestRequestState {
  if (!as) return {};
  return { caller: { account_id: ACCOUNT, via: 'key', scope: [], role: 'user', plan: 'free', capabilities: [], workspace_id: null, workspace_role: null, ...as } };
}
