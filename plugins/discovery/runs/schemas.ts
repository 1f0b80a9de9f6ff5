import { Joi } from 'civic';
import { PAGE_STATES } from './pages-store.ts';
import { GAP_TYPES } from '../engine/gaps.ts';
import { DEPTHS, ORIGINS, STATUSES } from './store.ts';

const time = Joi.string().isoDate();
const linked = Joi.string().allow(null);
const count = Joi.number().integer().min(0).required();

export const run = Joi.object({
  id: Joi.string().uuid().required(),
  status: Joi.string().valid(...STATUSES).required(),
  origin: Joi.object({ type: Joi.string().valid(...ORIGINS).required(), id: Joi.string().allow(null).required() }).required().description('`watched_source`: the run of a source, with its id, which grows as the source is read. `sync`: a run of a local tool, with its id there'),
  sync: Joi.object({
    local_run_id: Joi.string().required(),
    tool: Joi.object({ name: Joi.string().required(), version: Joi.string().required() }).required(),
    visibility: Joi.string().valid('workspace', 'public').required().description('`public`: the entries are meant to be published, by reviewers'),
    links: Joi.object({ brief_id: linked, list_id: linked, coverage_target_id: linked }).required(),
  }).allow(null).required().meta({ name: 'SyncRecord' }).description('What the local tool states about its run'),
  location: Joi.string().allow('').required(),
  place: Joi.string().allow(null).required().description('The key of the place'),
  issue_areas: Joi.array().items(Joi.string()).required(),
  depth: Joi.string().valid(...DEPTHS).required(),
  progress: Joi.object({ phase: Joi.string().allow(null).required(), done: count, total: count }).required(),
  counts: Joi.object({ queries: count, sources_found: count, sources_fetched: count, sources_skipped: count, candidates: count, duplicates: count.description('Findings of a candidate that the run has already'), actors_proposed: count.description('Candidates that wait for a decision') }).required(),
  error: Joi.object({ code: Joi.string().required(), detail: Joi.string().required() }).allow(null).required(),
  gaps: Joi.array().items(Joi.object({
    type: Joi.string().valid(...GAP_TYPES).required(),
    subject: Joi.string().allow(null).required().description('The slug of an issue area, a host, or the name of a search engine'),
    count: count.description('How many pages are concerned'),
    detail: Joi.string().required(),
  }).meta({ name: 'DiscoveryGap' })).required().description('What the run could not look at; empty until it is completed'),
  visibility: Joi.string().valid('workspace', 'public').required().description('`public`: a run of the operator. Its candidates are not public'),
  review_state: Joi.string().valid('unreviewed', 'in_review', 'reviewed').required(),
  created_at: time.required(),
  started_at: time.allow(null).required(),
  completed_at: time.allow(null).required(),
  links: Joi.object({ self: Joi.string().required(), candidates: Joi.string().required(), sources: Joi.string().required(), events: Joi.string().required() }).required(),
}).meta({ name: 'DiscoveryRun' });

/** The events of a run: the data of each is the run. */
export const runMessages = {
  progress: run.description('The run has begun, or has got further.'),
  completed: run.description('The search has ended: its candidates wait for review.'),
  failed: run.description('The run was cancelled, or ended because of an error.'),
};

export const runList = Joi.object({ data: Joi.array().items(run).required(), total: count, next_cursor: Joi.string().allow(null).required() });

export const newRun = Joi.object({
  location: Joi.string().trim().min(1).max(200).required().description('A place by name, such as `Kansas City, MO`'),
  issue_areas: Joi.array().items(Joi.string().max(100)).min(1).max(50).unique().required().description('Slugs of issue areas'),
  depth: Joi.string().valid(...DEPTHS).default('standard').description('`deep` reads more pages'),
  seeds: Joi.array().items(Joi.string().uri({ scheme: ['http', 'https'] }).max(2000)).max(50).unique().default([]).description('Pages to begin with'),
}).meta({ name: 'NewDiscoveryRun' });

export const sourceList = Joi.object({
  data: Joi.array().items(Joi.object({
    url: Joi.string().required(),
    state: Joi.string().valid(...PAGE_STATES).required(),
    reason: Joi.string().allow(null).required(),
    detail: Joi.string().allow(null).required(),
    title: Joi.string().allow(null, '').required(),
    content_hash: Joi.string().allow(null).required(),
    retrieved_at: time.allow(null).required(),
    findings: count.description('How many actors were found on the page'),
    issue_areas: Joi.array().items(Joi.string()).required().description('Issue areas of the run whose words the page has'),
  }).meta({ name: 'DiscoverySource' })).required(),
  total: count,
  next_cursor: Joi.string().allow(null).required(),
});
