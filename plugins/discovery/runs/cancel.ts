import { problem, type Tx } from 'civic';
import type { Discovery, Owner } from '../context.ts';
import { failRun, isOpen } from '../engine/engine.ts';
import { foundRun } from './runs.ts';
import { lockedRun, type RunRow } from './store.ts';

/** Cancels a run of the owner. Throws `unknown_run`, and `run_ended` when it is not pending or running. */
export async function cancelRun(discovery: Discovery, tx: Tx, owner: Owner, runId: string): Promise<RunRow> {
  const { id } = await foundRun(tx, owner, runId);
  const row = (await lockedRun(tx, id))!;
  if (!isOpen(row)) throw problem('run_ended', { detail: `The run is ${row.status}.` });
  if (row.job_id !== null) await discovery.civic.jobs.cancel(tx, row.job_id);
  await failRun(discovery, tx, row, { code: 'cancelled', detail: 'The run was cancelled.' });
  return (await lockedRun(tx, id))!;
}
