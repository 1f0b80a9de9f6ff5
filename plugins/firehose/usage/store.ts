import { bulkInsert, type Reader, type Tx } from 'civic';

export interface UsageRow {
  workspace_id: string;
  period: string;
  signals: number;
}

export async function addUsage(tx: Tx, rows: UsageRow[]): Promise<void> {
  await bulkInsert(tx, 'firehose_usage', rows, { onConflict: { columns: ['workspace_id', 'period'], merge: [], add: ['signals'] } });
}

export async function usageOfMonth(reader: Reader, workspaceId: string, period: string): Promise<number> {
  return (await reader('firehose_usage').where({ workspace_id: workspaceId, period }).first('signals'))?.signals ?? 0;
}
