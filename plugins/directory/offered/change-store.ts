import type { Reader } from 'civic';

export interface ChangeTotals {
  count: number;
  last_at: string | null;
}

export async function changeTotals(reader: Reader, recordKeys: number[], without: number[]): Promise<ChangeTotals> {
  const row = await reader('directory_changes').whereIn('record_key', recordKeys).whereNotIn('key', without).count({ count: '*' }).max({ last_at: 'at' }).first();
  return { count: Number(row!.count), last_at: row!.last_at ?? null };
}
