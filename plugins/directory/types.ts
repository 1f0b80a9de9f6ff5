/** What kinds of actor there are. */
export const ACTOR_TYPES = ['person', 'organization', 'initiative', 'campaign', 'event'] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];

/** What a claim can be about, with the form of its value. */
export interface ClaimValues {
  name: string;
  description: string;
  type: ActorType;
  /** A place key of the gazetteer. */
  place: string;
  /** A slug of the taxonomy. */
  issue_area: string;
  website: string;
  email: string;
  /** In international form where it could be parsed, else as it was written. */
  phone: string;
  social: { network: string; url: string };
  identifier: { scheme: string; value: string };
  affiliation: { entity_id: string | null; name: string; role: string | null; since: string | null; until: string | null };
  status: 'active' | 'inactive';
  event_start: string;
  event_end: string;
  event_location: string;
}
export type Property = keyof ClaimValues;
export type ClaimValue = ClaimValues[Property];

export const PROPERTIES = [
  'name', 'description', 'type', 'place', 'issue_area', 'website', 'email', 'phone', 'social', 'identifier', 'affiliation', 'status',
  'event_start', 'event_end', 'event_location',
] as const satisfies readonly Property[];

export const RANKS = ['preferred', 'normal', 'deprecated'] as const;
export const METHODS = ['manual', 'import', 'structured', 'rules', 'model'] as const;
export const CLAIM_STATUSES = ['active', 'retracted', 'disputed', 'hidden'] as const;
export const SOURCE_KINDS = [
  'news_article', 'op_ed', 'podcast', 'academic_paper', 'government_record', 'social_media', 'org_website', 'conference', 'video', 'report', 'dataset', 'other',
] as const;
export const FRESHNESS = ['fresh', 'aging', 'stale', 'unknown'] as const;

export type Rank = (typeof RANKS)[number];
export type Method = (typeof METHODS)[number];
export type ClaimStatus = (typeof CLAIM_STATUSES)[number];
export type SourceKind = (typeof SOURCE_KINDS)[number];
export type FreshnessStatus = (typeof FRESHNESS)[number];
export type Visibility = 'public' | 'workspace';

/** A source as somebody hands it in; claims of the same draft name it by `local_id`. */
export interface SourceDraft {
  local_id: string;
  /** Kept when it is new; the normalised URL decides whether it is. */
  id?: string;
  url: string;
  title?: string | null;
  publication?: string | null;
  kind?: SourceKind;
  published_at?: string | null;
  retrieved_at?: string | null;
  excerpt?: string | null;
  content_hash?: string | null;
}

export interface ClaimDraft {
  id?: string;
  property: Property;
  value: ClaimValue;
  source_local_id: string;
  excerpt?: string | null;
  locator?: { start: number; end: number } | null;
  confidence?: number;
  method?: Method;
  rank?: Rank;
  status?: ClaimStatus;
  first_seen_at?: string;
  last_seen_at?: string;
  expires_at?: string | null;
}

/** An actor as somebody hands it in: by HTTP, an import, the demo, a discovery run. */
export interface ActorDraft {
  /** Kept when it is free: exports and Open States bring their own. */
  id?: string;
  type: ActorType;
  visibility?: Visibility;
  sources: SourceDraft[];
  claims: ClaimDraft[];
  /** Kept for a new record when given: an export brings its own. */
  created_at?: string;
  updated_at?: string;
  /** The same thing in its own system (`irs:12-3456789`): a second import finds it again by this. */
  origin?: string;
}

/** A claim as it is answered. */
export interface Claim {
  id: string;
  property: Property;
  value: ClaimValue;
  rank: Rank;
  confidence: number;
  method: Method;
  source_id: string;
  excerpt: string | null;
  locator: { start: number; end: number } | null;
  first_seen_at: string;
  last_seen_at: string;
  expires_at: string | null;
  status: ClaimStatus;
}

/** How current an actor or a source is, and how often problems were reported; each instance derives these itself, so exports leave them out. */
export interface Assessed {
  freshness: Freshness;
  flags: FlagCounts;
}

export interface Source extends Assessed {
  id: string;
  url: string;
  title: string | null;
  publication: string | null;
  kind: SourceKind;
  published_at: string | null;
  retrieved_at: string;
  excerpt: string | null;
  content_hash: string | null;
  archived: boolean;
  entity_ids: string[];
  url_status: 'ok' | 'broken' | 'redirected' | 'unknown';
  last_checked_at: string | null;
}

export interface FlagCounts {
  open: number;
  total: number;
  latest_at: string | null;
}

export interface ActorPlace {
  place_key: string;
  slug: string | null;
  name: string;
  /** The abbreviation of its state. */
  state: string | null;
  country: string;
}

export interface Freshness {
  status: FreshnessStatus;
  last_seen_at: string | null;
  last_verified_at: string | null;
  latest_source_at: string | null;
}

/** An actor as it is answered in lists. */
export interface Actor extends Assessed {
  id: string;
  type: ActorType;
  name: string;
  slug: string;
  description: string | null;
  places: ActorPlace[];
  issue_areas: string[];
  contact: { website: string | null; email: string | null; phone: string | null; social: ClaimValues['social'][] };
  identifiers: ClaimValues['identifier'][];
  affiliations: ClaimValues['affiliation'][];
  /** When and where an event takes place; null for other actors. */
  event: { start: string | null; end: string | null; location: string | null } | null;
  status: 'active' | 'inactive';
  visibility: Visibility;
  source_count: number;
  claim_count: number;
  created_at: string;
  updated_at: string;
  url: string;
}

/** One actor with everything it stands on. */
export interface ActorDetail extends Actor {
  claims: Claim[];
  sources: Source[];
}

export const EDITOR_KINDS = ['person', 'import', 'discovery', 'demo', 'reviewer'] as const;

/** Who makes a change. The kind is public, the account is not. */
export interface Editor {
  kind: (typeof EDITOR_KINDS)[number];
  account_id: string | null;
  workspace_id: string | null;
}

/** What became of a draft. */
export interface Applied {
  id: string;
  action: 'created' | 'updated' | 'unchanged';
  /** The actor it turned out to be. */
  joined_into?: string;
}
