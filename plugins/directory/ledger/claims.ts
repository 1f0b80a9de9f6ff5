import { newId } from 'civic';
import type { ClaimDraft, Editor, Method } from '../types.ts';
import type { ClaimRow } from './rows.ts';
import { valueText } from './value.ts';

const METHOD_OF: Record<Editor['kind'], Method> = { person: 'manual', reviewer: 'manual', import: 'import', demo: 'import', discovery: 'rules' };

/** A claim that is about to be entered. */
export interface NewClaim {
  draft: ClaimDraft;
  record_key: number;
  source_key: number;
  /** When its source was read, unless the draft says when it was seen. */
  retrieved_at: string;
}

export function claimRow(key: number, { draft, record_key, source_key, retrieved_at }: NewClaim, editor: Editor): ClaimRow {
  const seen = draft.last_seen_at ?? draft.first_seen_at ?? retrieved_at;
  return {
    key,
    id: draft.id ?? newId(),
    record_key,
    source_key,
    property: draft.property,
    value: valueText(draft.value),
    rank: draft.rank ?? 'normal',
    confidence: draft.confidence ?? 1,
    method: draft.method ?? METHOD_OF[editor.kind],
    excerpt: draft.excerpt ?? null,
    locator_start: draft.locator?.start ?? null,
    locator_end: draft.locator?.end ?? null,
    first_seen_at: draft.first_seen_at ?? seen,
    last_seen_at: seen,
    expires_at: draft.expires_at ?? null,
    status: draft.status ?? 'active',
  };
}

/** What makes two claims the same: who, what, and on which source. */
export function identityOf(claim: Pick<ClaimRow, 'record_key' | 'source_key' | 'property' | 'value'>): string {
  return `${claim.record_key} ${claim.source_key} ${claim.property} ${claim.value}`;
}

/** A claim that was seen again: the same row when nothing is new. Rank and status change only when the draft says so; what was hidden stays hidden. */
export function seenAgain(row: ClaimRow, again: ClaimRow, draft: ClaimDraft): ClaimRow {
  const after: ClaimRow = {
    ...row,
    first_seen_at: again.first_seen_at < row.first_seen_at ? again.first_seen_at : row.first_seen_at,
    last_seen_at: again.last_seen_at > row.last_seen_at ? again.last_seen_at : row.last_seen_at,
    excerpt: row.excerpt ?? again.excerpt,
    locator_start: row.locator_start ?? again.locator_start,
    locator_end: row.locator_end ?? again.locator_end,
    expires_at: draft.expires_at === undefined ? row.expires_at : again.expires_at,
    rank: draft.rank ?? row.rank,
    status: row.status === 'hidden' ? 'hidden' : draft.status ?? row.status,
    confidence: draft.confidence ?? row.confidence,
  };
  return (Object.keys(after) as (keyof ClaimRow)[]).some((name) => after[name] !== row[name]) ? after : row;
}
