import { Joi } from 'civic';
import { listOf, nullable, recordFields, time, writtenText } from '../schemas.ts';
import { DELIVERIES, TARGET_TYPES } from './types.ts';

const ACTOR_TYPES = ['person', 'organization', 'initiative', 'campaign', 'event'];
const SOURCE_CLASSES = ['government_agenda', 'government_record', 'organization_update', 'news', 'grant_notice', 'discovery_run', 'directory', 'review'];

const several = (item: Joi.Schema, most: number) => Joi.array().items(item).unique().max(most).default([]);
const word = writtenText(200).min(1);
const delivery = Joi.string().valid(...DELIVERIES).description('`digest` is a mail a day, `immediate` a mail within minutes, `muted` keeps the watch and delivers nothing');

/** The conditions of a watch on signals. `types` are those that a query may name. */
const newQuery = (types: string[]) => Joi.object({
  places: several(word, 50).description('Place keys or slugs'),
  issues: several(word, 50).description('Slugs of issue areas or domains'),
  signal_types: several(Joi.string().valid(...types), 50).description('Without any, all except those about the upkeep of the directory'),
  actor_types: several(Joi.string().valid(...ACTOR_TYPES), 10).description('Types of the actors that a signal is about'),
  source_classes: several(Joi.string().valid(...SOURCE_CLASSES), 20).description('Kinds of sources'),
}).meta({ name: 'NewWatchQuery' });

const newTarget = (types: string[], more: object = {}) => Joi.object({
  ...more,
  type: Joi.string().valid(...TARGET_TYPES).required(),
  id: word.description('The id of an entity or coverage target, the key or slug of a place, or the slug of an issue area'),
  query: newQuery(types).description('The conditions, instead of `id`, when the type is `query`'),
}).xor('id', 'query').meta({ name: 'name' in more ? 'NewWatchTarget' : 'WatchedTarget' });

export const watchFields = (types: string[]) => ({
  target: newTarget(types).required().description('What is watched'),
  delivery: delivery.default('digest'),
});
/** Members of an exported watch that an import assigns anew. */
const ignored = Object.fromEntries(['id', 'created_at', 'updated_at', 'created_by'].map((name) => [name, Joi.any().strip()]));
export const newWatch = (types: string[]) => Joi.object({ ...watchFields(types), ...ignored, target: newTarget(types, { name: Joi.any().strip() }).required().description('What is watched') }).meta({ name: 'NewWatch' });
export const watchChange = Joi.object({ delivery: delivery.required() }).meta({ name: 'WatchChange' });

const strings = Joi.array().items(Joi.string()).required();
const shownTarget = Joi.object({
  type: Joi.string().valid(...TARGET_TYPES).required(),
  id: Joi.string(),
  query: Joi.object({ places: strings, issues: strings, signal_types: strings, actor_types: strings, source_classes: strings }).meta({ name: 'WatchQuery' }),
  name: nullable.description('The name of the target now; null when it is no longer there'),
}).meta({ name: 'WatchTarget' });

export const watchShown = Joi.object({ ...recordFields, target: shownTarget.required(), delivery: delivery.required() }).meta({ name: 'Watch' });
export const watchList = listOf(watchShown, 'WatchList');
export const deliveryFilter = Joi.array().items(Joi.string().valid(...DELIVERIES)).single();

/** `signal` is the schema of a signal in responses. */
export const digestList = (signal: Joi.Schema) => listOf(Joi.object({
  matched_at: time,
  is_update: Joi.boolean().required().description('Whether it is a new version of an earlier signal'),
  watches: Joi.array().items(Joi.object({ id: Joi.string().required(), target: shownTarget.required() }).meta({ name: 'WatchReference' })).required().description('The watches that it matched'),
  signal: signal.required(),
}).meta({ name: 'DigestItem' }), 'Digest');
