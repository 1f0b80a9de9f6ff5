import type { Reader, Tx } from 'civic';
import { START, type UsageHead, type UsageLine } from './chain.ts';

/** Takes the next number and returns it with the hash of the line before, and whether the workspace was deleted. The row stays locked until the transaction ends. */
export async function nextUse(tx: Tx, workspaceId: string): Promise<{ seq: number; prev_hash: string; isDeleted: boolean }> {
  const [head] = (await tx('workspaces_usage_heads').insert({ workspace_id: workspaceId, seq: 1, hash: START, seal: null, deleted_at: null })
    .onConflict('workspace_id').merge({ seq: tx.raw('workspaces_usage_heads.seq + 1') }).returning(['seq', 'hash', 'deleted_at'])) as { seq: number | string; hash: string; deleted_at: string | null }[];
  return { seq: Number(head!.seq), prev_hash: head!.hash, isDeleted: head!.deleted_at !== null };
}

/** Returns the head of a workspace, locked until the transaction ends; creates it when there is none. */
export async function lockedHead(tx: Tx, workspaceId: string): Promise<UsageHead> {
  const [head] = (await tx('workspaces_usage_heads').insert({ workspace_id: workspaceId, seq: 0, hash: START, seal: null, deleted_at: null })
    .onConflict('workspace_id').merge(['workspace_id']).returning('*')) as UsageHead[];
  return { ...head!, seq: Number(head!.seq) };
}

export async function insertLine(tx: Tx, line: UsageLine): Promise<void> {
  await tx('workspaces_usage').insert(line);
}

export async function updateHead(tx: Tx, { workspace_id, ...values }: Partial<UsageHead> & { workspace_id: string }): Promise<void> {
  await tx('workspaces_usage_heads').where({ workspace_id }).update(values);
}

export async function addToMonth(tx: Tx, row: { workspace_id: string; month: string; meter: string; amount: number }): Promise<void> {
  await tx('workspaces_usage_months').insert(row).onConflict(['workspace_id', 'month', 'meter']).merge({ amount: tx.raw('workspaces_usage_months.amount + excluded.amount') });
}

export async function monthsOf(reader: Reader, workspaceId: string, since: string): Promise<{ month: string; meter: string; amount: number }[]> {
  const rows = (await reader('workspaces_usage_months').where({ workspace_id: workspaceId }).where('month', '>=', since)
    .orderBy([{ column: 'month', order: 'desc' }, 'meter']).select('month', 'meter', 'amount')) as { month: string; meter: string; amount: number | string }[];
  return rows.map((row) => ({ ...row, amount: Number(row.amount) }));
}

export async function headOf(reader: Reader, workspaceId: string): Promise<UsageHead | null> {
  const row = (await reader('workspaces_usage_heads').where({ workspace_id: workspaceId }).first()) as UsageHead | undefined;
  return row ? { ...row, seq: Number(row.seq) } : null;
}

/** Returns heads in the order of their ids. */
export async function headsAfter(reader: Reader, after: string | null, limit: number): Promise<UsageHead[]> {
  const query = reader('workspaces_usage_heads').orderBy('workspace_id').limit(limit);
  const rows = (await (after === null ? query : query.where('workspace_id', '>', after))) as UsageHead[];
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }));
}

/** Returns the workspaces that have lines and no head. */
export async function withoutHead(reader: Reader): Promise<string[]> {
  return reader('workspaces_usage').whereNotIn('workspace_id', reader('workspaces_usage_heads').select('workspace_id')).distinct().pluck('workspace_id') as unknown as Promise<string[]>;
}

export async function linesAfter(reader: Reader, workspaceId: string, seq: number, limit: number): Promise<UsageLine[]> {
  const rows = (await reader('workspaces_usage').where({ workspace_id: workspaceId }).where('seq', '>', seq).orderBy('seq').limit(limit)) as UsageLine[];
  return rows.map(read);
}

/** Returns a page of lines, the latest first. */
export async function linesBefore(reader: Reader, workspaceId: string, before: number | null, limit: number): Promise<UsageLine[]> {
  const query = reader('workspaces_usage').where({ workspace_id: workspaceId }).orderBy('seq', 'desc').limit(limit);
  const rows = (await (before === null ? query : query.where('seq', '<', before))) as UsageLine[];
  return rows.map(read);
}

/** Returns the hash of a line; null when there is none. */
export async function hashAt(reader: Reader, workspaceId: string, seq: number): Promise<string | null> {
  return ((await reader('workspaces_usage').where({ workspace_id: workspaceId, seq }).first('hash')) as { hash: string } | undefined)?.hash ?? null;
}

export async function deleteLines(tx: Tx, workspaceId: string): Promise<void> {
  for (const table of ['workspaces_usage', 'workspaces_usage_months']) await tx(table).where({ workspace_id: workspaceId }).delete();
}

function read(row: UsageLine): UsageLine {
  return { ...row, seq: Number(row.seq), amount: Number(row.amount) };
}
