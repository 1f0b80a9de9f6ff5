import type { Request } from '@hapi/hapi';
import type { Civic } from 'civic';

/** The kind of security event of this plugin in the audit record. */
export const AUDIT_KINDS = { mcp_request_refused: { label: 'A request to /mcp from a foreign host or website was refused' } };

const MOST_PER_MINUTE = 1;

/** Returns a function that records rejected requests in the audit record; without the plugin accounts it does nothing. */
export function createIncidents(civic: Pick<Civic, 'serviceIfOn'>): (request: Request, reason: string) => Promise<void> {
  const accounts = civic.serviceIfOn('accounts');
  accounts?.auditKinds(AUDIT_KINDS);
  const record = accounts?.incidents(MOST_PER_MINUTE);
  return async (request, reason) => { await record?.(request, { kind: 'mcp_request_refused', detail: { reason } }); };
}
