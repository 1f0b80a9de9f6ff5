import { Joi, tokens } from 'civic';
import { completeQuery, moment } from '../query/schemas.ts';
import type { Subscription } from '../query/subscription.ts';
import { upkeepOnly, withoutUpkeep } from '../query/upkeep.ts';
import type { Firehose } from '../service.ts';
import type { SignalType } from '../types.ts';
import { resolvePlaceFilter, type PlaceFilter } from './places.ts';
import { slugOf } from './words.ts';

export const PAGE_PATH = '/signals';
export const ON_A_PAGE = 20;
const MOST_VALUES = 20;
export const MOST_WORDS = 8;

/** The parameters as the form sends them: an empty field is an empty text. */
export interface PageParameters {
  q: string;
  place: (string | undefined)[];
  issue: (string | undefined)[];
  type: (SignalType | undefined)[];
  since?: string;
  until?: string;
  upkeep?: '1';
}

/** What the page shows. */
export interface Asked {
  q: string;
  /** The words of `q`, all of which a signal must have. */
  words: string[];
  places: PlaceFilter[];
  /** With the upkeep of the directory, also because a kind is chosen. */
  hasUpkeep: boolean;
  isFiltered: boolean;
  subscription: Subscription;
  /** Finds what the page leaves out; null when it leaves out nothing. */
  upkeep: Subscription | null;
}

const texts = Joi.array().items(Joi.string().trim().max(200).empty('')).single().sparse().max(MOST_VALUES).default([]);

export const pageParameters = (types: SignalType[]) => Joi.object({
  q: Joi.string().trim().max(200).empty('').default(''),
  place: texts,
  issue: texts,
  type: Joi.array().items(Joi.string().valid(...types).empty('')).single().sparse().max(MOST_VALUES).default([]),
  since: moment.empty(''),
  until: moment.empty(''),
  upkeep: Joi.string().valid('1').empty(''),
  cursor: Joi.string().max(20_000),
}).options({ stripUnknown: true });

/** Resolves the parameters. Without a chosen kind, signals about the upkeep of the directory are left out unless the visitor includes them. */
export async function askedOf({ civic, kinds, subscribe }: Firehose, parameters: PageParameters): Promise<Asked> {
  const { q, since = null, until = null } = parameters;
  const types = parameters.type.filter((type) => type !== undefined);
  const places: PlaceFilter[] = [];
  for (const text of listed(parameters.place)) places.push(await resolvePlaceFilter(civic, text));
  const query = completeQuery({
    places: places.map(({ key }) => key), issues: listed(parameters.issue).map(slugOf), signal_types: types, since, until, visibility: 'public', limit: ON_A_PAGE,
  });
  const all = await subscribe(civic.db.read, query, null);
  const hasUpkeep = parameters.upkeep !== undefined || types.length > 0;
  return {
    q, places, hasUpkeep,
    words: tokens(q).slice(0, MOST_WORDS),
    isFiltered: q !== '' || query.places.length + query.issues.length + types.length > 0 || since !== null || until !== null,
    subscription: hasUpkeep ? all : withoutUpkeep(all, kinds),
    upkeep: hasUpkeep ? null : upkeepOnly(all, kinds),
  };
}

/** The form shows several values in one field. */
function listed(values: (string | undefined)[]): string[] {
  return values.flatMap((value) => value?.split(';') ?? []).map((value) => value.trim()).filter(Boolean).slice(0, MOST_VALUES);
}

/** The parameters of a link to the same signals, with or without their upkeep. */
export function linkParameters({ q, subscription }: Pick<Asked, 'q' | 'subscription'>, hasUpkeep: boolean): URLSearchParams {
  const { places, issues, signal_types: types, since, until } = subscription.query;
  const parameters = new URLSearchParams(q === '' ? {} : { q });
  for (const [name, values] of [['place', places], ['issue', issues], ['type', types]] as const) for (const value of values) parameters.append(name, value);
  if (since !== null) parameters.set('since', dayOrTime(since));
  if (until !== null) parameters.set('until', dayOrTime(until));
  if (hasUpkeep && types.length === 0) parameters.set('upkeep', '1');
  return parameters;
}

/** The first moment of a day is written as the day. */
export function dayOrTime(moment: string): string {
  return moment.replace(/T00:00:00\.000Z$/, '');
}
