import type { Reader, Tx } from 'civic';

const TABLE = 'discovery_months';

/** Adds to the runs of a workspace in a month, and returns them. The row stays locked until the transaction ends. */
export async function addRuns(tx: Tx, workspaceId: string, month: string, amount: number): Promise<number> {
  const [row] = await tx(TABLE).insert({ workspace_id: workspaceId, month, runs: amount })
    .onConflict(['workspace_id', 'month']).merge({ runs: tx.raw('discovery_months.runs + ?', [amount]) }).returning('runs');
  return Number(row.runs);
}

/** Gives back a run of a month. */
export async function refundRun(tx: Tx, workspaceId: string, month: string): Promise<void> {
  await tx(TABLE).where({ workspace_id: workspaceId, month }).where('runs', '>', 0).decrement('runs', 1);
}

export async function runsIn(reader: Reader, workspaceIds: string[], month: string): Promise<number> {
  const rows: { runs: number }[] = await reader(TABLE).whereIn('workspace_id', workspaceIds).where({ month }).select('runs');
  return rows.reduce((sum, { runs }) => sum + Number(runs), 0);
}

export async function deleteMonthsOf(tx: Tx, workspaceId: string): Promise<void> {
  await tx(TABLE).where({ workspace_id: workspaceId }).delete();
}
