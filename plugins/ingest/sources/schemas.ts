import { Joi } from 'civic';
import { ADAPTERS } from '../adapters/adapters.ts';
import { CLASSES } from './class.ts';
import { NOTICES } from './notices.ts';
import type { SourceInput } from './sources.ts';
import { HEALTHS, STATES, VIAS } from './store.ts';

const time = Joi.string().isoDate();
const count = Joi.number().integer().min(0);
const shortText = (most: number) => Joi.string().trim().min(1).max(most);

export const platforms = ADAPTERS.map(({ name }) => name);
const address = Joi.string().uri({ scheme: ['http', 'https'] }).max(2000);
export const tagPattern = /^[a-z0-9][a-z0-9_-]{0,49}$/;
const tag = Joi.string().pattern(tagPattern, 'lower-case letters, digits, - and _');
/** The shortest time between two reads: of sources that people add in a workspace, and of the operator's. */
export const SHORTEST_CADENCE = 300;
export const SHORTEST_OF_OPERATOR = 60;
export const cadence = Joi.number().integer().min(SHORTEST_CADENCE).max(2_678_400).allow(null).description('How many seconds are between two reads; null is what the instance sets, for a tag or for all');

const settings = {
  name: shortText(200).description('What the source is called; the title of the page when absent'),
  place: Joi.string().max(200).allow(null).description('A place key or slug: its page then shows the signals, and its time zone is that of times without one'),
  issues: Joi.array().items(Joi.string().max(100)).max(20).unique().description('Slugs of issue areas'),
  tags: Joi.array().items(tag).max(20).unique(),
  cadence_seconds: cadence,
  source_class: Joi.string().valid(...CLASSES).allow(null).description('The class of its signals; null is by platform and address'),
};

const newSettings = {
  url: address.required().description('A public page, calendar or feed'),
  ...settings,
  platform: Joi.string().valid(...platforms).description('Recognised when absent'),
};

/** A source of a list, which is neither tested nor made public by itself. */
export const listedSource = Joi.object<SourceInput>({ ...newSettings, url: newSettings.url.messages({ 'string.uriCustomScheme': '{{#label}} must be a whole address, beginning with https:// or http://' }) });

/** A source in a list of the operator, whose command sets shorter times. */
export const cadenceOfOperator = cadence.min(SHORTEST_OF_OPERATOR);
export const listedOfOperator = listedSource.keys({ cadence_seconds: cadenceOfOperator });

export const newSource = Joi.object({
  ...newSettings,
  test: Joi.boolean().default(true).description('Whether to read the address first; false stores it at once, and its first read recognises it'),
  visibility: Joi.string().valid('workspace', 'public').default('workspace').description('`public` is for sources of the operator, whose signals everybody sees; it requires the role of a reviewer'),
}).meta({ name: 'NewWatchedSource' });

export const sourceChange = Joi.object({ ...settings, url: address, test: Joi.boolean().description('Whether to read another address first, as without it; false stores it at once, and its next read recognises it'), state: Joi.string().valid(...STATES), ignored: Joi.array().items(Joi.string().max(1000)).max(200).description('Passages of the page whose changes are not reported; numbers, months and days in them stand for any') }).min(1).meta({ name: 'WatchedSourceChange' });

const via = Joi.string().valid(...VIAS).allow(null).required().description('How it was read: `browser` when the page has no text without its scripts; null before the first read');

const row = Joi.object({
  kind: Joi.string().valid('meeting', 'filing', 'post', 'page').required(),
  key: Joi.string().required(),
  title: Joi.string().allow(null, '').required(),
  date: Joi.string().allow(null).required().description('When it begins, was filed or was published'),
  location: Joi.string().allow(null).required(),
  status: Joi.string().allow(null).required(),
  url: Joi.string().allow(null).required(),
}).meta({ name: 'WatchedSourceRow' });

export const source = Joi.object({
  id: Joi.string().uuid().required(),
  url: Joi.string().required(),
  name: Joi.string().required(),
  platform: Joi.string().allow(null).required().description('Null until the first read has recognised it'),
  place: Joi.string().allow(null).required(),
  issues: Joi.array().items(Joi.string()).required(),
  tags: Joi.array().items(Joi.string()).required(),
  cadence_seconds: count.allow(null).required(),
  source_class: Joi.string().valid(...CLASSES).allow(null).required(),
  visibility: Joi.string().valid('workspace', 'public').required(),
  state: Joi.string().valid(...STATES).required(),
  health: Joi.object({
    status: Joi.string().valid(...HEALTHS).required(),
    reason: Joi.string().allow(null).required(),
    detail: Joi.string().allow(null).required().description('What is wrong, and what to do'),
    failing_since: time.allow(null).required(),
    failures: count.required().description('Failed reads in a row'),
    via,
  }).required().meta({ name: 'WatchedSourceHealth' }),
  notices: Joi.array().items(Joi.string().valid(...NOTICES)).required().description('`changes_often`: at least eight of the last ten reads found changes; `no_audience`: without a place and an issue, no page and no watch of one shows its signals; `rows_left_out`: it lists more than is read, such as a series of each day, of which the next 100 are'),
  row_count: count.required(),
  ignored: Joi.array().items(Joi.string()).required(),
  last_read_at: time.allow(null).required(),
  last_success_at: time.allow(null).required(),
  last_change_at: time.allow(null).required(),
  next_read_at: time.allow(null).required(),
  created_at: time.required(),
  updated_at: time.required(),
}).meta({ name: 'WatchedSource' });

const list = (items: Joi.ObjectSchema) => Joi.object({ data: Joi.array().items(items).required(), total: count.required(), next_cursor: Joi.string().allow(null).required() });

export const sourceList = list(source);
export const sourceTest = Joi.object({ platform: Joi.string().allow(null).required(), url: Joi.string().required(), rows: Joi.array().items(row).required(), total: count.required(), reason: Joi.string().allow(null).required(), detail: Joi.string().allow(null).required() }).meta({ name: 'WatchedSourceTest' });
export const createdSource = source.keys({ sample: Joi.array().items(row).required().description('The first ten rows that were read') }).meta({ name: 'CreatedWatchedSource' });

export const readList = list(Joi.object({
  at: time.required(),
  outcome: Joi.string().valid('read', 'unchanged', 'put_off', 'refused', 'failed').required(),
  detail: Joi.string().allow(null).required(),
  rows: count.required(),
  added: count.required(),
  changed: count.required(),
  gone: count.required(),
  signals: count.required(),
  milliseconds: count.required(),
  content_hash: Joi.string().allow(null).required(),
  via,
}).meta({ name: 'WatchedSourceRead' }));
