import { newId } from '../../../core/ids.ts';
import type { Query, SignalDraft } from '../../../plugins/firehose/types.ts';
import type { Asker } from './askers.ts';
import type { Random } from './random.ts';

// Few words, so that queries and signals meet often, and few moments and weights, so that sorts have ties.
const PLACES = ['oakland,california', 'kansas-city,missouri', 'st-louis,missouri', 'reno,nevada', 'boise,idaho'];
const ISSUES = ['housing', 'water', 'transit', 'schools', 'air'];
/** The plugin `herons` of the tests declares the last one, with facts. */
const TYPES = ['public_meeting', 'vote', 'filing', 'source_change', 'grant_award', 'heron_count'] as const;
const CLASSES = ['government_agenda', 'government_record', 'news', 'grant_notice'] as const;
const ACTORS = ['person', 'organization', 'initiative', 'campaign', 'event'] as const;
const STATES = ['not_required', 'not_required', 'not_required', 'approved', 'pending', 'held', 'rejected'] as const;
export const SORTS = ['detected_at_desc', 'occurred_at_desc', 'relevance_desc'] as const;
const NOON = Date.parse('2026-03-01T12:00:00.000Z');
const MINUTES = 40;

export const moment = (random: Random): string => new Date(NOON + random.int(MINUTES) * 60_000).toISOString();

/** A signal with a title of its own, by which every version of every signal is known again. */
export function randomDraft(random: Random, options: { id?: string; title: string; workspaces: string[]; fat: number }): SignalDraft & { id: string } {
  const type = random.pick(TYPES);
  const visibility = random.pick(['public', 'public', 'public', 'workspace', 'partner', 'reviewer'] as const);
  return {
    id: options.id ?? newId(),
    title: options.title,
    type,
    ...(type === 'heron_count' && { facts: { birds: random.int(50), site: 'Naïve “quotes”\u2028' } }),
    source_class: random.pick(CLASSES),
    ...(random.chance(0.7) && { occurred_at: moment(random) }),
    detected_at: moment(random),
    places: random.some(PLACES, 3),
    issues: random.some(ISSUES, 3),
    actors: random.some(ACTORS, 2).map((type) => ({ name: `A ${type}`, type })),
    // Exact in the smaller floats of Postgres too.
    relevance: random.int(8) / 8,
    review_state: random.pick(STATES),
    visibility,
    ...(visibility === 'workspace' && { workspace_id: random.pick(options.workspaces) }),
    evidence: [{ source_url: 'https://example.org/minutes', passage: random.chance(options.fat) ? 'Resolved. '.repeat(random.int(5000)) : 'Moved. Naïve “quotes”\n\n\u2028 and lines' }],
  };
}

/** What an asker may ask, with any of the filters. */
export function randomQuery(random: Random, asker: Asker): Query {
  const times = [moment(random), moment(random)].sort();
  return {
    places: random.chance(0.5) ? random.some(PLACES, 2) : [],
    issues: random.chance(0.4) ? random.some(ISSUES, 2) : [],
    actor_types: random.chance(0.2) ? random.some(ACTORS, 3) : [],
    signal_types: random.chance(0.3) ? random.some(TYPES, 3) : [],
    source_classes: random.chance(0.2) ? random.some(CLASSES, 3) : [],
    visibility: random.pick(asker.visibilities),
    since: random.chance(0.2) ? times[0]! : null,
    until: null,
    cursor: null,
    limit: random.pick([1, 2, 7, 50, 200]),
    sort: random.pick(SORTS),
  };
}

/** A query for snapshots alone: a stream whose end has passed ends. */
export function withEnd(random: Random, query: Query): Query {
  return random.chance(0.2) ? { ...query, until: moment(random) } : query;
}

/** As the parameters of a URL, in the repeated form. */
export function parametersOf(query: Query, isStream: boolean): URLSearchParams {
  const parameters = new URLSearchParams();
  const lists = { place: query.places, issue: query.issues, actor_type: query.actor_types, signal_type: query.signal_types, source_class: query.source_classes };
  for (const [name, values] of Object.entries(lists)) for (const value of values) parameters.append(name, value);
  parameters.set('visibility', query.visibility);
  for (const name of ['since', 'until'] as const) if (query[name] !== null) parameters.set(name, query[name]);
  if (!isStream) for (const name of ['sort', 'limit'] as const) parameters.set(name, String(query[name]));
  return parameters;
}
