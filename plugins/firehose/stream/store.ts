import { bulkInsert, type Reader, type Tx } from 'civic';

export interface OpenRow {
  node: string;
  account_id: string;
  streams: number;
  /** Milliseconds. */
  seen: number;
}

/** What a node has open now, in place of what it had; forgets nodes that went without a word. */
export async function putOpen(tx: Tx, node: string, rows: OpenRow[], goneBefore: number): Promise<void> {
  await tx('firehose_open').where({ node }).orWhere('seen', '<', goneBefore).delete();
  await bulkInsert(tx, 'firehose_open', rows);
}

export async function removeNode(tx: Tx, node: string): Promise<void> {
  await tx('firehose_open').where({ node }).delete();
}

export async function openElsewhere(reader: Reader, accountId: string, node: string, { since, until }: { since: number; until: number }): Promise<number> {
  const row = await reader('firehose_open').where({ account_id: accountId }).whereNot({ node }).whereBetween('seen', [since, until]).sum({ streams: 'streams' }).first();
  return Number(row?.streams ?? 0);
}
