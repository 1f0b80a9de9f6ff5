import type { Reader } from 'civic';
import type { ChangeDetail, ClaimRow, RecordRow, SourceRow } from '../ledger/rows.ts';
import { changesOfRecords, claimsOfRecords, countChanges, mergesOfRecords, recordsById, sourcesByKey } from '../ledger/store.ts';
import type { ClaimValue, Property, Rank } from '../types.ts';

interface ChangedClaim {
  change: 'added' | 'seen_again' | 'retracted' | 'ranked';
  claim_id: string;
  property: Property;
  value: ClaimValue;
  rank?: { before: Rank; after: Rank };
  source_id: string;
  source_url: string;
}

export interface HistoryItem {
  at: string;
  action: string;
  by: string;
  claims: ChangedClaim[];
  merged_into?: string;
  with?: string[];
  reason: string | null;
}

/** What of a history the caller is shown. */
export interface HistoryRules {
  sees(record: RecordRow): boolean;
  hides(claim: ClaimRow, source: SourceRow): boolean;
}

/** Returns the changes of an actor, the latest first: without accounts, hidden claims, and merges with records that the caller may not see. */
export async function historyPage(reader: Reader, records: RecordRow[], page: { before: number | null; limit: number; without?: number[] }, { sees, hides }: HistoryRules): Promise<{ items: HistoryItem[]; total: number; next: number[] | null }> {
  const keys = records.map(({ key }) => key);
  const hidden = [...await hiddenChanges(reader, keys, sees), ...page.without ?? []];
  const rows = await changesOfRecords(reader, keys, { ...page, limit: page.limit + 1, without: hidden });
  const claims = new Map((await claimsOfRecords(reader, keys)).filter(({ status }) => status !== 'hidden').map((claim) => [claim.id, claim]));
  const sources = new Map((await sourcesByKey(reader, [...new Set([...claims.values()].map(({ source_key }) => source_key))])).map((source) => [source.key, source]));
  for (const [id, claim] of claims) if (hides(claim, sources.get(claim.source_key)!)) claims.delete(id);
  const shown = rows.slice(0, page.limit);
  const items = shown.map(({ at, action, by_kind, detail }): HistoryItem => {
    const told = JSON.parse(detail) as ChangeDetail;
    return {
      at,
      action,
      by: by_kind,
      claims: changedClaims(told, claims, sources),
      ...(told.into && { merged_into: told.into }),
      ...(told.from && { with: told.from }),
      reason: told.reason ?? null,
    };
  });
  return { items, total: await countChanges(reader, keys, hidden), next: rows.length > page.limit ? [shown.at(-1)!.key] : null };
}

/** Returns the changes to leave out: a published actor may have been merged with, and split from, actors that are still private. */
export async function hiddenChanges(reader: Reader, recordKeys: number[], sees: (record: RecordRow) => boolean): Promise<number[]> {
  const merges = (await mergesOfRecords(reader, recordKeys)).map(({ key, detail }) => {
    const { into, from = [] } = JSON.parse(detail) as ChangeDetail;
    return { key, ids: into ? [into, ...from] : from };
  });
  const hidden = new Set((await recordsById(reader, [...new Set(merges.flatMap(({ ids }) => ids))])).filter((record) => !sees(record)).map(({ id }) => id));
  return merges.filter(({ ids }) => ids.some((id) => hidden.has(id))).map(({ key }) => key);
}

function changedClaims(detail: ChangeDetail, claims: Map<string, ClaimRow>, sources: Map<number, SourceRow>): ChangedClaim[] {
  const told = (change: ChangedClaim['change'], id: string, rank?: ChangedClaim['rank']): ChangedClaim[] => {
    const claim = claims.get(id);
    if (!claim) return [];
    const { id: source_id, url: source_url } = sources.get(claim.source_key)!;
    return [{ change, claim_id: id, property: claim.property, value: JSON.parse(claim.value) as ClaimValue, ...(rank && { rank }), source_id, source_url }];
  };
  return [
    ...(detail.added ?? []).flatMap((id) => told('added', id)),
    ...(detail.seen_again ?? []).flatMap((id) => told('seen_again', id)),
    ...(detail.retracted ?? []).flatMap((id) => told('retracted', id)),
    ...(detail.ranked ?? []).flatMap(({ claim_id, before, after }) => told('ranked', claim_id, { before, after })),
  ];
}
