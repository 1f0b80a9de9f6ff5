import type { Civic, JobKind, Tx } from 'civic';
import type { Editor } from '../types.ts';
import type { Ledger } from './service.ts';
import { actorsOfWorkspace } from './store.ts';

const JOB = 'directory.forget_workspace';
/** So many actors are deleted in one transaction. */
const BATCH = 20;

/** Returns a function that deletes the private actors of a deleted workspace: with a job, since there may be many. */
export function forgetWorkspace({ jobs }: Pick<Civic, 'jobs'>): (tx: Tx, workspaceId: string) => Promise<void> {
  return async (tx, workspaceId) => { await jobs.enqueue(tx, JOB, { workspace_id: workspaceId }); };
}

export function forgetJob(civic: { readonly db: Civic['db'] }, ledger: Ledger): JobKind {
  return {
    name: JOB,
    async run(job) {
      const { workspace_id } = job.payload as { workspace_id: string };
      const editor: Editor = { kind: 'person', account_id: null, workspace_id };
      for (let ids: string[]; !job.signal.aborted && (ids = await actorsOfWorkspace(civic.db.read, workspace_id, BATCH)).length > 0;) {
        await job.write(async (tx) => {
          for (const id of ids) await ledger.remove(tx, id, editor, 'The workspace was deleted.');
        });
      }
    },
  };
}
