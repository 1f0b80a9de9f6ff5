import { Joi } from 'civic';
import { moment } from '../query/schemas.ts';
import {
  ACTOR_TYPES, REVIEW_STATES, SOURCE_CLASSES, VISIBILITIES,
  type Evidence, type Origin, type Signal, type SignalActor, type SignalDraft,
} from '../types.ts';
import { factsName, TYPE_NAME, type SignalKinds } from './kinds.ts';

const time = Joi.string().isoDate();
const fraction = Joi.number().min(0).max(1);

/** A longer one does not fit into results of tools. */
const LONGEST_URL = 8000;

const webAddress = Joi.string().uri({ scheme: ['http', 'https'] });
const locator = Joi.object({ start: Joi.number().integer().min(0).required(), end: Joi.number().integer().min(0).required() });

const evidence = Joi.object<Evidence, true>({
  source_id: Joi.string().allow(null).required().description('The source in the directory, when it is there.'),
  source_url: webAddress.required(),
  title: Joi.string().allow(null).required(),
  publisher: Joi.string().allow(null).required(),
  published_at: time.allow(null).required(),
  captured_at: time.allow(null).required(),
  passage: Joi.string().allow(null).required(),
  locator: locator.allow(null).required(),
  content_hash: Joi.string().allow(null).required(),
}).meta({ name: 'SignalEvidence' });

const actor = Joi.object<SignalActor, true>({
  id: Joi.string().uuid().allow(null).required(),
  name: Joi.string().required(),
  type: Joi.string().valid(...ACTOR_TYPES).required(),
  role: Joi.string().allow(null).required(),
}).meta({ name: 'SignalActor' });

const change = Joi.object({ field: Joi.string().required(), before: Joi.any().required(), after: Joi.any().required() }).meta({ name: 'SignalChange' });

const origin = Joi.object<Origin, true>({ url: webAddress.max(2000).required(), event_id: Joi.string().max(100).required() }).description('The instance that a relayed signal was received from, and the event there.').meta({ name: 'SignalOrigin' });

/** The members of signals in responses without their facts. */
function membersOf(kinds: SignalKinds): Joi.ObjectSchema {
  return Joi.object<Omit<Signal, 'facts'>, true>({
    id: Joi.string().uuid().required(),
    type: typeSchema(kinds).required(),
    title: Joi.string().required(),
    summary: Joi.string().allow(null).required(),
    occurred_at: time.allow(null).required(),
    detected_at: time.required(),
    places: Joi.array().items(Joi.string()).required().description('Place keys.'),
    issues: Joi.array().items(Joi.string()).required().description('Slugs of issue areas.'),
    actors: Joi.array().items(actor).required(),
    source_class: Joi.string().valid(...SOURCE_CLASSES).required(),
    confidence: fraction.required(),
    relevance: Joi.number().min(0).required(),
    review_state: Joi.string().valid(...REVIEW_STATES).required(),
    visibility: Joi.string().valid(...VISIBILITIES).required(),
    evidence: Joi.array().items(evidence).required(),
    changes: Joi.array().items(change).required(),
    supersedes: Joi.string().uuid().allow(null).required().description('The signal this one replaces.'),
    origin: origin.allow(null).required(),
  });
}

/** The schema of signals in responses, of the announced types. */
export function signalSchema(kinds: SignalKinds): Joi.ObjectSchema {
  const facts = Joi.alternatives(...kinds.factsSchemas().values(), Joi.object()).description('Which facts, depends on `type`. Absent for types without a schema of facts.');
  return membersOf(kinds).keys({ facts }).meta({ name: 'FirehoseSignal', json: { allOf: factsRules(kinds) } });
}

/** A page of signals in responses. */
export function signalList(kinds: SignalKinds): Joi.ObjectSchema {
  return listOf(signalSchema(kinds));
}

/** A page of signals in the result of a tool, which may truncate their facts: their schemas may not allow that. */
export function toolSignalList(kinds: SignalKinds): Joi.ObjectSchema {
  return listOf(membersOf(kinds).keys({ facts: Joi.object().description('Which facts, depends on `type`') }).meta({ name: 'TruncatedSignal' }));
}

function listOf(signal: Joi.ObjectSchema): Joi.ObjectSchema {
  return Joi.object({ data: Joi.array().items(signal).required(), total: Joi.number().integer().min(0).required(), next_cursor: Joi.string().allow(null).required() });
}

/** The log may hold signals of plugins that are off, so the contract lists the announced types and allows other names. */
function typeSchema(kinds: SignalKinds): Joi.StringSchema {
  const announced = kinds.announced();
  const other = { type: 'string', description: 'A stored signal can have the type of a plugin that is off.' };
  return Joi.string().pattern(TYPE_NAME).meta({ name: 'SignalType', json: { anyOf: [...(announced.length > 0 ? [{ enum: announced }] : []), other] } });
}

/** Ties facts to types for validators. Generators of clients, which ignore conditions, read the alternatives of `facts`. */
function factsRules(kinds: SignalKinds): object[] {
  const types = [...kinds.factsSchemas().keys()];
  return [
    unless({ not: { enum: kinds.queryable().filter((type) => !types.includes(type)) } }, { properties: { facts: false } }),
    ...types.map((type) => unless({ not: { const: type } }, { required: ['facts'], properties: { facts: { $ref: `#/components/schemas/${factsName(type)}` } } })),
  ];
}

/** `else` without `then`: an object with a member `then` could be taken for a promise. */
function unless(type: object, rule: object): object {
  return { if: { properties: { type } }, else: rule };
}

const text = (most: number) => Joi.string().trim().min(1).max(most);

/** By these signals are found in tables, and Postgres takes no U+0000 and no half of a surrogate pair. */
const findable = text(200).pattern(/^[^\0\p{Surrogate}]*$/u);

const draftEvidence = evidence
  .fork(['source_id', 'title', 'publisher', 'published_at', 'captured_at', 'passage', 'locator', 'content_hash'], (member) => member.optional())
  .keys({ source_url: webAddress.max(LONGEST_URL).required(), published_at: moment.allow(null), captured_at: moment.allow(null) });

/** What plugins hand in. Times come out in one form, so that they read, sort and fall into days alike. */
export const draftSchema = Joi.object<SignalDraft, true>({
  id: Joi.string().uuid().lowercase(),
  type: Joi.string().max(100).required(),
  title: text(500).required(),
  summary: text(5000).allow(null),
  occurred_at: moment.allow(null),
  detected_at: moment,
  places: Joi.array().items(findable).max(100),
  issues: Joi.array().items(findable).max(100),
  actors: Joi.array().items(actor.fork(['id', 'role'], (member) => member.optional())).max(200),
  source_class: Joi.string().valid(...SOURCE_CLASSES).required(),
  confidence: fraction,
  relevance: Joi.number().min(0),
  review_state: Joi.string().valid(...REVIEW_STATES),
  visibility: Joi.string().valid(...VISIBILITIES),
  workspace_id: Joi.string().uuid().lowercase().allow(null),
  evidence: Joi.array().items(draftEvidence).min(1).max(50).required(),
  changes: Joi.array().items(change).max(100),
  facts: Joi.object(),
  supersedes: Joi.string().uuid().lowercase().allow(null),
  origin: origin.allow(null),
});

/** What is told after another instance: public, and nobody's. */
export const relayedSchema = draftSchema.fork(['id', 'origin'], (member) => member.required()).keys({
  visibility: Joi.valid('public').required(),
  review_state: Joi.valid('not_required', 'approved'),
  workspace_id: Joi.any().strip(),
});
