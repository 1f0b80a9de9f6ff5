import type { ClaimStatus, Method, Property, Rank, SourceKind, Visibility } from '../types.ts';

/** How many flags a record or a source has; null or absent before the first. */
export interface FlagColumns {
  flags_open?: number | null;
  flags_total?: number | null;
  flags_latest_at?: string | null;
}

export interface RecordRow extends FlagColumns {
  key: number;
  id: string;
  actor_key: number;
  slug: string;
  visibility: Visibility;
  workspace_id: string | null;
  created_at: string;
  updated_at: string;
  deleted_at: string | null;
}

export interface SourceRow extends FlagColumns {
  key: number;
  id: string;
  /** The workspace whose private records cite it; null for the public row of its URL. */
  workspace_id: string | null;
  url: string;
  title: string | null;
  publication: string | null;
  kind: SourceKind;
  published_at: string | null;
  retrieved_at: string;
  excerpt: string | null;
  content_hash: string | null;
  archived: boolean | number;
  url_status: 'ok' | 'broken' | 'redirected' | 'unknown';
  last_checked_at: string | null;
}

export interface ClaimRow {
  key: number;
  id: string;
  record_key: number;
  source_key: number;
  property: Property;
  /** JSON. */
  value: string;
  rank: Rank;
  confidence: number;
  method: Method;
  excerpt: string | null;
  locator_start: number | null;
  locator_end: number | null;
  first_seen_at: string;
  last_seen_at: string;
  expires_at: string | null;
  status: ClaimStatus;
}

export interface ChangeRow {
  key: number;
  record_key: number;
  at: string;
  action: ChangeAction;
  by_kind: string;
  account_id: string | null;
  /** JSON: see ChangeDetail. */
  detail: string;
}

export type ChangeAction = 'created' | 'updated' | 'published' | 'merged' | 'split' | 'deleted';

export interface ChangeDetail {
  added?: string[];
  retracted?: string[];
  ranked?: { claim_id: string; before: Rank; after: Rank }[];
  seen_again?: string[];
  into?: string;
  from?: string[];
  reason?: string | null;
}

export interface JudgementRow {
  key: number;
  id: string;
  /** With the verdict `same`, the record that joined the other. */
  left_key: number;
  right_key: number;
  verdict: 'same' | 'different' | 'unsure';
  reason: string | null;
  score: number | null;
  by_kind: string;
  account_id: string | null;
  at: string;
  deleted_at: string | null;
}
