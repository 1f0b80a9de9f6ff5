import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { cursorAfter, Joi, pageOf, type Page } from 'civic';
import { addressOf, parametersOf } from '../query/address.ts';
import { completeQuery } from '../query/schemas.ts';
import type { Firehose } from '../service.ts';
import { readSnapshot, SNAPSHOT_POSITION, type Snapshot } from '../snapshot/snapshot.ts';
import { SIGNAL_TYPES, type Query, type Signal, type SignalType } from '../types.ts';
import { resolvePlaceFilter, type PlaceFilter } from './places.ts';
import { shownDays, type Names } from './shown.ts';
import { FAMILIES, issueWords, placeWords, slugOf, TYPE_WORDS } from './words.ts';

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
          type: Joi.array().items(Joi.string().valid(...SIGNAL_TYPES).empty('')).single().sparse().max(MOST_VALUES).default([]),
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
    ...filters(subscription.query, signals, names),
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
function filters(query: Query, signals: Signal[], names: Names) {
  const [type] = query.signal_types;
  const families = Object.entries(FAMILIES).map(([family, label]) => ({
    label,
    types: SIGNAL_TYPES.filter((one) => TYPE_WORDS[one].family === family).map((value) => ({ value, word: TYPE_WORDS[value].word, isChosen: value === type })),
  }));
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

async function namesFor({ civic }: Firehose, keys: string[]): Promise<Names> {
  const directory = civic.serviceIfOn('directory');
  const places = await directory?.places(civic.db.read, [...new Set(keys)]);
  return {
    place: (key) => places?.get(key)?.display_name ?? placeWords(key),
    issue: (slug) => directory?.issueName(slug) ?? issueWords(slug),
    // What another instance told is about its own directory.
    actor: (id, { origin }) => (origin ? `${origin.url}/api/entities/${id}` : directory && civic.url(`/api/entities/${id}`)),
  };
}
