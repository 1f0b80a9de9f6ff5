import type { Request } from '@hapi/hapi';
import type { Civic } from 'civic';

/** The kind of security event of this plugin in the audit record. */
export const AUDIT_KINDS = { mcp_request_refused: { label: 'A request to /mcp from a foreign host or website was refused' } };

const MOST_PER_MINUTE = 1;
/** While the database is locked, entries wait in memory. */
const MOST_PENDING = 100;

export interface Incidents {
  /** Adds a rejected request to the audit record, after the response: a locked database must not keep connections open. */
  record(request: Request, reason: string): void;
  /** Resolves when no entry is pending. */
  written(): Promise<void>;
}

/** Records rejected requests in the audit record; without the plugin accounts it does nothing. */
export function createIncidents({ serviceIfOn, log }: Pick<Civic, 'serviceIfOn' | 'log'>): Incidents {
  const accounts = serviceIfOn('accounts');
  accounts?.auditKinds(AUDIT_KINDS);
  const write = accounts?.incidents(MOST_PER_MINUTE);
  const pending = new Set<Promise<void>>();
  return {
    record(request, reason) {
      if (!write) return;
      if (pending.size >= MOST_PENDING) {
        log.error({ reason }, 'A rejected request is not in the audit record: too many entries wait for the database');
        return;
      }
      const entry = write(request, { kind: 'mcp_request_refused', detail: { reason } })
        .catch((error: unknown) => { log.error({ err: error, reason }, 'A rejected request could not be added to the audit record'); })
        .finally(() => { pending.delete(entry); });
      pending.add(entry);
    },
    written: async () => { await Promise.all(pending); },
  };
}
