import type { Request } from '@hapi/hapi';
import { clientAddressOf, type Caller } from 'civic';
import type { Doer } from './types.ts';

/** What a route about workspaces asks of a caller. */
export const reading = { mode: 'required' as const, access: { scope: ['workspace:read'] } };
export const writing = { mode: 'required' as const, access: { scope: ['workspace:write'] } };

/** Who asks, on a route that is closed to nobody. */
export function callerOf(request: Request): Caller {
  return request.auth.credentials as unknown as Caller;
}

export function doerOf(request: Request): Doer {
  return { account_id: callerOf(request).account_id, address: clientAddressOf(request) };
}
