import type { Reader, Tx } from 'civic';

/** What was written about a flag: questions of reviewers, replies of the reporter, and why the reporter reopened it. */
export const MESSAGE_KINDS = ['question', 'reply', 'reopening'] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

export interface MessageRow {
  key: number;
  id: string;
  flag_key: number;
  kind: MessageKind;
  text: string;
  suspicion: string | null;
  account_id: string | null;
  at: string;
}

export async function insertMessage(tx: Tx, row: Omit<MessageRow, 'key'>): Promise<void> {
  await tx('flags_messages').insert(row);
}

/** Returns the messages of flags, the oldest first, by the key of the flag. */
export async function messagesOf(reader: Reader, flagKeys: number[]): Promise<Map<number, MessageRow[]>> {
  const rows: MessageRow[] = await reader('flags_messages').whereIn('flag_key', flagKeys).orderBy('key');
  const byFlag = new Map<number, MessageRow[]>(flagKeys.map((key) => [key, []]));
  for (const row of rows) byFlag.get(Number(row.flag_key))!.push(row);
  return byFlag;
}
