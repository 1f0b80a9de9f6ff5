import { newId, type Civic, type Reader, type Tx } from 'civic';
import type { AccountsService, Doer } from 'civic/accounts';
import { deleteArtifactsOf } from './store/artifacts.ts';
import { deadGrants, deleteGrant, grantById, grantsOf, insertGrant, type GrantRow } from './store/grants.ts';

/** What a user approved. */
export interface Approval {
  account_id: string;
  workspace_id: string;
  client_id: string;
  client_name: string;
  client_host: string | null;
  resource: string;
  scopes: string[];
}

/** The connections of apps with accounts. */
export interface Grants {
  newId(): string;
  /** Stores what a user approved, with its audit record and security notice. */
  approve(tx: Tx, id: string, approval: Approval, by: Doer): Promise<void>;
  /** Ends a connection and all that was issued for it. Streams that it opened end on every node. False when it had ended. */
  end(tx: Tx, id: string, by: Doer, reason: EndReason): Promise<boolean>;
  of(reader: Reader, accountId: string): Promise<GrantRow[]>;
  /** Ends connections that can no longer be used. */
  sweep(): Promise<void>;
}

export type EndReason = 'disconnected' | 'revoked_by_app' | 'replayed' | 'expired' | 'client_removed';

const DAY = 86_400_000;
/** A connection is approved anew after a year, however often it is used. */
export const GRANT_DAYS = 365;
const SWEPT_AT_ONCE = 200;
/** The browser brings the code to the app within this time after the approval. */
const SETTLED_MS = 3_600_000;
const SYSTEM: Doer = { account_id: null, address: null };

export function createGrants(civic: Civic, accounts: AccountsService): Grants {
  const { clock } = civic;

  async function end(tx: Tx, id: string, by: Doer, reason: EndReason): Promise<boolean> {
    const grant = await grantById(tx, id);
    await deleteArtifactsOf(tx, id);
    if (!grant || !(await deleteGrant(tx, id))) return false;
    const { account_id, workspace_id, client_id, client_name: name } = grant;
    await accounts.record(tx, { kind: 'oauth_disconnected', by, subject: id, workspace_id, detail: { account_id, client_id, name, reason } });
    await accounts.accessChanged(tx, { account_id, what: 'credential_revoked', credential_id: id });
    return true;
  }

  return {
    newId: () => newId(clock.now()),
    async approve(tx, id, approval, by) {
      const { account_id, workspace_id, client_id, client_name: name, resource, scopes } = approval;
      await insertGrant(tx, { ...approval, id, created_at: clock.iso(), expires_at: new Date(clock.now() + GRANT_DAYS * DAY).toISOString() });
      await accounts.record(tx, { kind: 'oauth_connected', by, subject: id, workspace_id, detail: { account_id, client_id, name, resource, scopes } });
      await accounts.notify(tx, account_id, `The app “${name}” was connected.`, by);
    },
    end,
    of: grantsOf,
    async sweep() {
      const settled = new Date(clock.now() - SETTLED_MS).toISOString();
      for (const { id } of await deadGrants(civic.db.read, { now: clock.iso(), settled, limit: SWEPT_AT_ONCE })) await civic.db.write((tx) => end(tx, id, SYSTEM, 'expired'));
    },
  };
}
