import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { Joi, matchesNone, problem, tagUri, textAnswer, weakEtag, type Reader } from 'civic';
import { createHash } from 'node:crypto';
import { tellingOf, type DirectoryContext } from '../actors/context.ts';
import { actorTexts } from '../actors/detail.ts';
import { actorsByKey, placeListing } from '../actors/read-store.ts';
import { recentKeys, type EntityQuery } from '../actors/reads.ts';
import { searchFilters } from '../actors/routes.ts';
import { placeOfPath } from '../places/routes.ts';
import { listActors } from '../search/list.ts';
import { likelySlugs } from '../taxonomy/service.ts';
import type { ActorDetail } from '../types.ts';
import type { PageLinks } from '../links.ts';
import { atomOf } from './atom.ts';
import { calendarOf } from './calendar.ts';
import type { ActorFeed } from './entry.ts';
import { jsonFeed, jsonFeedSchema } from './json.ts';
import { MEETINGS, type ListedMeeting, type MeetingsQuery } from './meetings.ts';
import { eventsFrom, MOST_EVENTS, type Scope } from './store.ts';

const NEWEST = 50;
const PAST_DAYS = 90;

export interface FeedRoutes {
  context: DirectoryContext;
  instance: { name: string; version: string };
  links: PageLinks;
}

/** What a feed is about, as its address says. */
interface Subject {
  /** `/api/places/harlow-ferry,tamarack` */
  path: string;
  /** The filters of a search, such as `?state=mo`; empty for other subjects. */
  parameters: string;
  /** The URL of the page about it. */
  home(): string;
  name: string;
  scope: Scope | { search: FeedQuery };
  /** Which meetings its calendar has besides events. */
  meetings?: Pick<MeetingsQuery, 'places' | 'issue_area'>;
}

type FeedQuery = Omit<EntityQuery, 'sort' | 'facets'>;

interface Format {
  file: 'feed.atom' | 'feed.json' | 'meetings.ics';
  type: string;
  description: string;
  schema?: Joi.Schema;
  title: (name: string) => string;
  keys(reader: Reader, context: DirectoryContext, subject: Subject): Promise<number[]>;
  /** The meetings that are no actors. */
  meetings?(reader: Reader, context: DirectoryContext, subject: Subject): Promise<ListedMeeting[]>;
  write(feed: ActorFeed, url: (path: string) => string, subject: Subject): string;
}

const FORMATS: Format[] = [
  {
    file: 'feed.atom',
    type: 'application/atom+xml',
    description: 'as an Atom feed',
    title: (name) => `Civic actors: ${name}`,
    keys: newest,
    write: (feed, url, { path, parameters }) => atomOf(feed, { json: url(`${path}/feed.json${parameters}`), issueAreas: url('/api/issue-areas'), places: url('/api/places') }),
  },
  {
    file: 'feed.json',
    type: 'application/feed+json',
    description: 'as a JSON Feed',
    schema: jsonFeedSchema,
    title: (name) => `Civic actors: ${name}`,
    keys: newest,
    write: (feed, url) => JSON.stringify(jsonFeed(feed, url('/docs'))),
  },
  {
    file: 'meetings.ics',
    type: 'text/calendar',
    description: 'as a calendar',
    title: (name) => `Meetings and events: ${name}`,
    keys: upcoming,
    meetings: (reader, context, { meetings }) => context.meetings.read(reader, { ...meetings, since: sinceOf(context), limit: MOST_EVENTS, with_cancelled: true }),
    write: (feed) => calendarOf(feed),
  },
];

/** Feeds and calendars of a place and of an issue area, and feeds of a search. They ignore unknown parameters, because feed readers add their own. */
export function feedRoutes(given: FeedRoutes): ServerRoute[] {
  const { context, links } = given;
  const feeds = FORMATS.filter(({ file }) => file !== 'meetings.ics');
  return [
    ...FORMATS.flatMap((format) => [
      route(format, { under: '/api/places/{place_key}', problems: ['unknown_place'], subjectOf: (request) => subjectOfPlace(context, links, String(request.params.place_key)) }, given),
      route(format, { under: '/api/issue-areas/{slug}', problems: ['unknown_issue_area'], subjectOf: (request) => subjectOfArea(context, links, String(request.params.slug)) }, given),
    ]),
    ...feeds.map((format) => route(format, { under: '/api/entities', filters: searched, problems: [], subjectOf: async (request) => subjectOfSearch(links, request.query as FeedQuery) }, given)),
  ];
}

const { sort: _sort, ...searched } = searchFilters;

interface Subjects {
  under: string;
  filters?: Joi.SchemaMap;
  problems: string[];
  subjectOf(request: Request): Promise<Subject>;
}

function route(format: Format, { under, filters = {}, problems, subjectOf }: Subjects, given: FeedRoutes): ServerRoute {
  const { context } = given;
  const [variable] = /(?<=\{)\w+/.exec(under) ?? [];
  const what = format.file === 'meetings.ics' ? 'Events, from 90 days ago on' : 'Actors that were added or changed lately';
  return {
    method: 'GET',
    path: `${under}/${format.file}`,
    options: {
      description: `${what}, ${format.description}`,
      notes: 'Each entry has its places, claims and sources. Unknown query parameters are ignored, as feed readers add their own. The response has an ETag.',
      validate: { query: Joi.object(filters).unknown(), ...(variable && { params: Joi.object({ [variable]: Joi.string() }) }) },
      plugins: { civic: { conditional: true, problems, produces: [format.type] } },
      ext: { onPostAuth: { method: context.ready.hit } },
      response: format.schema ? { schema: format.schema, sample: 0 } : { status: { 200: true as never } },
    },
    handler: async (request, h) => answer(request, h, format, await subjectOf(request), given),
  };
}

async function answer(request: Request, h: ResponseToolkit, format: Format, subject: Subject, { context, instance, links }: FeedRoutes): Promise<ResponseObject | symbol> {
  const { civic, ready } = context;
  const { path, parameters, home, name, scope } = subject;
  const self = `${path}/${format.file}${parameters}`;
  // One view of the data, so that what the tag says and what is sent cannot differ.
  const make = () => civic.db.snapshot(async (reader) => {
    const rows = await actorsByKey(reader, await format.keys(reader, context, subject));
    const meetings = await format.meetings?.(reader, context, subject) ?? [];
    const versions = createHash('sha256').update(links.actor('')).update(String(context.rowModel)).update(rows.map(({ key, version, model }) => `${key}:${version}:${model}`).join(' '))
      .update(meetings.map(({ id, updated_at }) => `${id}:${updated_at}`).join(' ')).digest('base64url').slice(0, 16);
    const etag = weakEtag(instance.version, format.file, versions);
    const headers = { 'content-location': civic.url(self) };
    // Most readers have this version already: nothing is made for them.
    if (matchesNone(request.headers['if-none-match'] as string | undefined, etag)) return textAnswer(request, h, { body: '', etag, headers });
    const actors = (await actorTexts(reader, rows, { include: ['claims', 'sources'] }, tellingOf(context))).map((text) => JSON.parse(text) as ActorDetail);
    const title = format.title(name);
    const feed: ActorFeed = { title, description: `${title}, from ${instance.name}. Every statement has its source.`, id: tagUri(civic.url(self)), self: civic.url(self), home: home(), author: { name: instance.name, url: civic.url('/') }, actors, meetings, pageOf: links.actor };
    return { body: format.write(feed, civic.url, subject), etag, headers, type: `${format.type}; charset=utf-8`, ...(format.meetings && { tags: [MEETINGS] }) };
  });
  if ('search' in scope) {
    const made = await make();
    return 'body' in made ? textAnswer(request, h, made) : made;
  }
  // Neither parameters that readers add nor another name of the place make another response.
  return ready.answer(request, h, 'place' in scope ? `place:${scope.place}` : 'all', make, self);
}

async function subjectOfPlace({ places, civic }: DirectoryContext, links: PageLinks, text: string): Promise<Subject> {
  const place = await placeOfPath(places, civic.db, text);
  return { path: `/api/places/${place.place_key}`, parameters: '', home: () => links.place(place.place_key), name: places.recordOf(place).display_name, scope: { place: place.key }, meetings: { places: [place.place_key] } };
}

async function subjectOfArea({ taxonomy }: DirectoryContext, links: PageLinks, slug: string): Promise<Subject> {
  const area = taxonomy().issueAreaBySlug(slug);
  if (area) return { path: `/api/issue-areas/${slug}`, parameters: '', home: () => links.issueArea(slug), name: area.name, scope: { issueArea: slug }, meetings: { issue_area: slug } };
  throw problem('unknown_issue_area', { detail: `No issue area has the slug "${slug.slice(0, 100)}".`, extra: { did_you_mean: likelySlugs(taxonomy().resolveIssueAreas(slug)) } });
}

function subjectOfSearch(links: PageLinks, given: FeedQuery): Subject {
  const search = Object.fromEntries(Object.keys(searched).flatMap((name) => (given[name as keyof FeedQuery] ? [[name, given[name as keyof FeedQuery]]] : []))) as FeedQuery;
  const values = Object.entries(search).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, String(one)]));
  const query = new URLSearchParams(values).toString();
  const name = values.map(([filter, value]) => (filter === 'query' ? `“${value}”` : value)).join(', ') || 'all';
  return { path: '/api/entities', parameters: query && `?${query}`, home: () => links.search(query), name, scope: { search } };
}

async function newest(reader: Reader, context: DirectoryContext, { scope }: Subject): Promise<number[]> {
  if ('place' in scope) {
    const rows = await placeListing(reader, { place: scope.place, filters: [], workspaceId: null, sort: 'recent', limit: NEWEST, after: null });
    return rows.slice(0, NEWEST).map(({ actor_key }) => actor_key);
  }
  if ('search' in scope) return recentKeys(context, reader, scope.search, NEWEST);
  const found = await listActors(reader, { query: null, filters: [{ any: [`i:${scope.issueArea}`] }], workspace: null, sort: 'recent', limit: NEWEST, after: null }, context.columns);
  return found.keys;
}

/** Only places and issue areas have a calendar. */
async function upcoming(reader: Reader, context: DirectoryContext, { scope }: Subject): Promise<number[]> {
  return (await eventsFrom(reader, scope as Scope, sinceOf(context))).map(({ key }) => key);
}

/** Returns the first time of calendars, by whole days, so that one response serves a day. */
function sinceOf({ civic }: DirectoryContext): string {
  return `${new Date(civic.clock.now() - PAST_DAYS * 86_400_000).toISOString().slice(0, 10)}T00:00:00.000Z`;
}
