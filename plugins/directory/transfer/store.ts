import { dialectOf, type Reader, type Tx } from 'civic';
import { plainOrigin } from '../ledger/origins.ts';
import { ownerOf } from '../ledger/owner.ts';
import type { Visibility } from '../types.ts';
import type { JudgementLine, MergedRecord } from './format.ts';

const IMPORTS = 'directory_imports';

export interface ImportRow {
  key: number;
  id: string;
  fingerprint: string;
  format: string;
  path: string;
  rejects_path: string;
  source_url: string | null;
  timezone: string | null;
  visibility: Visibility;
  account_id: string | null;
  workspace_id: string | null;
  /** 0 or 1: what it may add to besides the workspace's own. */
  may_change_public: number | boolean;
  joins: number | boolean;
  state: 'pending' | 'running' | 'completed' | 'failed';
  position: number;
  bytes_done: number;
  bytes_total: number;
  rejects_bytes: number;
  created: number;
  updated: number;
  unchanged: number;
  rejected: number;
  /** Of the created ones, those that turned out to be an actor that was there. */
  joined: number;
  noted: number;
  /** JSON: see Report. */
  report: string;
  error: string | null;
  error_code: string | null;
  /** The job that reads an upload; null for imports of the command line. */
  job_id: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

export type NewImport = Pick<ImportRow, 'id' | 'fingerprint' | 'format' | 'path' | 'rejects_path' | 'source_url' | 'timezone' | 'visibility' | 'account_id' | 'workspace_id' | 'may_change_public' | 'joins' | 'bytes_total' | 'job_id' | 'created_at'>;

export async function insertImport(tx: Tx, row: NewImport): Promise<void> {
  const none = { position: 0, bytes_done: 0, rejects_bytes: 0, created: 0, updated: 0, unchanged: 0, rejected: 0, joined: 0, noted: 0 };
  await tx(IMPORTS).insert({ ...row, ...none, may_change_public: Boolean(row.may_change_public), joins: Boolean(row.joins), state: 'pending', report: '{"faults":[],"notes":[]}', error: null, error_code: null, started_at: null, finished_at: null });
}

export async function importById(reader: Reader, id: string): Promise<ImportRow | undefined> {
  return reader(IMPORTS).where({ id }).first('*');
}

/** The last import of the same file in the same way that did not come to its end. */
export async function unfinishedImport(reader: Reader, fingerprint: string): Promise<ImportRow | undefined> {
  return reader(IMPORTS).where({ fingerprint }).whereNot({ state: 'completed' }).orderBy('key', 'desc').first('*');
}

export async function updateImport(tx: Tx, id: string, change: Partial<Omit<ImportRow, 'key' | 'id'>>): Promise<void> {
  await tx(IMPORTS).where({ id }).update(change);
}

const UNFINISHED = ['pending', 'running'];

/** Marks an import as failed, unless it has ended meanwhile. */
export async function failImport(tx: Tx, id: string, failure: Pick<ImportRow, 'error' | 'error_code' | 'finished_at'>): Promise<void> {
  await tx(IMPORTS).where({ id }).whereIn('state', UNFINISHED).update({ ...failure, state: 'failed' });
}

/** Uploads of all accounts that wait or run, oldest first. */
export async function unfinishedUploads(reader: Reader): Promise<ImportRow[]> {
  return reader(IMPORTS).whereNotNull('account_id').whereIn('state', UNFINISHED).orderBy('key').select('*');
}

/** How many imports of an account wait or run, and the bytes of their files. */
export async function uploadUse(reader: Reader, accountId: string): Promise<{ active: number; bytes: number }> {
  const row = await reader(IMPORTS).where({ account_id: accountId }).whereIn('state', UNFINISHED).count({ active: '*' }).sum({ bytes: 'bytes_total' }).first();
  return { active: Number(row?.active ?? 0), bytes: Number(row?.bytes ?? 0) };
}

/** The ended imports of an account, the latest first. */
export async function finishedUploads(reader: Reader, accountId: string): Promise<ImportRow[]> {
  return reader(IMPORTS).where({ account_id: accountId }).whereNotIn('state', UNFINISHED).orderBy('key', 'desc').select('*');
}

/** Makes other uploads of the account wait until this transaction ends. SQLite has one writer anyway. */
export async function lockAccount(tx: Tx, accountId: string): Promise<void> {
  if (dialectOf(tx) === 'postgres') await tx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`directory import ${accountId}`]);
}

/** Returns the latest imports of all accounts and of the command line. */
export async function latestImports(reader: Reader, limit: number): Promise<ImportRow[]> {
  return reader(IMPORTS).orderBy('key', 'desc').limit(limit).select('*');
}

/** Returns the imports that failed for one of these reasons since a time, the latest first. The command line has shown its user why an import failed, unless the disk did. */
export async function failedImports(reader: Reader, since: string, codes: string[], limit: number): Promise<ImportRow[]> {
  return reader(IMPORTS).where('finished_at', '>', since).where({ state: 'failed' }).whereIn('error_code', codes)
    .where((reported) => reported.whereNotNull('account_id').orWhereNot({ error_code: 'import_failed' })).orderBy('finished_at', 'desc').limit(limit).select('*');
}

export async function importsFinishedBefore(reader: Reader, time: string, limit: number): Promise<ImportRow[]> {
  return reader(IMPORTS).where('finished_at', '<', time).orderBy('finished_at').limit(limit).select('*');
}

export async function deleteImports(tx: Tx, ids: string[]): Promise<void> {
  await tx(IMPORTS).whereIn('id', ids).delete();
}

export interface Owner {
  visibility: Visibility;
  workspace_id: string | null;
}

/** What drafts would add to: the records with these ids and origins, by whichever of them names one. */
export async function ownersOf(reader: Reader, ids: string[], origins: string[]): Promise<Map<string, Owner>> {
  const byId: (Owner & { name: string })[] = await reader('directory_records').whereIn('id', ids).select('id as name', 'visibility', 'workspace_id');
  const byOrigin: (Owner & { name: string })[] = await reader('directory_origins').join('directory_records', 'directory_records.key', 'directory_origins.record_key')
    .whereIn('origin', origins).select('origin as name', 'visibility', 'workspace_id');
  return new Map([...byId, ...byOrigin].map(({ name, ...owner }) => [name, owner]));
}

/** What the wire form of actors leaves out, by the key of the actor. */
export async function recordsBehind(reader: Reader, actorKeys: number[]): Promise<Map<number, { merged: MergedRecord[]; origins: { record_id: string; origin: string }[] }>> {
  const records: (Owner & { key: number; id: string; actor_key: number; created_at: string; updated_at: string })[] = await reader('directory_records')
    .whereIn('actor_key', actorKeys).orderBy('key').select('key', 'id', 'actor_key', 'visibility', 'workspace_id', 'created_at', 'updated_at');
  const joined = records.filter(({ key, actor_key }) => key !== actor_key);
  const claims: { id: string; record_key: number }[] = joined.length === 0 ? [] : await reader('directory_claims')
    .whereIn('record_key', joined.map(({ key }) => key)).orderBy('key').select('id', 'record_key');
  const origins: { origin: string; record_key: number }[] = await reader('directory_origins')
    .whereIn('record_key', records.map(({ key }) => key)).orderBy('origin').select('origin', 'record_key');
  return new Map(actorKeys.map((key) => {
    const own = records.filter(({ actor_key }) => actor_key === key);
    const byKey = new Map(own.map((record) => [record.key, record]));
    const merged = own.filter((record) => record.key !== key).map((record) => ({
      id: record.id, created_at: record.created_at, updated_at: record.updated_at,
      claim_ids: claims.filter(({ record_key }) => record_key === record.key).map(({ id }) => id),
    }));
    const known = origins.flatMap(({ origin, record_key }) => {
      const record = byKey.get(record_key);
      return record ? [{ record_id: record.id, origin: plainOrigin(origin, ownerOf(record)) }] : [];
    });
    return [key, { merged, origins: known }];
  }));
}

/** Judgements that stand, between records that may be seen, in the order they were made. */
export async function judgementsAfter(reader: Reader, options: { after: number; limit: number; workspaceId: string | null }): Promise<{ key: number; judgement: JudgementLine }[]> {
  const query = reader('directory_judgements as j')
    .join('directory_records as l', 'l.key', 'j.left_key').join('directory_records as r', 'r.key', 'j.right_key')
    .whereNull('j.deleted_at').whereNull('l.deleted_at').whereNull('r.deleted_at').where('j.key', '>', options.after).orderBy('j.key').limit(options.limit);
  for (const side of ['l', 'r']) {
    query.where((may) => {
      may.where(`${side}.visibility`, 'public');
      if (options.workspaceId) may.orWhere(`${side}.workspace_id`, options.workspaceId);
    });
  }
  const rows: (JudgementLine & { key: number })[] = await query.select('j.key', 'j.id', 'l.id as left_id', 'r.id as right_id', 'j.verdict', 'j.reason', 'j.score', 'j.by_kind', 'j.at');
  return rows.map(({ key, ...judgement }) => ({ key, judgement }));
}

export async function countActors(reader: Reader): Promise<number> {
  const row = await reader('directory_actors').where({ visibility: 'public' }).count({ count: '*' }).first();
  return Number(row?.count ?? 0);
}
