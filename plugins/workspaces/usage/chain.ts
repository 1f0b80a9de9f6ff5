import { createHash } from 'node:crypto';

/** One use, as it is hashed. */
export interface UsageFact {
  workspace_id: string;
  seq: number;
  at: string;
  meter: string;
  amount: number;
  /** The id of the account. */
  actor: string;
  /** The kind of credential. */
  via: string;
}

export interface UsageLine extends UsageFact {
  prev_hash: string;
  hash: string;
}

/** The last line of a workspace. */
export interface UsageHead {
  workspace_id: string;
  seq: number;
  hash: string;
  seal: string | null;
  deleted_at: string | null;
}

/** What the first line has in place of the hash before it. */
export const START = '0'.repeat(64);

/** Returns the hash of a line: over the hash before it and the line as JSON, with its members in this order. */
export function chained(prevHash: string, { workspace_id, seq, at, meter, amount, actor, via }: UsageFact): string {
  return sha256(`${prevHash}\n${JSON.stringify({ workspace_id, seq, at, meter, amount, actor, via })}`);
}

/** Returns the text that the seal of a head covers. */
export function headHash({ workspace_id, seq, hash, deleted_at }: Omit<UsageHead, 'seal'>): string {
  return sha256(`civic usage head\n${JSON.stringify({ workspace_id, seq, hash, deleted_at })}`);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
