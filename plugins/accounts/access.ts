import type { Request } from '@hapi/hapi';
import { clientAddressOf, problem, type Caller } from 'civic';
import type { Doer } from './types.ts';

/** What a route about workspaces asks of a caller. */
export const reading = { mode: 'required' as const, access: { scope: ['workspace:read'] } };
export const writing = { mode: 'required' as const, access: { scope: ['workspace:write'] } };

/** Who asks, on a route that is closed to nobody. */
export function callerOf(request: Request): Caller {
  return request.auth.credentials as unknown as Caller;
}

/** Who asks about the account as a whole. A user who connected an app gave it one workspace, so its access token is rejected. */
export function accountCallerOf(request: Request): Caller {
  const caller = callerOf(request);
  if (caller.via === 'token') throw problem('workspace_forbidden', { detail: 'An access token is for one workspace. Use an API key, or the pages of your account, to create other workspaces, to join them and to see invitations to them.' });
  return caller;
}

export function doerOf(request: Request): Doer {
  return { account_id: callerOf(request).account_id, address: clientAddressOf(request), language: request.civic.language };
}
