import { Joi } from 'civic';
import { ACTOR_TYPES, SORTS, SOURCE_CLASSES, VISIBILITIES, type Query, type SignalType } from '../types.ts';

export const MOST_PLACES = 200;
export const MOST_ISSUES = 60;
export const MOST_SIGNALS = 200;
export const USUAL_SIGNALS = 50;
/** A longer one does not fit beside the headers: Node takes 16 kB of both. */
export const LONGEST_CURSOR = 12_000;

const TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** An RFC 3339 time, or a date that stands for its first moment in UTC. */
export const moment = Joi.string().custom((value: string, { error }) => {
  const milliseconds = TIME.test(value) ? Date.parse(value) : Number.NaN;
  const day = Number.isNaN(milliseconds) ? null : /^(\d{4})-(\d{2})-(\d{2})/.exec(value);
  const isReal = day !== null && Number(day[3]) <= new Date(Date.UTC(Number(day[1]), Number(day[2]), 0)).getUTCDate();
  const inUtc = isReal ? new Date(milliseconds).toISOString() : '';
  // Its offset may lead out of the years that have four digits.
  return TIME.test(inUtc) ? inUtc : error('moment');
}).messages({ moment: '{{#label}} must be a time such as 2026-01-31T18:00:00Z or a date such as 2026-01-31' })
  .meta({ name: 'Moment', json: { anyOf: [{ format: 'date-time' }, { format: 'date' }], examples: ['2026-01-31T18:00:00Z', '2026-01-31'] } });

const several = (item: Joi.Schema, most: number) => Joi.array().items(item).single().max(most);
const word = Joi.string().trim().min(1).max(200);
const limit = Joi.number().integer().min(1).max(MOST_SIGNALS).default(USUAL_SIGNALS);
const sort = Joi.string().valid(...SORTS).default('detected_at_desc');
const visibility = Joi.string().valid(...VISIBILITIES).default('workspace').description('Whose signals: public ones, and with `workspace` those of the caller’s workspace, with `partner` those for partners, with `reviewer` those held for review.');

const COMPARED = 'Compares `detected_at`, or `occurred_at` with `sort=occurred_at_desc`, which leaves out signals without one; streams always compare `detected_at`.';
const since = moment.description(`From this time on. ${COMPARED}`);
const until = moment.description(`Before this time. ${COMPARED}`);

/** The parameters of GET, each filter repeatable. `types` are those that a query may name. */
export const filterParameters = (types: SignalType[]) => ({
  place: several(word, MOST_PLACES).default([]).description('Place slug or key; repeatable.'),
  issue: several(word, MOST_ISSUES).default([]).description('Slug of an issue area or of a domain; repeatable.'),
  actor_type: several(Joi.string().valid(...ACTOR_TYPES), 10).default([]).description('Repeatable.'),
  signal_type: several(Joi.string().valid(...types), 50).default([]).description('As `type` of a signal; repeatable.'),
  source_class: several(Joi.string().valid(...SOURCE_CLASSES), 50).default([]).description('Repeatable.'),
  visibility,
  since,
  until,
});

export const pageParameters = {
  cursor: Joi.string().max(LONGEST_CURSOR).description('Where the last page ended; not on streams.'),
  limit: limit.description('How many signals a page has; streams ignore it.'),
  sort: sort.description('Streams ignore it: they follow the log.'),
};

export const lastEventId = Joi.string().max(100).description('Continue after this event; the header Last-Event-ID wins.');

const queryMembers = (signalType: Joi.Schema) => Joi.object<Query, true>({
  places: Joi.array().items(word).max(MOST_PLACES),
  issues: Joi.array().items(word).max(MOST_ISSUES),
  actor_types: Joi.array().items(Joi.string().valid(...ACTOR_TYPES)),
  signal_types: Joi.array().items(signalType),
  source_classes: Joi.array().items(Joi.string().valid(...SOURCE_CLASSES)),
  visibility: Joi.string().valid(...VISIBILITIES),
  since: since.allow(null),
  until: until.allow(null),
  cursor: Joi.string().max(LONGEST_CURSOR).allow(null),
  limit: Joi.number().integer().min(1).max(MOST_SIGNALS),
  sort: Joi.string().valid(...SORTS),
});

/** The query in responses. A stored one may name a type of a plugin that is off now. */
export const querySchema = queryMembers(Joi.string()).meta({ name: 'FirehoseQuery' });

/** The query of a new session. */
export const newQuerySchema = (types: SignalType[]) => queryMembers(Joi.string().valid(...types)).meta({ name: 'NewFirehoseQuery' });

/** As GET gives it once it is checked. */
export interface QueryParameters {
  place: string[];
  issue: string[];
  actor_type: Query['actor_types'];
  signal_type: Query['signal_types'];
  source_class: Query['source_classes'];
  visibility: Query['visibility'];
  since?: string;
  until?: string;
  cursor?: string;
  limit: number;
  sort: Query['sort'];
}

export function queryOf(given: QueryParameters): Query {
  return {
    places: given.place, issues: given.issue, actor_types: given.actor_type, signal_types: given.signal_type, source_classes: given.source_class,
    visibility: given.visibility, since: given.since ?? null, until: given.until ?? null, cursor: given.cursor ?? null, limit: given.limit, sort: given.sort,
  };
}

const NOTHING: Query = {
  places: [], issues: [], actor_types: [], signal_types: [], source_classes: [], visibility: 'workspace',
  since: null, until: null, cursor: null, limit: USUAL_SIGNALS, sort: 'detected_at_desc',
};

/** A session may leave out what GET has defaults for. */
export function completeQuery(given: Partial<Query>): Query {
  return { ...NOTHING, ...given };
}
