import { Joi } from 'civic';
import type { ActorType, ClaimDraft, Method, SourceDraft } from 'civic/directory';
import type { RecordLinks } from 'civic/workspaces';

/** Further entries of a run are sent in further parts. */
export const MOST_ENTRIES = 500;
export const MOST_SOURCES = 2000;
const MOST_PARTS = 20;
const MOST_CLAIMS = 100;
const TYPES: ActorType[] = ['person', 'organization', 'initiative', 'campaign', 'event'];
/** Those of claims that a local tool finds, or that a person corrected there. */
const METHODS: Method[] = ['structured', 'rules', 'model', 'manual'];

export interface SyncHeader {
  tool: { name: string; version: string };
  local_run_id: string;
  location: string;
  issue_areas: string[];
  started_at: string | null;
  completed_at: string | null;
  visibility: 'workspace' | 'public';
  part: number;
  parts: number;
  links: RecordLinks;
}

export interface SyncSource extends Omit<SourceDraft, 'id' | 'content_hash'> {
  text_hash?: string | null;
}

export interface SyncEntry {
  local_id: string;
  decision: 'accepted';
  type: ActorType;
  name: string;
  claims: ClaimDraft[];
}

const text = (most: number) => Joi.string().trim().min(1).max(most);
const localId = text(100);
const time = Joi.string().isoDate().custom((value: string, { error }) => (Number.isNaN(Date.parse(value)) ? error('string.isoDate') : value), 'a date that exists');
const optionalId = Joi.string().max(100).allow(null);

export const syncSource = Joi.object<SyncSource>({
  local_id: localId.required().description('Claims name the source by it'),
  url: text(2000).uri({ scheme: ['http', 'https'] }).required(),
  title: text(500).allow(null),
  publication: text(300).allow(null),
  kind: Joi.string().max(50),
  published_at: time.allow(null),
  retrieved_at: time.allow(null),
  text_hash: text(200).allow(null).description('The hash of the text that the tool archived'),
  excerpt: text(5000).allow(null),
}).meta({ name: 'SyncSource' });

const claim = Joi.object({
  property: Joi.string().max(50).required(),
  value: Joi.any().required().description('A text; an object for social, identifier and affiliation'),
  source_local_id: localId.required(),
  excerpt: text(5000).allow(null),
  locator: Joi.object({ start: Joi.number().integer().min(0).required(), end: Joi.number().integer().min(0).required() }).allow(null).description('The range of the excerpt in the text that the tool archived'),
  confidence: Joi.number().min(0).max(1),
  method: Joi.string().valid(...METHODS).default('rules').description('How the tool found the claim'),
}).meta({ name: 'SyncClaim' });

export const syncEntry = Joi.object<SyncEntry>({
  local_id: localId.required().description('The same in every sync of the run: later bundles update the entry'),
  decision: Joi.string().valid('accepted').default('accepted'),
  type: Joi.string().valid(...TYPES).required(),
  name: text(300).required().description('One of the claims with the property `name`. Without such a claim, the source of the first claim states it'),
  claims: Joi.array().items(claim).min(1).max(MOST_CLAIMS).required(),
}).meta({ name: 'SyncEntry' });

const header = {
  tool: Joi.object({ name: text(100).required(), version: text(50).required() }).required(),
  local_run_id: text(200).required().description('The id of the run in the local tool'),
  location: Joi.string().trim().max(200).allow('').required(),
  issue_areas: Joi.array().items(Joi.string().max(100)).max(50).unique().required().description('Slugs of issue areas'),
  started_at: time.allow(null).default(null),
  completed_at: time.allow(null).default(null),
  visibility: Joi.string().valid('workspace', 'public').default('workspace').description('Nothing is published by a sync. `public` marks the entries to be published later, by reviewers; asked by others it is stored as `workspace`'),
  part: Joi.number().integer().min(1).max(Joi.ref('parts')).default(1),
  parts: Joi.number().integer().min(1).max(MOST_PARTS).default(1).description(`For runs of more than ${MOST_ENTRIES} entries. Parts may arrive in any order`),
  links: Joi.object({ brief_id: optionalId, list_id: optionalId, coverage_target_id: optionalId }).default({}).description('Records of the workspace that get the entries'),
};

/** The body without the items of its lists, which are checked as they arrive. */
export const syncHeader = Joi.object({ ...header, sources: Joi.array().required(), entries: Joi.array().required() });

/** The names of all members of the body. */
export const MEMBERS: ReadonlySet<string> = new Set([...Object.keys(header), 'sources', 'entries']);

/** For OpenAPI. */
export const newSync = Joi.object({
  ...header, part: Joi.number().integer().min(1).max(MOST_PARTS).default(1), sources: Joi.array().items(syncSource).max(MOST_SOURCES).required(), entries: Joi.array().items(syncEntry).max(MOST_ENTRIES).required(),
}).meta({ name: 'NewSync' });

export const ACTIONS = ['created', 'updated', 'matched', 'held'] as const;

export interface EntryLink {
  local_id: string;
  entity_id: string | null;
  action: (typeof ACTIONS)[number];
  visibility: 'workspace' | 'public';
}

export interface Receipt {
  run_id: string;
  duplicate: boolean;
  visibility: 'workspace' | 'public';
  review_state: 'unreviewed' | 'in_review' | 'reviewed';
  entry_links: EntryLink[];
  source_links: { local_id: string; source_id: string }[];
  workspace_links: { briefs: string[]; lists: string[]; coverage_targets: string[] };
  entries_persisted: number;
  sources_persisted: number;
}

const ids = Joi.array().items(Joi.string()).required();
const count = Joi.number().integer().min(0).required();
const visibility = Joi.string().valid('workspace', 'public').required();

export const receipt = Joi.object<Receipt, true>({
  run_id: Joi.string().uuid().required(),
  duplicate: Joi.boolean().required().description('Whether the same part was stored before: then this is the receipt of that time'),
  visibility: visibility.description('What was stored of the visibility that was asked for. No entry is public before it is published'),
  review_state: Joi.string().valid('unreviewed', 'in_review', 'reviewed').required(),
  entry_links: Joi.array().items(Joi.object({
    local_id: Joi.string().required(),
    entity_id: Joi.string().uuid().allow(null).required().description('Null for an entry that waits as a candidate of the run'),
    action: Joi.string().valid(...ACTIONS).required().description('`matched`: the actor existed before the run. `held`: a reviewer decides, either whether the entry becomes public, or about a change of an actor that was changed here since'),
    visibility,
  }).meta({ name: 'EntryLink' })).required(),
  source_links: Joi.array().items(Joi.object({ local_id: Joi.string().required(), source_id: Joi.string().uuid().required() })).required(),
  workspace_links: Joi.object({ briefs: ids, lists: ids, coverage_targets: ids }).required().meta({ name: 'SyncLinks' }),
  entries_persisted: count.description('How many entries of this part are actors, or candidates that wait'),
  sources_persisted: count,
}).meta({ name: 'SyncReceipt' });
