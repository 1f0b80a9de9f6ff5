import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { cursorAfter, pageOf, type Page, type Position, type Texts } from 'civic';
import { feedAddress, FEEDS, type FeedFormat } from '../feeds/address.ts';
import { addressOf, parametersOf } from '../query/address.ts';
import type { Firehose } from '../service.ts';
import { currentTally, readSnapshot, SNAPSHOT_POSITION } from '../snapshot/snapshot.ts';
import { FAMILIES, type Signal } from '../types.ts';
import { namesFor, type Names } from './names.ts';
import { askedOf, dayOrTime, linkParameters, ON_A_PAGE, PAGE_PATH, pageParameters, type Asked, type PageParameters } from './query.ts';
import { SEARCHED, searchSignals } from './search.ts';
import { shownDays } from './shown.ts';

const DAY_MS = 86_400_000;

/** The newest public signals. The page works without a script; with one it reports new signals. */
export function signalsPage(context: Firehose): ServerRoute {
  return {
    method: 'GET',
    path: PAGE_PATH,
    options: {
      plugins: { civic: { internal: true } },
      validate: { query: pageParameters(context.kinds.queryable()) },
    },
    handler: (request, h) => respond(context, request, h),
  };
}

/** A page of signals; `total` is null for a text search, which does not read them all. */
interface Read {
  signals: Signal[];
  total: number | null;
  next: Position | null;
}

async function respond(context: Firehose, request: Request, h: ResponseToolkit): Promise<ResponseObject> {
  const { civic } = context;
  const t = await civic.texts(request.civic.language);
  const page = { ...pageOf<PageParameters>(request, SNAPSHOT_POSITION), limit: ON_A_PAGE };
  const asked = await askedOf(context, page.query);
  const { subscription: { query }, isFiltered } = asked;
  const read = await readPage(context, asked, page);
  const names = await namesFor(context, [...read.signals.flatMap(({ places }) => places), ...query.places], t, request);
  return h.view('firehose/signals', {
    title: t('signals.title'),
    description: t('signals.lead'),
    feeds: feedsOf(asked, t),
    ...(isFiltered || page.after !== null ? { isUnlisted: true } : { canonical: PAGE_PATH }),
    days: shownDays(read.signals, names, t, civic.clock.now()),
    ...filters(context, asked, read.signals, names, t),
    unknownPlaces: asked.places.filter(({ key, near }) => near !== null && !read.signals.some((signal) => signal.places.includes(key))),
    ...await around(context, request, page, asked, read),
    live: liveFilter(asked, page),
    isOpen: civic.config.anonymous,
    hasAccounts: civic.serviceIfOn('accounts') !== null,
  });
}

async function readPage(context: Firehose, { subscription, words }: Asked, page: Page<any>): Promise<Read> {
  const { rows, next, tally } = words.length > 0 ? { ...await searchSignals(context, subscription, page, words), tally: null } : await readSnapshot(context, subscription, page);
  return { signals: rows.map(({ signal }) => JSON.parse(signal) as Signal), total: tally?.total ?? null, next };
}

/** Returns what the form shows: the values of the filters, and those it offers. */
function filters({ kinds }: Firehose, { q, isFiltered, hasUpkeep, subscription: { query } }: Asked, signals: Signal[], names: Names, t: Texts) {
  const [chosen] = query.signal_types;
  const offered = kinds.queryable().map((value) => ({ value, label: names.type(value), family: kinds.of(value)!.family ?? 'other', isChosen: value === chosen }));
  const families = FAMILIES.map((name) => ({ label: t(`families.${name}`), types: offered.filter(({ family }) => family === name) })).filter(({ types }) => types.length > 0);
  const known = (values: string[], name: (value: string) => string): string[] => [...new Set(values.map(name))].sort();
  return {
    q, isFiltered, families,
    place: query.places.map(names.place).join('; '),
    issue: query.issues.map(names.issue).join('; '),
    isNarrowed: query.places.length + query.issues.length + query.signal_types.length > 0,
    isWithUpkeep: hasUpkeep && chosen === undefined,
    since: query.since && dayOrTime(query.since),
    until: query.until && dayOrTime(query.until),
    span: spanOf(query, t),
    knownPlaces: known(signals.flatMap(({ places }) => places), names.place),
    knownIssues: known(signals.flatMap(({ issues }) => issues), names.issue),
  };
}

/** The days that the page is limited to. `until` is the first day after them. */
function spanOf({ since, until }: { since: string | null; until: string | null }, t: Texts): string | null {
  const last = until && t.formatDate(dayOrTime(until) === until ? until : Date.parse(until) - DAY_MS);
  if (since !== null && last !== null) return t('signals.between', { since: t.formatDate(since), until: last });
  if (since !== null) return t('signals.since', { since: t.formatDate(since) });
  return last && t('signals.until', { until: last });
}

async function around(context: Firehose, request: Request, page: Page<any>, asked: Asked, { signals, total, next }: Read) {
  const { upkeep, hasUpkeep, q, words } = asked;
  const hidden = upkeep && words.length === 0 ? (await currentTally(context, upkeep)).total : 0;
  return {
    total, searched: SEARCHED,
    isSearch: total === null,
    isEmpty: signals.length === 0,
    older: next && `${PAGE_PATH}?cursor=${cursorAfter(request, page, next)}`,
    newest: page.after === null ? null : addressOf(PAGE_PATH, linkParameters(asked, hasUpkeep)),
    hidden,
    withUpkeep: upkeep && (hidden > 0 || q !== '') ? addressOf(PAGE_PATH, linkParameters(asked, true)) : null,
    withoutUpkeep: upkeep === null && asked.subscription.query.signal_types.length === 0 ? addressOf(PAGE_PATH, linkParameters(asked, false)) : null,
    withoutSpan: addressOf(PAGE_PATH, spanless(linkParameters(asked, hasUpkeep))),
    api: addressOf('/api/firehose', parametersOf(asked.subscription.query)),
  };
}

function feedsOf({ q, hasUpkeep, isFiltered, subscription: { query } }: Asked, t: Texts) {
  const title = t(isFiltered ? 'signals.feed_filtered' : 'signals.feed_all');
  return Object.entries(FEEDS).map(([format, { type, label }]) => ({ type, title, label, path: feedAddress(format as FeedFormat, query, { text: q, hasUpkeep }) }));
}

function spanless(parameters: URLSearchParams): URLSearchParams {
  parameters.delete('since');
  parameters.delete('until');
  return parameters;
}

/** Which new signals the open page reports; none on later pages, and when the page shows certain words or days. */
function liveFilter({ words, subscription: { query, filter } }: Asked, { after }: Page<any>): string | null {
  if (after !== null || words.length > 0 || query.since !== null || query.until !== null) return null;
  const { places, issues, types, except } = filter;
  return JSON.stringify({ places: [...places], issues: [...issues], types: [...types], except: { types: [...except?.types ?? []], classes: [...except?.classes ?? []] } });
}
