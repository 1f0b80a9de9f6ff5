import { problem, type Caller, type Reader } from 'civic';
import { endOf, firstEnd } from '../dates.ts';
import { personById } from '../people/store.ts';
import type { Plans } from '../plans/plans.ts';
import type { Scopes } from '../plans/scopes.ts';
import { membershipsOf } from '../workspaces/store.ts';

/** A credential of another plugin that acts for an account in one workspace, such as an OAuth grant. */
export interface Delegation {
  /** The id of the credential, for `accessChanged` and for connections that outlive a request. */
  credential_id: string;
  workspace_id: string;
  scopes: string[];
  /** When the credential expires, in milliseconds. */
  expires: number;
}

/** An account that was read from the database, valid until access changes. */
export interface Delegate {
  /** Returns the caller of a request. Throws `workspace_forbidden` when the account does not belong to the workspace. */
  caller(delegation: Delegation): Caller;
  /** Returns when the current membership in a workspace began; null when the account does not belong to it. */
  memberSince(workspaceId: string): string | null;
}

export interface DelegateContext {
  plans: Plans;
  scopes: Scopes;
  now(): number;
}

/** Returns null when the account does not exist or is disabled. */
export async function delegateOf(reader: Reader, accountId: string, { plans, scopes, now }: DelegateContext): Promise<Delegate | null> {
  const person = await personById(reader, accountId);
  if (!person || person.disabled_at !== null) return null;
  const memberships = new Map((await membershipsOf(reader, person.key)).map((membership) => [membership.id, membership]));
  const lapses = endOf(person.plan_until);
  return {
    memberSince: (workspaceId) => memberships.get(workspaceId)?.since ?? null,
    caller({ credential_id, workspace_id, scopes: granted, expires }) {
      const workspace_role = memberships.get(workspace_id)?.role;
      if (!workspace_role) throw problem('workspace_forbidden', { detail: 'The account no longer belongs to the workspace that was chosen for this token.' });
      const plan = plans.current(person, now());
      const allowed = scopes.allowedByRole(person.role);
      return {
        account_id: person.id,
        via: 'token',
        scope: granted.filter((scope) => allowed.includes(scope)),
        role: person.role,
        plan: plan.name,
        capabilities: plan.capabilities,
        workspace_id,
        workspace_role,
        credential_id,
        valid_until: firstEnd(expires, lapses, now()),
      };
    },
  };
}
