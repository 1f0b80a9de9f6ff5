import { createHash } from 'node:crypto';

/** One security event, as it is hashed. `detail` never holds a secret. */
export interface AuditFact {
  seq: number;
  at: string;
  kind: string;
  account_id: string | null;
  workspace_id: string | null;
  subject: string | null;
  detail: object;
  address: string | null;
}

export interface AuditRow extends AuditFact {
  prev_hash: string;
  hash: string;
  /** Null in rows that were written before seals existed. */
  seal: string | null;
}

/** What the first row holds in place of the hash before it. */
export const START = '0'.repeat(64);

/** The hash of a row: over the hash before it and the row as JSON with sorted keys. */
export function chained(prevHash: string, { seq, at, kind, account_id, workspace_id, subject, detail, address }: AuditFact): string {
  const fact: AuditFact = { seq, at, kind, account_id, workspace_id, subject, detail, address };
  return createHash('sha256').update(prevHash).update('\n').update(JSON.stringify(sorted(fact))).digest('hex');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, inner]) => [name, sorted(inner)]));
}
