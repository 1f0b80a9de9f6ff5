import { afterCommit, type Reader, type Tx } from 'civic';
import type { Doer } from '../types.ts';
import { chained, START, type AuditRow } from './chain.ts';
import type { AuditKind } from './kinds.ts';
import type { Seals } from './seal.ts';
import type { Witness } from './witness.ts';

/** A security event to put on record. */
export interface AuditEntry<Kind extends string = AuditKind> {
  /** The kind of event, such as `key_made` or `signed_in`. */
  kind: Kind;
  /** The account and address that caused it. */
  by: Doer;
  /** The id of the changed account, key, session or invitation. */
  subject?: string;
  workspace_id?: string | null;
  /** Further facts; never a secret. */
  detail?: object;
}

interface StoredRow extends Omit<AuditRow, 'detail'> {
  detail: string;
}

const HEAD = { name: 'head' };

export interface RecordContext {
  seals: Seals;
  witness: Pick<Witness, 'saw'>;
}

/** Puts an event on record in the transaction that makes it true. Writers wait for each other until they commit. */
export async function record({ seals, witness }: RecordContext, tx: Tx, at: string, { kind, by, subject, workspace_id, detail }: AuditEntry<string>): Promise<void> {
  await tx('accounts_audit_head').insert({ ...HEAD, seq: 0, hash: START }).onConflict('name').ignore();
  const [head] = (await tx('accounts_audit_head').where(HEAD).update({ seq: tx.raw('seq + 1') }).returning(['seq', 'hash'])) as { seq: number; hash: string }[];
  const fact = { seq: Number(head!.seq), at, kind, account_id: by.account_id, workspace_id: workspace_id ?? null, subject: subject ?? null, detail: detail ?? {}, address: by.address };
  const hash = chained(head!.hash, fact);
  await tx('accounts_audit').insert({ ...fact, detail: JSON.stringify(fact.detail), prev_hash: head!.hash, hash, seal: seals.seal(hash) });
  await tx('accounts_audit_head').where(HEAD).update({ hash });
  afterCommit(tx, witness.saw);
}

export async function auditHead(reader: Reader): Promise<{ seq: number; hash: string }> {
  const head = (await reader('accounts_audit_head').where(HEAD).first('seq', 'hash')) as { seq: number | string; hash: string } | undefined;
  return head ? { seq: Number(head.seq), hash: head.hash } : { seq: 0, hash: START };
}

/** The hash of a row; null when there is no such row. */
export async function auditHashAt(reader: Reader, seq: number): Promise<string | null> {
  return ((await reader('accounts_audit').where({ seq }).first('hash')) as { hash: string } | undefined)?.hash ?? null;
}

export async function firstSealedRow(reader: Reader): Promise<number | null> {
  const row = (await reader('accounts_audit').whereNotNull('seal').min({ seq: 'seq' }).first()) as { seq: number | string | null };
  return row.seq === null ? null : Number(row.seq);
}

export async function lastAuditRow(reader: Reader): Promise<AuditRow | null> {
  const row = (await reader('accounts_audit').orderBy('seq', 'desc').first()) as StoredRow | undefined;
  return row ? auditRow(row) : null;
}

/** The last row that was streamed to a target. */
export async function streamPosition(reader: Reader, target: string): Promise<number> {
  const row = (await reader('accounts_audit_stream').where({ target }).first('seq')) as { seq: number | string } | undefined;
  return Number(row?.seq ?? 0);
}

export async function setStreamPosition(tx: Tx, target: string, seq: number): Promise<void> {
  await tx('accounts_audit_stream').insert({ target, seq }).onConflict('target').merge();
}

export async function auditAfter(reader: Reader, seq: number, limit: number): Promise<AuditRow[]> {
  const rows = (await reader('accounts_audit').where('seq', '>', seq).orderBy('seq').limit(limit)) as StoredRow[];
  return rows.map(auditRow);
}

/** What happened in a workspace, the latest first. */
export async function auditOfWorkspace(reader: Reader, workspaceId: string, before: number | null, limit: number): Promise<AuditRow[]> {
  const query = reader('accounts_audit').where({ workspace_id: workspaceId });
  const rows = (await (before === null ? query : query.where('seq', '<', before)).orderBy('seq', 'desc').limit(limit)) as StoredRow[];
  return rows.map(auditRow);
}

/** Returns the events of the whole instance, the latest first. */
export async function latestAudit(reader: Reader, before: number | null, limit: number): Promise<AuditRow[]> {
  const query = reader('accounts_audit').orderBy('seq', 'desc').limit(limit);
  const rows = (await (before === null ? query : query.where('seq', '<', before))) as StoredRow[];
  return rows.map(auditRow);
}

/** Returns the events that an account caused or that changed it, the latest first. */
export async function auditOfAccount(reader: Reader, accountId: string, limit: number): Promise<AuditRow[]> {
  const rows = (await reader('accounts_audit').where({ account_id: accountId }).orWhere({ subject: accountId }).orderBy('seq', 'desc').limit(limit)) as StoredRow[];
  return rows.map(auditRow);
}

export async function countOfWorkspace(reader: Reader, workspaceId: string): Promise<number> {
  const row = await reader('accounts_audit').where({ workspace_id: workspaceId }).count({ total: '*' }).first() as { total: number | string };
  return Number(row.total);
}

/** Returns the number of the last event of these kinds; 0 when there is none. */
export async function lastAccessChange(reader: Reader, after: number, kinds: string[]): Promise<number> {
  const row = await reader('accounts_audit').where('seq', '>', after).whereIn('kind', kinds).max({ seq: 'seq' }).first() as { seq: number | string | null };
  return Number(row.seq ?? 0);
}

function auditRow(row: StoredRow): AuditRow {
  return { ...row, seq: Number(row.seq), detail: JSON.parse(row.detail) as object };
}
