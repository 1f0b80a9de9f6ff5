import type { Reader } from 'civic';
import { messagesOf } from '../reporter/messages-store.ts';
import { reportersOf } from '../reporter/store.ts';
import type { FlagRow } from '../store.ts';
import { knownType, type Proposal, type ReviewedFlag } from '../types.ts';

/** Returns flags as reviewers see them, with the addresses of their reporters and all messages. */
export async function reviewedFlags(reader: Reader, rows: FlagRow[]): Promise<ReviewedFlag[]> {
  const keys = rows.map(({ key }) => Number(key));
  const reporters = await reportersOf(reader, keys);
  const messages = await messagesOf(reader, keys);
  return rows.map((row) => ({
    ...reviewedFlag(row),
    reporter_email: reporters.get(Number(row.key))?.email ?? null,
    messages: messages.get(Number(row.key))!.map(({ id, kind, text, suspicion, account_id, at }) => ({ id, kind, text, suspicion, account_id, at })),
  }));
}

function reviewedFlag(row: FlagRow): Omit<ReviewedFlag, 'reporter_email' | 'messages'> {
  const { id, target_type, target_id, claim_id, flag_type, reason, status, account_id, suspicion, note, decided_by, decided_at, created_at, updated_at } = row;
  return { id, target_type, target_id, claim_id, flag_type: knownType(flag_type), reason, proposal: proposalOf(row), status, account_id, suspicion, note, decided_by, decided_at, created_at, updated_at };
}

function proposalOf({ proposed_value: value, proposed_source: source_url }: FlagRow): Proposal | null {
  return value === null && source_url === null ? null : { value, source_url };
}
