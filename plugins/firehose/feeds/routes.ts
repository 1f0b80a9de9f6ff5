import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { atomFeed, Joi, jsonFeedHead, jsonFeedHeadSchema, jsonFeedItem, jsonFeedItemSchema, matchesNone, tagUri, textAnswer, textEtag, tokens, weakEtag, type Feed } from 'civic';
import { createHash } from 'node:crypto';
import { namesFor } from '../page/names.ts';
import { linkParameters, MOST_WORDS, PAGE_PATH } from '../page/query.ts';
import { searchSignals } from '../page/search.ts';
import { addressOf } from '../query/address.ts';
import { completeQuery, filterParameters, moment } from '../query/schemas.ts';
import { withoutUpkeep } from '../query/upkeep.ts';
import type { Firehose } from '../service.ts';
import { signalSchema } from '../signals/schemas.ts';
import { currentTally, readSnapshot } from '../snapshot/snapshot.ts';
import type { PageRow } from '../snapshot/store.ts';
import type { Query } from '../types.ts';
import { feedAddress, FEEDS, type FeedFormat } from './address.ts';
import { entryOf, tagsOf, type Schemes } from './entry.ts';

const NEWEST = 50;

interface FeedParameters {
  place: string[];
  issue: string[];
  signal_type: Query['signal_types'];
  query?: string;
  since?: string;
  until?: string;
  upkeep?: boolean;
}

/** Feeds of the newest public signals. Unknown parameters are ignored, as feed readers add their own. */
export function signalFeedRoutes(context: Firehose): ServerRoute[] {
  const { place, issue, signal_type } = filterParameters(context.kinds.queryable());
  return (['atom', 'json'] as const).map((format) => ({
    method: 'GET',
    path: FEEDS[format].path,
    options: {
      description: `The newest public signals, as ${FEEDS[format].name}`,
      notes: `The same signals as on /signals: without those about the upkeep of the directory, unless \`upkeep\` or \`signal_type\` asks for them. Unknown query parameters are ignored, as feed readers add their own. The response has an ETag.`,
      validate: {
        query: Joi.object({
          place, issue, signal_type,
          query: Joi.string().trim().max(200).empty('').description('Words that a signal has in its title or summary.'),
          since: moment.description('Signals with `detected_at` from this time on.'),
          until: moment.description('Signals with `detected_at` before this time.'),
          upkeep: Joi.boolean().description('Also signals about the upkeep of the directory, such as counted sources.'),
        }).unknown(),
      },
      plugins: { civic: { conditional: true, produces: [FEEDS[format].type] } },
      response: format === 'json' ? { schema: feedSchema(context), sample: 0 } : { status: { 200: true as never } },
    },
    handler: (request: Request, h: ResponseToolkit) => respond(context, request, h, format),
  }));
}

function feedSchema({ kinds }: Firehose): Joi.Schema {
  const item = Joi.object({ ...jsonFeedItemSchema, _civic: Joi.object({ about: Joi.string().uri().required(), signal: signalSchema(kinds).required() }).required() }).meta({ name: 'SignalFeedItem' });
  return Joi.object({
    ...jsonFeedHeadSchema,
    _civic: Joi.object({ about: Joi.string().uri().required(), id: Joi.string().required().description('A tag URI, which stays the same when the instance moves') }).required(),
    items: Joi.array().items(item).required(),
  }).meta({ name: 'SignalFeed' }).description('JSON Feed 1.1 (https://jsonfeed.org/version/1.1)');
}

async function respond(context: Firehose, request: Request, h: ResponseToolkit, format: FeedFormat): Promise<ResponseObject | symbol> {
  const { civic, kinds } = context;
  const given = request.query as unknown as FeedParameters;
  const { place: places, issue: issues, signal_type: signalTypes, since = null, until = null } = given;
  const all = await context.subscribe(civic.db.read, completeQuery({ places, issues, signal_types: signalTypes, since, until, visibility: 'public', limit: NEWEST }), null);
  const hasUpkeep = given.upkeep === true || signalTypes.length > 0;
  const subscription = hasUpkeep ? all : withoutUpkeep(all, kinds);
  const text = given.query ?? '';
  const addresses: Addresses = {
    self: feedAddress(format, subscription.query, { text, hasUpkeep }), json: feedAddress('json', subscription.query, { text, hasUpkeep }),
    home: addressOf(PAGE_PATH, linkParameters({ q: text, subscription }, hasUpkeep)),
  };
  const headers = { 'content-location': civic.url(addresses.self) };
  const type = `${FEEDS[format].type}; charset=utf-8`;
  const words = tokens(text).slice(0, MOST_WORDS);
  if (words.length > 0) {
    const { rows } = await searchSignals(context, subscription, { after: null, limit: NEWEST }, words);
    const body = await writeFeed(context, rows, format, addresses);
    return textAnswer(request, h, { body, etag: textEtag(body), headers, type });
  }
  const which = createHash('sha256').update(JSON.stringify([subscription.key, civic.instance.version, civic.serviceIfOn('directory')?.links.actor('')])).digest('base64url').slice(0, 16);
  const etagOf = ({ last_seq, total }: { last_seq: number; total: number }) => weakEtag(context.log.epoch(), format, which, last_seq, total);
  // Most readers have this version already: nothing is made for them.
  const known = etagOf(await currentTally(context, subscription));
  if (matchesNone(request.headers['if-none-match'] as string | undefined, known)) return textAnswer(request, h, { body: '', etag: known, headers });
  const { rows, tally } = await readSnapshot(context, subscription, { limit: NEWEST, after: null });
  return textAnswer(request, h, { body: await writeFeed(context, rows, format, addresses), etag: etagOf(tally), headers, type });
}

/** Paths of a feed, of the same as JSON, and of the page that shows the same. */
export interface Addresses {
  self: string;
  json: string;
  home: string;
}

/** Returns signals as a feed. `title` states whose they are when they are not all of a query. */
export async function writeFeed(context: Firehose, rows: Omit<PageRow, 'value'>[], format: FeedFormat, { self, json, home }: Addresses, title = `Civic signals: ${context.civic.instance.name}`): Promise<string> {
  const { civic } = context;
  const schemes: Schemes = { issues: civic.url('/api/issue-areas'), places: civic.url('/api/places') };
  const names = await namesFor(context, rows.flatMap(({ signal }) => (JSON.parse(signal) as { places: string[] }).places), await civic.texts('en'));
  const entries = rows.map((row) => entryOf(row, names, schemes));
  const feed: Feed = {
    title, description: `${title}. Every signal names where it was read.`, id: tagUri(civic.url(self)), self: civic.url(self), home: civic.url(home),
    author: { name: civic.instance.name, url: civic.url('/') }, entries: entries.map(({ entry }) => entry),
    alternate: { type: FEEDS.json.type, url: civic.url(json) },
  };
  if (format === 'atom') return atomFeed(feed);
  const about = civic.url('/docs');
  return JSON.stringify({ ...jsonFeedHead(feed), _civic: { about, id: feed.id }, items: entries.map(({ entry, signal }) => ({ ...jsonFeedItem(entry, tagsOf(signal, names)), _civic: { about, signal } })) });
}
