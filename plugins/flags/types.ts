export const ENTITY_FLAG_TYPES = ['stale', 'incorrect', 'duplicate', 'closed', 'wrong_place', 'wrong_issue_area', 'privacy', 'other'] as const;
export const SOURCE_FLAG_TYPES = ['broken_link', 'outdated', 'misattributed', 'paywalled', 'wrong_excerpt', 'other'] as const;
export const PLACE_FLAG_TYPES = ['incorrect', 'missing', 'stale', 'other'] as const;
export const FLAG_TYPES = [...new Set([...ENTITY_FLAG_TYPES, ...SOURCE_FLAG_TYPES, ...PLACE_FLAG_TYPES])];
export const STATUSES = ['open', 'accepted', 'dismissed', 'resolved'] as const;
export const TARGET_TYPES = ['entity', 'source', 'place'] as const;

export type FlagType = (typeof FLAG_TYPES)[number];
export type Status = (typeof STATUSES)[number];
export type TargetType = (typeof TARGET_TYPES)[number];
export type Decision = Exclude<Status, 'open'>;

/** Returns the type of a stored flag. A type that this version does not know, such as from a backup of a later one, is `other`. */
export function knownType(stored: string): FlagType {
  return FLAG_TYPES.find((type) => type === stored) ?? 'other';
}

/** What a flag is about. */
export interface Target {
  type: TargetType;
  /** Of a place its key. */
  id: string;
}

/** A new flag, as its reporter sees it. */
export interface CreatedFlag {
  id: string;
  target_type: TargetType;
  target_id: string;
  claim_id: string | null;
  flag_type: FlagType;
  reason: string;
  status: Status;
  created_at: string;
  receipt: string;
}

/** What anyone with the receipt can read. */
export interface Receipt {
  id: string;
  flag_type: FlagType;
  status: Status;
  created_at: string;
  decided_at: string | null;
}

export interface Proposal {
  value: string | null;
  source_url: string | null;
}

/** A question of a reviewer, a reply of the reporter, or why the reporter reopened the flag; as reviewers see it. */
export interface Message {
  id: string;
  kind: 'question' | 'reply' | 'reopening';
  text: string;
  suspicion: string | null;
  /** Of the reviewer who asked. */
  account_id: string | null;
  at: string;
}

/** A flag as reviewers see it. */
export interface ReviewedFlag extends Receipt {
  target_type: TargetType;
  target_id: string;
  claim_id: string | null;
  reason: string;
  /** The value that the reporter proposes, and the address of its source; null when not given. */
  proposal: Proposal | null;
  /** The account of the reporter; null when the reporter was not signed in. */
  account_id: string | null;
  /** Why it may be spam; null when nothing indicates it. */
  suspicion: string | null;
  /** Null when the reporter left none, or it was deleted. */
  reporter_email: string | null;
  /** The oldest first. */
  messages: Message[];
  note: string | null;
  decided_by: string | null;
  updated_at: string;
}
