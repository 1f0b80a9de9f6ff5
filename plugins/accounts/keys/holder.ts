import type { Caller, Reader } from 'civic';
import { endOf, firstEnd } from '../dates.ts';
import type { Plan } from '../plans/plans.ts';
import type { WorkspaceRole } from '../types.ts';
import { membershipsOf } from '../workspaces/store.ts';
import type { KeyHolderRow } from './store.ts';

/** A valid key with its account, cached until access changes. */
export interface Holder {
  key: number;
  hash: Buffer;
  /** When the key expires, in milliseconds; `Infinity` when it does not. */
  expires: number;
  /** When the plan ends, in the same way. */
  lapses: number;
  row: KeyHolderRow;
  /** The workspace of requests without X-Workspace-ID. */
  own: string | null;
  roles: Map<string, WorkspaceRole>;
  scope: string[];
  used: number;
}

export async function holderOf(reader: Reader, row: KeyHolderRow, hash: Buffer): Promise<Holder> {
  const memberships = await membershipsOf(reader, row.account_key);
  return {
    key: row.key, hash, row,
    expires: endOf(row.expires_at),
    lapses: endOf(row.plan_until),
    own: memberships.find(({ key }) => key === row.workspace_key)?.id ?? null,
    roles: new Map(memberships.map((one) => [one.id, one.role])),
    scope: JSON.parse(row.scopes) as string[],
    used: row.last_used_at === null ? 0 : Date.parse(row.last_used_at),
  };
}

export function callerAs({ row, scope, roles, expires, lapses }: Holder, workspace_id: string, plan: Plan, now: number): Caller {
  const caller: Caller = {
    account_id: row.account_id, via: 'key', scope, role: row.role, plan: plan.name, capabilities: plan.capabilities,
    workspace_id, workspace_role: roles.get(workspace_id)!, credential_id: row.id,
  };
  const until = firstEnd(expires, lapses, now);
  if (until !== Infinity) caller.valid_until = until;
  return caller;
}
