import type { Request } from '@hapi/hapi';
import { addressGroup, clientAddressOf, type Civic } from 'civic';
import type { AccountsService } from 'civic/accounts';

/** The kinds of security events of this plugin in the audit record. */
export const AUDIT_KINDS = {
  oauth_connected: { label: 'An app was connected' },
  oauth_disconnected: { label: 'An app was disconnected', changesAccess: true },
  oauth_client_made: { label: 'An OAuth client was created' },
  oauth_client_removed: { label: 'An OAuth client was removed' },
  oauth_code_replayed: { label: 'A used authorization code was presented again' },
  oauth_token_replayed: { label: 'A used refresh token was presented again' },
  oauth_request_refused: { label: 'An OAuth request was refused' },
  oauth_consent_forged: { label: 'A forged or expired consent form was refused' },
  oauth_resource_refused: { label: 'A token was refused by a resource that it is not for' },
  oauth_workspace_refused: { label: 'A token was refused by a workspace that it is not for' },
  oauth_registration_refused: { label: 'A registration was refused because there were too many' },
};

/** The kinds that are refused attempts. The others are changes. */
export type IncidentKind = Exclude<keyof typeof AUDIT_KINDS, 'oauth_connected' | 'oauth_disconnected' | 'oauth_client_made' | 'oauth_client_removed'>;

export interface Incident {
  kind: IncidentKind;
  account_id?: string | null;
  workspace_id?: string | null;
  /** The id of the client or grant. */
  subject?: string;
  detail?: Record<string, unknown>;
}

/** Records a refused attempt. Await it before the response, so that the record has every attempt that a client was informed of. */
export type RecordIncident = (request: Request, incident: Incident) => Promise<void>;

const WINDOW_MS = 60_000;
/** Of one kind, from one address. A limit keeps an attacker from filling the audit record. */
const MOST_PER_WINDOW = 20;
const MOST_COUNTERS = 10_000;

export function createIncidents(civic: Civic, accounts: AccountsService): RecordIncident {
  const counters = new Map<string, { since: number; count: number }>();

  function isWorthRecording(key: string): boolean {
    const now = civic.clock.now();
    const counter = counters.get(key);
    if (!counter || now - counter.since >= WINDOW_MS) {
      if (counters.size >= MOST_COUNTERS) counters.clear();
      counters.set(key, { since: now, count: 1 });
      return true;
    }
    return ++counter.count <= MOST_PER_WINDOW;
  }

  return async (request, { kind, account_id = null, workspace_id, subject, detail }) => {
    const address = clientAddressOf(request);
    if (!isWorthRecording(`${kind} ${addressGroup(address)}`)) return;
    await civic.db.write((tx) => accounts.record(tx, { kind, by: { account_id, address }, subject, workspace_id, detail }));
  };
}
