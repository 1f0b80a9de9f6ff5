import { newId, type Civic, type Tx } from 'civic';
import type { AuditEntry } from '../audit/store.ts';
import type { Doer } from '../types.ts';
import { insertMember, insertWorkspace, type WorkspaceRow } from './store.ts';

export interface NewWorkspace {
  name: string;
  owner: { key: number; id: string };
  isPersonal: boolean;
}

export interface WorkspaceContext {
  clock: Civic['clock'];
  record(tx: Tx, entry: AuditEntry): Promise<void>;
}

/** Makes a workspace with its owner in it. */
export async function createWorkspace({ clock, record }: WorkspaceContext, tx: Tx, { name, owner, isPersonal }: NewWorkspace, by: Doer): Promise<WorkspaceRow> {
  const row = { id: newId(clock.now()), name, personal_of: isPersonal ? owner.key : null, created_at: clock.iso() };
  const key = await insertWorkspace(tx, row);
  await insertMember(tx, { workspace_key: key, account_key: owner.key, role: 'owner', since: clock.iso() });
  await record(tx, { kind: 'workspace_made', by, subject: owner.id, workspace_id: row.id, detail: { personal: isPersonal } });
  return { key, ...row };
}
