import type { Request } from '@hapi/hapi';
import { addressGroup, clientAddressOf, type Civic } from 'civic';

/** The kind of security event of this plugin in the audit record. */
export const AUDIT_KINDS = { mcp_request_refused: { label: 'A request to /mcp from a foreign host or website was refused' } };

const WINDOW_MS = 60_000;
const MOST_ADDRESSES = 10_000;

/** Records rejected requests in the audit record: one a minute for each address, so that an attacker cannot fill it. */
export function createIncidents(civic: Pick<Civic, 'clock' | 'db' | 'serviceIfOn'>): (request: Request, detail: string) => Promise<void> {
  const accounts = civic.serviceIfOn('accounts');
  accounts?.auditKinds(AUDIT_KINDS);
  const latest = new Map<string, number>();

  return async (request, detail) => {
    const address = clientAddressOf(request);
    const group = addressGroup(address);
    const now = civic.clock.now();
    if (!accounts || now - (latest.get(group) ?? -WINDOW_MS) < WINDOW_MS) return;
    if (latest.size >= MOST_ADDRESSES) latest.clear();
    latest.set(group, now);
    await civic.db.write((tx) => accounts.record(tx, { kind: 'mcp_request_refused', by: { account_id: null, address }, detail: { reason: detail } }));
  };
}
