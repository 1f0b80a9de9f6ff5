import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { cursorAfter, Joi, pageOf, type Page } from 'civic';
import { addressOf, parametersOf } from '../query/address.ts';
import { completeQuery } from '../query/schemas.ts';
import type { Firehose } from '../service.ts';
import { readSnapshot, SNAPSHOT_POSITION, type Snapshot } from '../snapshot/snapshot.ts';
import type { SignalKinds } from '../signals/kinds.ts';
import { FAMILIES, type Query, type Signal, type SignalType } from '../types.ts';
import { resolvePlaceFilter, type PlaceFilter } from './places.ts';
import { shownDays, type Names } from './shown.ts';
import { nameWords, placeWords, slugOf } from './words.ts';

export const PAGE_PATH = '/signals';
const ON_A_PAGE = 30;
const MOST_VALUES = 20;

/** As the form sends it: what is not filled in comes as an empty text. */
interface Asked {
  place: string[];
  issue: string[];
  type: SignalType[];
}

const words = Joi.array().items(Joi.string().trim().max(200).empty('')).single().sparse().max(MOST_VALUES).default([]);

/** The newest public signals for people to look at. It works without a script; with one it says when there are more. */
export function signalsPage(context: Firehose): ServerRoute {
  return {
    method: 'GET',
    path: PAGE_PATH,
    options: {
      plugins: { civic: { internal: true } },
      validate: {
        query: Joi.object({
          place: words, issue: words,
          type: Joi.array().items(Joi.string().valid(...context.kinds.queryable()).empty('')).single().sparse().max(MOST_VALUES).default([]),
          cursor: Joi.string().max(20_000),
        }).options({ stripUnknown: true }),
      },
    },
    handler: (request, h) => answer(context, request, h),
  };
}

async function answer(context: Firehose, request: Request, h: ResponseToolkit): Promise<ResponseObject> {
  const page = { ...pageOf<Asked>(request, SNAPSHOT_POSITION), limit: ON_A_PAGE };
  const given = filled(page.query);
  const typed: PlaceFilter[] = [];
  for (const text of given.place) typed.push(await resolvePlaceFilter(context.civic, text));
  const query = completeQuery({ places: typed.map(({ key }) => key), issues: given.issue.map(slugOf), signal_types: given.type, visibility: 'public', limit: ON_A_PAGE });
  const subscription = await context.subscribe(context.civic.db.read, query, null);
  const snapshot = await readSnapshot(context, subscription, page);
  const signals = snapshot.rows.map(({ signal }) => JSON.parse(signal) as Signal);
  const names = await namesFor(context, [...signals.flatMap(({ places }) => places), ...subscription.query.places]);
  const { places, issues, types } = subscription.filter;
  return h.view('firehose/signals', {
    title: 'Signals',
    days: shownDays(signals, names, context.civic.clock.now()),
    ...filters(context.kinds, subscription.query, signals, names),
    unknownPlaces: typed.filter(({ key, near }) => near !== null && !signals.some((signal) => signal.places.includes(key))),
    ...around(request, page, snapshot, subscription.query),
    live: page.after === null && JSON.stringify({ places: [...places], issues: [...issues], types: [...types] }),
    isOpen: context.civic.config.anonymous,
    hasAccounts: context.civic.serviceIfOn('accounts') !== null,
  });
}

function filled({ place, issue, type }: Asked): Asked {
  const given = <Word extends string>(values: (Word | undefined)[]): Word[] => values.filter((value) => value !== undefined);
  // The form shows several values in one field.
  const split = (values: string[]): string[] => given(values).flatMap((value) => value.split(';')).map((value) => value.trim()).filter(Boolean).slice(0, MOST_VALUES);
  return { place: split(place), issue: split(issue), type: given(type) };
}

/** Returns what the form shows: the values of the filters, and those it offers. */
function filters(kinds: SignalKinds, query: Query, signals: Signal[], names: Names) {
  const [type] = query.signal_types;
  const offered = kinds.queryable().map((value) => {
    const { label, family = 'other' } = kinds.of(value)!;
    return { value, label, family, isChosen: value === type };
  });
  const families = Object.entries(FAMILIES)
    .map(([name, label]) => ({ label, types: offered.filter(({ family }) => family === name) }))
    .filter(({ types }) => types.length > 0);
  const known = (values: string[], name: (value: string) => string): string[] => [...new Set(values.map(name))].sort();
  return {
    place: query.places.map(names.place).join('; '),
    issue: query.issues.map(names.issue).join('; '),
    families,
    knownPlaces: known(signals.flatMap(({ places }) => places), names.place),
    knownIssues: known(signals.flatMap(({ issues }) => issues), names.issue),
    isFiltered: query.places.length + query.issues.length + query.signal_types.length > 0,
  };
}

function around(request: Request, page: Page<any>, { tally, next }: Snapshot, query: Query) {
  const parameters = new URLSearchParams();
  for (const [name, values] of [['place', query.places], ['issue', query.issues], ['type', query.signal_types]] as const) for (const value of values) parameters.append(name, value);
  return {
    total: tally.total.toLocaleString('en'),
    isOne: tally.total === 1,
    isEmpty: tally.total === 0,
    older: next && `${PAGE_PATH}?cursor=${cursorAfter(request, page, next)}`,
    newest: page.after === null ? null : addressOf(PAGE_PATH, parameters),
    api: addressOf('/api/firehose', parametersOf(query)),
  };
}

async function namesFor({ civic, kinds }: Firehose, keys: string[]): Promise<Names> {
  const directory = civic.serviceIfOn('directory');
  const places = await directory?.places(civic.db.read, [...new Set(keys)]);
  return {
    kind: kinds.of,
    place: (key) => places?.get(key)?.display_name ?? placeWords(key),
    issue: (slug) => directory?.issueName(slug) ?? nameWords(slug),
    // What another instance told is about its own directory.
    actor: (id, { origin }) => (origin ? `${origin.url}/api/entities/${id}` : directory && directory.links.actor(id)),
  };
}
