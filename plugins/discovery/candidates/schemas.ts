import { Joi } from 'civic';
import { DECISIONS } from './store.ts';

const time = Joi.string().isoDate();
export const ACTOR_TYPES = ['person', 'organization', 'initiative', 'campaign', 'event'] as const;
const locator = Joi.object({ start: Joi.number().integer().min(0).required(), end: Joi.number().integer().min(0).required() }).allow(null);

const claim = Joi.object({
  property: Joi.string().required(),
  value: Joi.any().required(),
  source_local_id: Joi.string().required(),
  excerpt: Joi.string().allow(null).required(),
  locator: locator.required().description('The range of the excerpt in the text of the archived page'),
  confidence: Joi.number().min(0).max(1).required(),
  method: Joi.string().required(),
}).meta({ name: 'CandidateClaim' });

const source = Joi.object({
  local_id: Joi.string().required(),
  url: Joi.string().required(),
  title: Joi.string().allow(null).required(),
  publication: Joi.string().allow(null).required(),
  published_at: time.allow(null).required(),
  retrieved_at: time.allow(null).required(),
  content_hash: Joi.string().allow(null).required(),
}).meta({ name: 'CandidateSource' });

export const candidate = Joi.object({
  id: Joi.string().uuid().required(),
  type: Joi.string().valid(...ACTOR_TYPES).required(),
  name: Joi.string().required(),
  score: Joi.number().min(0).max(1).required().description('How certain the run is that this is an actor'),
  claims: Joi.array().items(claim).required(),
  sources: Joi.array().items(source).required(),
  match: Joi.object({ entity_id: Joi.string().uuid().required(), name: Joi.string().required(), score: Joi.number().required(), reasons: Joi.array().items(Joi.string()).required() }).allow(null).required()
    .description('The known actor that the candidate most likely is; null when there is none, or before the comparison'),
  decision: Joi.string().valid(...DECISIONS).required(),
  decided_at: time.allow(null).required(),
  entity_id: Joi.string().uuid().allow(null).required().description('The actor that was created, or that the candidate was merged into'),
  note: Joi.string().allow(null).required(),
}).meta({ name: 'Candidate' });

export const candidateList = Joi.object({ data: Joi.array().items(candidate).required(), total: Joi.number().integer().required(), next_cursor: Joi.string().allow(null).required() });

export const decidedCandidate = candidate.keys({ warnings: Joi.array().items(Joi.string()).required().description('Earlier judgements that contradict a merge') }).meta({ name: 'DecidedCandidate' });

export const newDecision = Joi.object({
  decision: Joi.string().valid('accept', 'reject', 'merge').required(),
  // oxlint-disable-next-line unicorn/no-thenable -- the word is Joi's
  into: Joi.string().max(100).when('decision', { is: 'merge', then: Joi.required(), otherwise: Joi.forbidden() }).description('The id of the actor, for a merge'),
  note: Joi.string().trim().min(1).max(2000).allow(null),
}).meta({ name: 'CandidateDecision' });

export const candidateChange = Joi.object({
  type: Joi.string().valid(...ACTOR_TYPES),
  name: Joi.string().trim().min(1).max(300),
  claims: Joi.array().items(Joi.object({
    property: Joi.string().max(50).required(), value: Joi.any().required(), source_local_id: Joi.string().max(100).required(), excerpt: Joi.string().max(5000).allow(null), locator, confidence: Joi.number().min(0).max(1), method: Joi.string().max(50),
  })).min(1).max(100).description('All claims that the candidate then has. Those that were found keep their method; others are `manual`'),
}).min(1).meta({ name: 'CandidateChange' });
