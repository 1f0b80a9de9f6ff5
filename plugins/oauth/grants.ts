import { newId, type Civic, type Reader, type Tx } from 'civic';
import type { AccountsService, Delegate, Doer } from 'civic/accounts';
import { deleteArtifactsOf } from './store/artifacts.ts';
import { deleteGrant, endedGrants, grantById, grantsOf, insertGrant, type GrantPage, type GrantRow } from './store/grants.ts';
import { keyRanges } from './store/ranges.ts';

/** The part of a grant that the user approved. */
export type Approval = Omit<GrantRow, 'key' | 'id' | 'member_since' | 'created_at' | 'expires_at' | 'used_at'>;

/** The connections of apps with accounts. */
export interface Grants {
  newId(): string;
  /** Stores an approval, with its audit record and a security notice of the given text. */
  approve(tx: Tx, id: string, approval: Approval, notice: string, by: Doer): Promise<void>;
  /** Ends a connection, revokes its codes and tokens, and ends its streams on every node. Returns false when it had ended before. */
  end(tx: Tx, id: string, by: Doer, reason: EndReason): Promise<boolean>;
  /** Returns connections of an account, the newest first, from those after a given one on. */
  of(reader: Reader, accountId: string, page: GrantPage): Promise<GrantRow[]>;
  /** Ends connections that expired or have no valid token left. */
  sweep(): Promise<void>;
}

export type EndReason = 'disconnected' | 'revoked_by_app' | 'replayed' | 'expired' | 'client_removed';

const DAY = 86_400_000;
/** The user approves a connection again after a year, however often the app uses it. */
export const GRANT_DAYS = 365;
/** A connection without a code is not swept for this time: the browser requests the code after the approval. */
const CODE_DUE_MS = 3_600_000;
const SYSTEM: Doer = { account_id: null, address: null };

/** The scope with which an app knows the id of the account. It gives no access. */
export const IDENTITY_SCOPE = 'openid';

/** Returns whether a connection gives access, and not only the identity of the user. */
export function hasPermissions({ scopes }: Pick<GrantRow, 'scopes'>): boolean {
  return scopes.some((scope) => scope !== IDENTITY_SCOPE);
}

/** Returns whether the membership has ended in which the user approved, also when there is a new one. */
export function hasEnded(grant: GrantRow, delegate: Pick<Delegate, 'memberSince'>): boolean {
  const since = delegate.memberSince(grant.workspace_id);
  return hasPermissions(grant) && (since === null || (grant.member_since !== null && grant.member_since !== since));
}

export function createGrants(civic: Civic, accounts: AccountsService): Grants {
  const { clock } = civic;

  async function approve(tx: Tx, id: string, approval: Approval, notice: string, by: Doer): Promise<void> {
    const { account_id, workspace_id, client_id, client_name: name, resource, scopes } = approval;
    const member_since = (await accounts.delegate(tx, account_id))?.memberSince(workspace_id) ?? null;
    await insertGrant(tx, { ...approval, id, member_since, created_at: clock.iso(), expires_at: new Date(clock.now() + GRANT_DAYS * DAY).toISOString() });
    await accounts.record(tx, { kind: 'oauth_connected', by, subject: id, workspace_id, detail: { account_id, client_id, name, resource, scopes } });
    await accounts.notify(tx, account_id, notice, by);
  }

  async function end(tx: Tx, id: string, by: Doer, reason: EndReason): Promise<boolean> {
    const grant = await grantById(tx, id);
    await deleteArtifactsOf(tx, id);
    if (!grant || !(await deleteGrant(tx, id))) return false;
    const { account_id, workspace_id, client_id, client_name: name } = grant;
    await accounts.record(tx, { kind: 'oauth_disconnected', by, subject: id, workspace_id, detail: { account_id, client_id, name, reason } });
    await accounts.accessChanged(tx, { account_id, what: 'credential_revoked', credential_id: id });
    return true;
  }

  async function sweep(): Promise<void> {
    const due = { now: clock.iso(), approvedBefore: new Date(clock.now() - CODE_DUE_MS).toISOString() };
    for await (const range of keyRanges(civic.db.read, 'oauth_grants')) {
      // One transaction each: an end is an audit record, and other writers of SQLite wait for a transaction.
      for (const { id } of await endedGrants(civic.db.read, range, due)) await civic.db.write((tx) => end(tx, id, SYSTEM, 'expired'));
    }
  }

  return { newId: () => newId(clock.now()), approve, end, of: grantsOf, sweep };
}
