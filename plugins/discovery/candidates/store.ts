import { dialectOf, type Reader, type Tx } from 'civic';
import type { ActorType } from 'civic/directory';
import { endedBefore } from '../runs/store.ts';

const TABLE = 'discovery_candidates';
const AT_ONCE = 500;

export const DECISIONS = ['pending', 'accepted', 'rejected', 'merged'] as const;
export type Decision = (typeof DECISIONS)[number];

export interface CandidateRow {
  key: number;
  id: string;
  run_key: number;
  workspace_id: string | null;
  fingerprint: string;
  type: ActorType;
  name: string;
  score: number;
  /** JSON of `ClaimDraft[]` and `SourceDraft[]`. */
  claims: string;
  sources: string;
  match: string | null;
  matched_at: string | null;
  decision: Decision;
  decided_at: string | null;
  decided_by: string | null;
  note: string | null;
  entity_id: string | null;
  done: string | null;
  /** The hash of what a local tool sent last, and when that was stored; null for candidates of other runs. */
  sent_hash?: string | null;
  sent_at?: string | null;
  created_at: string;
  updated_at: string;
}

export interface DecisionCounts {
  pending: number;
  decided: number;
}

export async function insertCandidates(tx: Tx, rows: Omit<CandidateRow, 'key'>[]): Promise<void> {
  for (let at = 0; at < rows.length; at += AT_ONCE) await tx(TABLE).insert(rows.slice(at, at + AT_ONCE));
}

export async function updateCandidate(tx: Tx, key: number, changes: Partial<Omit<CandidateRow, 'key'>>): Promise<CandidateRow> {
  const [stored] = await tx(TABLE).where({ key }).update(changes).returning('*');
  return stored as CandidateRow;
}

export async function candidateById(reader: Reader, runKey: number, id: string): Promise<CandidateRow | undefined> {
  return reader(TABLE).where({ id, run_key: runKey }).first('*');
}

/** Reads a candidate that the transaction is about to change. */
export async function lockedCandidate(tx: Tx, runKey: number, id: string): Promise<CandidateRow | undefined> {
  const query = tx(TABLE).where({ id, run_key: runKey });
  if (dialectOf(tx) === 'postgres') query.forUpdate();
  return query.first('*');
}

export async function candidateTotal(reader: Reader, runKey: number): Promise<number> {
  const [count] = await reader(TABLE).where({ run_key: runKey }).count('* as total');
  return Number(count!.total);
}

/** Returns the candidates of a run by fingerprint, and locks them: a reviewer may decide about them at the same time. */
export async function candidatesOfRun(tx: Tx, runKey: number, fingerprints: string[]): Promise<Map<string, CandidateRow>> {
  const found = new Map<string, CandidateRow>();
  for (let at = 0; at < fingerprints.length; at += AT_ONCE) {
    const query = tx(TABLE).where({ run_key: runKey }).whereIn('fingerprint', fingerprints.slice(at, at + AT_ONCE)).orderBy('key');
    if (dialectOf(tx) === 'postgres') query.forUpdate();
    const rows: CandidateRow[] = await query.select('*');
    for (const row of rows) found.set(row.fingerprint, row);
  }
  return found;
}

/** Returns those of these fingerprints that a run has, with the hash of what a local tool sent last. */
export async function sentHashes(reader: Reader, runKey: number, fingerprints: string[]): Promise<Map<string, string | null>> {
  const found = new Map<string, string | null>();
  for (let at = 0; at < fingerprints.length; at += AT_ONCE) {
    const rows: { fingerprint: string; sent_hash: string | null }[] = await reader(TABLE).where({ run_key: runKey }).whereIn('fingerprint', fingerprints.slice(at, at + AT_ONCE)).select('fingerprint', 'sent_hash');
    for (const { fingerprint, sent_hash } of rows) found.set(fingerprint, sent_hash);
  }
  return found;
}

/** Returns the latest rejection of each fingerprint in all runs of a workspace, or of the operator. */
export async function rejectionsOf(reader: Reader, workspaceId: string | null, fingerprints: string[]): Promise<Map<string, CandidateRow>> {
  const found = new Map<string, CandidateRow>();
  for (let at = 0; at < fingerprints.length; at += AT_ONCE) {
    const rows: CandidateRow[] = await reader(TABLE).where({ workspace_id: workspaceId, decision: 'rejected' }).whereIn('fingerprint', fingerprints.slice(at, at + AT_ONCE)).orderBy('key').select('*');
    for (const row of rows) found.set(row.fingerprint, row);
  }
  return found;
}

/** Returns candidates of a run that were not compared with known actors yet. */
export async function unmatched(reader: Reader, runKey: number, limit: number): Promise<CandidateRow[]> {
  return reader(TABLE).where({ run_key: runKey, decision: 'pending' }).whereNull('matched_at').orderBy('key').limit(limit).select('*');
}

/** Returns one page of the candidates of a run, the highest score first. */
export async function candidatesPage(reader: Reader, filter: { run_key: number; decision?: Decision }, { after, limit }: { after: { score: number; key: number } | null; limit: number }): Promise<{ rows: CandidateRow[]; total: number }> {
  const page = reader(TABLE).where(filter).orderBy([{ column: 'score', order: 'desc' }, { column: 'key', order: 'asc' }]).limit(limit);
  if (after) page.where((later) => later.where('score', '<', after.score).orWhere((same) => same.where('score', after.score).where('key', '>', after.key)));
  const [count] = await reader(TABLE).where(filter).count('* as total');
  return { rows: await page.select('*'), total: Number(count!.total) };
}

/** Returns how many candidates of runs wait, and how many a person decided about. */
export async function decisionCounts(reader: Reader, runKeys: number[]): Promise<Map<number, DecisionCounts>> {
  const rows: { run_key: number; decision: Decision; count: number | string }[] = await reader(TABLE).whereIn('run_key', runKeys).groupBy('run_key', 'decision').select('run_key', 'decision').count('* as count');
  const counts = new Map<number, DecisionCounts>();
  for (const { run_key, decision, count } of rows) {
    const of = counts.get(Number(run_key)) ?? { pending: 0, decided: 0 };
    of[decision === 'pending' ? 'pending' : 'decided'] += Number(count);
    counts.set(Number(run_key), of);
  }
  return counts;
}

/** Returns how many candidates of a run have each decision. */
export async function countDecisions(reader: Reader, runKey: number): Promise<Record<Decision, number>> {
  const rows: { decision: Decision; count: number | string }[] = await reader(TABLE).where({ run_key: runKey }).groupBy('decision').select('decision').count('* as count');
  const counts = { pending: 0, accepted: 0, rejected: 0, merged: 0 };
  for (const { decision, count } of rows) counts[decision] = Number(count);
  return counts;
}

/** Returns how many candidates of a workspace, or of the operator, wait for a decision. */
export async function countPending(reader: Reader, workspaceId: string | null): Promise<number> {
  const [count] = await reader(TABLE).where({ workspace_id: workspaceId, decision: 'pending' }).count('* as total');
  return Number(count!.total);
}

/** Returns candidates who are people, with the place of their run, in the order of their keys, except accepted ones: those are actors. */
export async function peopleAfter(reader: Reader, key: number, limit: number): Promise<(CandidateRow & { place_key: string | null })[]> {
  return reader(`${TABLE} as candidate`).join('discovery_runs as run', 'run.key', 'candidate.run_key').where('candidate.type', 'person').whereNot('candidate.decision', 'accepted')
    .where('candidate.key', '>', key).orderBy('candidate.key').limit(limit).select('candidate.*', 'run.place_key');
}

export async function deleteCandidates(tx: Tx, keys: number[]): Promise<void> {
  await tx(TABLE).whereIn('key', keys).delete();
}

/** Deletes the candidates of a run that wait for a decision. Returns whether others are left. */
export async function deletePending(tx: Tx, runKey: number): Promise<boolean> {
  await tx(TABLE).where({ run_key: runKey, decision: 'pending' }).delete();
  return await tx(TABLE).where({ run_key: runKey }).first('key') !== undefined;
}

/** Deletes up to 500 candidates of runs that ended before a time: those with a score below `score` that wait for a decision and were not changed since. Returns how many. */
export async function pruneLowScores(tx: Tx, before: string, score: number): Promise<number> {
  const low = tx(TABLE).where({ decision: 'pending' }).where('score', '<', score).where('updated_at', '<', before).whereIn('run_key', endedBefore(tx, before)).limit(500).select('key');
  return tx(TABLE).whereIn('key', low).delete();
}
