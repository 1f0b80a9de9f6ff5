import type { ObjectSchema } from 'joi';

/** The types of signals that every instance knows. Plugins declare others with `signalTypes`. */
export const SIGNAL_TYPES = [
  'public_meeting', 'meeting_cancelled', 'short_notice', 'public_comment', 'vote', 'filing', 'grant_award', 'coalition_activity', 'new_source', 'source_change',
  'role_change', 'freshness_change', 'actor_discovered', 'actor_merged', 'flag_resolved', 'coverage_gap',
] as const;
export const SOURCE_CLASSES = ['government_agenda', 'government_record', 'organization_update', 'news', 'grant_notice', 'discovery_run', 'directory', 'review'] as const;
export const ACTOR_TYPES = ['person', 'organization', 'initiative', 'campaign', 'event'] as const;
export const VISIBILITIES = ['workspace', 'partner', 'public', 'reviewer'] as const;
export const REVIEW_STATES = ['not_required', 'pending', 'approved', 'held', 'rejected'] as const;
export const SORTS = ['detected_at_desc', 'occurred_at_desc', 'relevance_desc'] as const;
export const MODES = ['sse', 'websocket'] as const;
/** The groups of types on the page. */
export const FAMILIES = ['decisions', 'records', 'people', 'sources', 'review', 'other'] as const;

export type BuiltInType = (typeof SIGNAL_TYPES)[number];
/** A built-in type, or one that a plugin declares; editors complete the built-in ones. */
export type SignalType = BuiltInType | (string & {});
export type SourceClass = (typeof SOURCE_CLASSES)[number];
export type ActorType = (typeof ACTOR_TYPES)[number];
export type Visibility = (typeof VISIBILITIES)[number];
export type ReviewState = (typeof REVIEW_STATES)[number];
export type Sort = (typeof SORTS)[number];
export type Mode = (typeof MODES)[number];
export type Family = (typeof FAMILIES)[number];

/** What a plugin declares of a type of signal. */
export interface SignalKind {
  /** What people call it, in the language of its signals: "Heron count". */
  label: string;
  /** Its group on the page, which decides its colour; `other` when left out. The page hides `sources` and `review` until a visitor asks for them. */
  family?: Family;
  /** SVG path data of its icon, drawn with a line on 20 by 20; a circle when left out. */
  icon?: string;
  /** The schema of `facts`, which every signal of the type then has. The page shows each fact with its Joi `label`, or `description`, and its `unit`. */
  facts?: ObjectSchema;
}

/** A public source that a signal rests on. */
export interface Evidence {
  source_id: string | null;
  source_url: string;
  title: string | null;
  publisher: string | null;
  published_at: string | null;
  captured_at: string | null;
  passage: string | null;
  locator: { start: number; end: number } | null;
  content_hash: string | null;
}

export interface SignalActor {
  /** In the directory; null when it is not there. */
  id: string | null;
  name: string;
  type: ActorType;
  role: string | null;
}

export interface SignalChange {
  field: string;
  before: unknown;
  after: unknown;
}

/** Where a relayed signal was first told. */
export interface Origin {
  url: string;
  event_id: string;
}

/** A source-backed civic signal, as it is answered. */
export interface Signal {
  id: string;
  type: SignalType;
  title: string;
  summary: string | null;
  occurred_at: string | null;
  detected_at: string;
  /** Place keys. */
  places: string[];
  /** Slugs of issue areas. */
  issues: string[];
  actors: SignalActor[];
  source_class: SourceClass;
  confidence: number;
  relevance: number;
  review_state: ReviewState;
  visibility: Visibility;
  evidence: Evidence[];
  changes: SignalChange[];
  /** Present when the plugin that declares the type gave a schema of them, else absent. */
  facts?: Record<string, unknown>;
  /** The signal this one replaces. */
  supersedes: string | null;
  origin: Origin | null;
}

/** A signal as a plugin hands it in. What is left out gets the value named here. */
export interface SignalDraft extends Pick<Signal, 'type' | 'title' | 'source_class'> {
  /** New. With the id of a signal that is known it is a new version of that one. */
  id?: string;
  /** Null. */
  summary?: string | null;
  /** Null. */
  occurred_at?: string | null;
  /** Now. */
  detected_at?: string;
  /** Place keys or slugs; none. */
  places?: string[];
  /** None. */
  issues?: string[];
  /** None. */
  actors?: (Pick<SignalActor, 'name' | 'type'> & Partial<SignalActor>)[];
  /** 1. */
  confidence?: number;
  /** The confidence. */
  relevance?: number;
  /** `not_required`. */
  review_state?: ReviewState;
  /** `public`; with `workspace` it needs a workspace_id. */
  visibility?: Visibility;
  workspace_id?: string | null;
  /** At least one: every statement has a public source. */
  evidence: (Pick<Evidence, 'source_url'> & Partial<Evidence>)[];
  changes?: SignalChange[];
  /** Required when the type has a schema of facts, else not allowed. */
  facts?: Record<string, unknown>;
  supersedes?: string | null;
  origin?: Origin | null;
}

/** A query as it is asked, stored and told back: the members of a session's body. */
export interface Query {
  places: string[];
  issues: string[];
  actor_types: ActorType[];
  signal_types: SignalType[];
  source_classes: SourceClass[];
  visibility: Visibility;
  since: string | null;
  until: string | null;
  cursor: string | null;
  limit: number;
  sort: Sort;
}

/** What other plugins may do with the Firehose. */
export interface FirehoseService {
  /** Announces built-in types that the plugin publishes: the contracts list only announced types. Called in `register`. */
  produces(types: readonly BuiltInType[]): void;
  /** Declares and announces types of the plugin, by name. Called in `register` with the name of the plugin. */
  signalTypes(plugin: string, kinds: Record<string, SignalKind>): void;
  /** Appends signals to the log in the transaction of the change. Returns their ids. */
  publish(tx: import('civic').Tx, drafts: SignalDraft[]): Promise<string[]>;
  /** Withdraws signals: clients that could see one receive a withdrawal, and no query finds it. Ignores unknown ids. */
  withdraw(tx: import('civic').Tx, ids: string[]): Promise<void>;
  /** Returns the first signals of a query that the caller may see; null is an anonymous caller, who may see `visibility: 'public'`. */
  signals(query: SignalQuery, caller: import('civic').Caller | null): Promise<{ signals: Signal[]; total: number }>;
  /** Returns the latest public signals about actors of the directory, given all ids that each has had. Signals of other instances are left out. */
  signalsAbout(actorIds: string[], limit: number): Promise<Signal[]>;
  /** Returns whether a signal is about the upkeep of the directory, not about what happens in public. */
  isUpkeep(signal: Pick<Signal, 'type' | 'source_class'>): boolean;
  /** Calls back on every node after public signals were added, changed or withdrawn. */
  onPublicSignals(listener: () => void): void;
  /** The types that a query may name. */
  queryableTypes(): SignalType[];
  /** Returns the schema of signals in responses. Call it once all plugins have registered. */
  signalSchema(): ObjectSchema;
  /** Lets a plugin process each entry of the log once. */
  follow: LogFollowing;
  /** Returns the current versions of signals by id: public ones, and those of a workspace. */
  signalsById(reader: import('civic').Reader, ids: string[], workspaceId: string): Promise<Map<string, CurrentSignal>>;
  /** Returns public signals by id as a feed, the latest first; those that are not public are left out. The paths are those of the feed and of the same feed as JSON. */
  feedOf(reader: import('civic').Reader, ids: string[], format: 'atom' | 'json', feed: { title: string; self: string; json: string }): Promise<string>;
}

/** The current version of a signal, and its entry in the log. */
export interface CurrentSignal {
  seq: number;
  signal: Signal;
}

/** Reads of the log for a plugin that stores its position in the transaction of what it derives from the entries. */
export interface LogFollowing {
  /** The newest entry that this node has read. */
  position(): number;
  /** Returns entries after a position that this node has read, oldest first. */
  entries(after: number, limit: number): Promise<FollowedEntry[]>;
  /** Calls back on every node when there are new entries. */
  onEntries(listener: () => void): void;
}

/** A new version of a signal, or its withdrawal. */
export interface FollowedEntry {
  seq: number;
  /** Null when an unknown id was withdrawn. */
  signal_id: string | null;
  /** Whether there is an earlier version, which readers may have seen. */
  isUpdate: boolean;
  /** Null when it was withdrawn, or when only reviewers or partners may see it. */
  signal: Signal | null;
  /** The workspace whose members may see it; null when it is public. */
  workspace_id: string | null;
}

/** The query of `signals`. Absent members have the defaults of `GET /api/firehose`. */
export type SignalQuery = Partial<Pick<Query, 'places' | 'issues' | 'signal_types' | 'actor_types' | 'source_classes' | 'visibility' | 'since' | 'until' | 'limit' | 'sort'>> & {
  /** Whether signals about the upkeep of the directory are among them; true when absent. */
  hasUpkeep?: boolean;
};

declare module 'civic' {
  interface Services { firehose: FirehoseService }
}
