import { afterCommit, problem, repeat, type Civic, type Repeating, type Tx } from 'civic';
import type { AccountsService, WorkspaceUse } from 'civic/accounts';
import { chained, headHash } from './chain.ts';
import { addToMonth, deleteLines, insertLine, lockedHead, nextUse, updateHead } from './store.ts';
import { createWitness, type Witness } from './witness.ts';

export interface Usage {
  seals: AccountsService['seals'];
  witness: Witness;
  record(tx: Tx, use: WorkspaceUse): Promise<void>;
  /** Deletes the lines of a workspace. Its head stays, sealed as deleted. */
  forget(tx: Tx, workspaceId: string): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const FOLLOW_MS = 2000;

export function createUsage({ civic, accounts: { seals } }: { civic: Pick<Civic, 'clock' | 'db' | 'instance' | 'log'>; accounts: Pick<AccountsService, 'seals'> }): Usage {
  const witness = createWitness(civic.instance.data_dir);
  const follow = () => witness.follow(civic.db.read, civic.clock.iso());
  const report = (error: unknown) => { civic.log.error({ err: error }, `The last lines of usage could not be written to ${witness.file}`); };
  let following: Repeating | undefined;
  return {
    seals, witness,
    async record(tx, { workspace_id, meter, amount, account_id, via }) {
      const at = civic.clock.iso();
      const { seq, prev_hash, isDeleted } = await nextUse(tx, workspace_id);
      // A concurrent transaction has deleted the workspace: a record that is stored now would never be deleted.
      if (isDeleted) throw problem('unknown_workspace', { detail: `No workspace has the id ${workspace_id}.` });
      const fact = { workspace_id, seq, at, meter, amount, actor: account_id, via };
      const hash = chained(prev_hash, fact);
      await insertLine(tx, { ...fact, prev_hash, hash });
      await updateHead(tx, { workspace_id, hash, seal: seals.seal(headHash({ workspace_id, seq, hash, deleted_at: null })) });
      await addToMonth(tx, { workspace_id, month: at.slice(0, 7), meter, amount });
      afterCommit(tx, () => { witness.saw(workspace_id); });
    },
    async forget(tx, workspaceId) {
      const head = await lockedHead(tx, workspaceId);
      await deleteLines(tx, workspaceId);
      const deleted = { ...head, deleted_at: civic.clock.iso() };
      await updateHead(tx, { ...deleted, seal: seals.seal(headHash(deleted)) });
      afterCommit(tx, () => { witness.saw(workspaceId); });
    },
    async start() {
      following = repeat(FOLLOW_MS, follow, report);
    },
    async stop() {
      await following?.stop();
      await follow().catch(report);
    },
  };
}
