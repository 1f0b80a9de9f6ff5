import type { Caller, Tx } from 'civic';

/** Something that a workspace used, such as one export. */
export interface WorkspaceUse {
  workspace_id: string;
  /** A lower-case name, such as `exports`. */
  meter: string;
  amount: number;
  /** The account that used it. */
  account_id: string;
  /** The kind of credential. */
  via: Caller['via'];
}

export type RecordUse = (tx: Tx, use: WorkspaceUse) => Promise<void>;
/** Deletes what a plugin stores for a workspace, in the transaction that deletes the workspace. */
export type ForgetWorkspace = (tx: Tx, workspaceId: string) => Promise<void>;
/** Ends what a plugin gave to a member, in the transaction that removes the member. */
export type ForgetMember = (tx: Tx, workspaceId: string, accountId: string) => Promise<void>;

/** Lets plugins take part in transactions of other plugins that concern a workspace. */
export interface WorkspaceHooks {
  /** Records a use in its transaction; does nothing when no plugin counts uses, or when the caller works in no workspace. */
  use(tx: Tx, caller: Pick<Caller, 'account_id' | 'via' | 'workspace_id'>, meter: string, amount?: number): Promise<void>;
  /** Counts uses; called in `register`. */
  whenUsed(record: RecordUse): void;
  /** Deletes what the plugin stores for a workspace; called in `register`. Work that takes longer than a second belongs in a job that it enqueues. */
  whenDeleted(forget: ForgetWorkspace): void;
  /** Ends what the plugin gave to a member, such as the secret address of a feed; called in `register`. */
  whenLeft(forget: ForgetMember): void;
  /** Calls the functions of `whenDeleted`, those of later plugins first: they depend on earlier ones. */
  forget: ForgetWorkspace;
  /** Calls the functions of `whenLeft` in the same order. */
  forgetMember: ForgetMember;
}

export function createWorkspaceHooks(): WorkspaceHooks {
  const recorders: RecordUse[] = [];
  const forgetters: ForgetWorkspace[] = [];
  const memberForgetters: ForgetMember[] = [];
  return {
    async use(tx, { account_id, via, workspace_id }, meter, amount = 1) {
      if (workspace_id === null) return;
      for (const record of recorders) await record(tx, { workspace_id, meter, amount, account_id, via });
    },
    whenUsed(record) { recorders.push(record); },
    whenDeleted(forget) { forgetters.unshift(forget); },
    whenLeft(forget) { memberForgetters.unshift(forget); },
    async forget(tx, workspaceId) {
      for (const forget of forgetters) await forget(tx, workspaceId);
    },
    async forgetMember(tx, workspaceId, accountId) {
      for (const forget of memberForgetters) await forget(tx, workspaceId, accountId);
    },
  };
}
