import { Joi } from 'civic';
import { ACTOR_TYPES, CLAIM_STATUSES, FRESHNESS, METHODS, PROPERTIES, RANKS, SOURCE_KINDS, type Actor, type ActorPlace, type Claim, type FlagCounts, type Freshness, type Source } from '../types.ts';

const text = Joi.string().required();
const uuid = Joi.string().guid().required();
const textOrNull = Joi.string().allow(null).required();
const time = Joi.string().isoDate().required();
const timeOrNull = Joi.string().isoDate().allow(null).required();
const timeOrDay = Joi.string().pattern(/^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d\.\d{3}Z)?$/).allow(null).required().description('A time, or a date such as 2026-12-24 for a whole day');
const count = Joi.number().integer().min(0).required();

const freshness = Joi.object<Freshness, true>({
  status: Joi.string().valid(...FRESHNESS).required(),
  last_seen_at: timeOrNull,
  last_verified_at: timeOrNull.description('When a person last reviewed it'),
  latest_source_at: timeOrNull,
}).meta({ name: 'Freshness' });

const flags = Joi.object<FlagCounts, true>({ open: count, total: count, latest_at: timeOrNull }).meta({ name: 'FlagCounts' });

const place = Joi.object<ActorPlace, true>({
  place_key: text,
  slug: textOrNull,
  name: text,
  state: textOrNull.description('Abbreviation'),
  country: text,
}).meta({ name: 'ActorPlace' });

export const claimSchema = Joi.object<Claim, true>({
  id: uuid,
  property: Joi.string().valid(...PROPERTIES).required(),
  value: Joi.alternatives(Joi.string(), Joi.object().unknown()).required().description('Its form follows from the property'),
  rank: Joi.string().valid(...RANKS).required(),
  confidence: Joi.number().min(0).max(1).required(),
  method: Joi.string().valid(...METHODS).required(),
  source_id: uuid,
  excerpt: textOrNull,
  locator: Joi.object({ start: count, end: count }).allow(null).required(),
  first_seen_at: time,
  last_seen_at: time,
  expires_at: timeOrNull,
  status: Joi.string().valid(...CLAIM_STATUSES).required(),
}).meta({ name: 'Claim' });

export const sourceSchema = Joi.object<Source, true>({
  id: uuid,
  url: text,
  title: textOrNull,
  publication: textOrNull,
  kind: Joi.string().valid(...SOURCE_KINDS).required(),
  published_at: timeOrNull,
  retrieved_at: time,
  excerpt: textOrNull,
  content_hash: textOrNull,
  archived: Joi.boolean().required(),
  entity_ids: Joi.array().items(Joi.string().guid()).required().description('Actors that cite it, at most 100'),
  freshness: freshness.required(),
  flags: flags.required(),
  url_status: Joi.string().valid('ok', 'broken', 'redirected', 'unknown').required(),
  last_checked_at: timeOrNull,
}).meta({ name: 'Source' });

const fields: Joi.StrictSchemaMap<Actor> = {
  id: uuid,
  type: Joi.string().valid(...ACTOR_TYPES).required(),
  name: text,
  slug: text,
  description: textOrNull,
  places: Joi.array().items(place).required(),
  issue_areas: Joi.array().items(Joi.string()).required(),
  contact: Joi.object({
    website: textOrNull, email: textOrNull, phone: textOrNull, social: Joi.array().items(Joi.object({ network: text, url: text })).required(),
  }).required(),
  identifiers: Joi.array().items(Joi.object({ scheme: text, value: text })).required(),
  affiliations: Joi.array().items(Joi.object({ entity_id: textOrNull, name: text, role: textOrNull, since: textOrNull, until: textOrNull })).required(),
  event: Joi.object({ start: timeOrDay, end: timeOrDay, location: textOrNull }).allow(null).required().description('When and where, for events'),
  status: Joi.string().valid('active', 'inactive').required(),
  visibility: Joi.string().valid('public', 'workspace').required(),
  source_count: count,
  claim_count: count,
  freshness: freshness.required(),
  flags: flags.required(),
  created_at: time,
  updated_at: time,
  url: text,
};

/** In lists; claims and sources when `include` asks for them. */
export const actorSchema = Joi.object({ ...fields, claims: Joi.array().items(claimSchema), sources: Joi.array().items(sourceSchema) }).meta({ name: 'Actor' });

export const actorDetailSchema = Joi.object({
  ...fields, claims: Joi.array().items(claimSchema).required(), sources: Joi.array().items(sourceSchema).required(),
}).meta({ name: 'ActorDetail' });

/** A list as the wire has it, with further members. */
export function listOf(item: Joi.Schema, extra: Record<string, Joi.Schema> = {}): Joi.ObjectSchema {
  return Joi.object({ data: Joi.array().items(item).required(), total: count, next_cursor: textOrNull, ...extra });
}

const facet = Joi.array().items(Joi.object({ value: text, count }));
export const facetsSchema = Joi.object({ entity_type: facet.required(), issue_area: facet.required(), state: facet.required() }).meta({ name: 'Facets' });
export const correctedSchema = Joi.array().items(Joi.object({ from: text, to: text })).meta({ name: 'Corrections' });

export const historyItem = Joi.object({
  at: time,
  action: Joi.string().valid('created', 'updated', 'published', 'merged', 'split', 'deleted').required(),
  by: text.description('The kind of editor, never the account'),
  claims: Joi.array().items(Joi.object({
    change: Joi.string().valid('added', 'seen_again', 'retracted', 'ranked').required(),
    claim_id: text,
    property: Joi.string().valid(...PROPERTIES).required(),
    value: Joi.alternatives(Joi.string(), Joi.object().unknown()).required(),
    rank: Joi.object({ before: text, after: text }),
    source_id: text,
    source_url: text,
  })).required(),
  merged_into: Joi.string(),
  with: Joi.array().items(Joi.string()).description('Ids of the actors it was merged with or split from'),
  reason: textOrNull,
}).meta({ name: 'Change' });

export const relatedItem = Joi.object({
  entity: actorSchema.required(),
  score: Joi.number().min(0).max(1).required(),
  evidence: Joi.array().items(Joi.object({
    kind: Joi.string().valid('affiliation', 'source', 'issue_area', 'place').required(),
    detail: text,
    source_id: Joi.string(),
    issue_area: Joi.string(),
    place_key: Joi.string(),
  })).min(1).required(),
}).meta({ name: 'RelatedActor' });

export const duplicateItem = Joi.object({
  entity: actorSchema.required(),
  zone: Joi.string().valid('match', 'review').required().description('match: certain enough to merge; review: needs a decision by a person'),
  score: Joi.number().min(0).max(1).required().description('The chance that the two are one, from the weights'),
  rule: textOrNull.description('The rule that overruled the weights'),
  explanation: Joi.array().items(Joi.object({
    field: text,
    level: Joi.string().valid('exact', 'close', 'partial', 'disagree', 'missing').required(),
    left: textOrNull,
    right: textOrNull,
    weight: Joi.number().required().description('In bits: above 0 it speaks for one actor'),
  })).required(),
}).meta({ name: 'PossibleDuplicate' });

export const suggestionsSchema = Joi.array().items(Joi.object({
  parameter: Joi.string().valid('issue_area', 'place').required(),
  value: text.description('The value that is not known'),
  did_you_mean: Joi.array().items(Joi.string()).required().description('Issue areas or place keys that are known, likeliest first'),
})).meta({ name: 'Suggestions' }).description('For filters with a value that does not exist, which matches nothing');

/** What lists of actors can be asked. */
export const paging = {
  limit: Joi.number().integer().min(1).max(100).default(25).description('How many items a page has'),
  cursor: Joi.string().description('From `next_cursor`; enough by itself'),
};
/** The same for tools: an assistant reads every item, and more than these seldom fit into one result. */
export const toolPaging = { ...paging, limit: paging.limit.default(10) };
export const includeParameter = Joi.string().valid('claims', 'sources', 'claims,sources', 'sources,claims')
  .description('Adds the claims or sources of each actor, or both, separated by a comma');
