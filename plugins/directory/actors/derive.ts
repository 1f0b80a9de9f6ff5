import { foldText, startOfText } from 'civic';
import type { ClaimRow, RecordRow, SourceRow } from '../ledger/rows.ts';
import { isWholeDay } from '../ledger/schemas.ts';
import { flagsOf } from './flags.ts';
import { byWeight, Chosen, isShown, latest, sourceTime } from './choose.ts';
import { freshnessDays, type FreshnessDays, type HalfLives } from './freshness.ts';
import type { Actor, ActorPlace, ActorType, ClaimValues, Visibility } from '../types.ts';

/** Records that are one actor, first the one it has its id from, with their claims. */
export interface Cluster {
  key: number;
  /** Of the last change to any of them. */
  version: number;
  records: RecordRow[];
  claims: ClaimRow[];
  /** The keys of hidden claims that a hold will show again: their sources stay. */
  held?: ReadonlySet<number>;
}

/** What derivation looks up. */
export interface Known {
  sources: Map<number, SourceRow>;
  places: Map<string, KnownPlace>;
  halfLives: HalfLives;
  now: string;
}

export interface KnownPlace extends ActorPlace {
  key: number;
}

/** An actor as it is stored for reading. */
export interface ActorRow extends FreshnessDays {
  key: number;
  id: string;
  slug: string;
  type: ActorType;
  name_sort: string;
  visibility: Visibility;
  workspace_id: string | null;
  tags: string;
  sources: string;
  rank: number;
  source_count: number;
  updated_at: string;
  version: number;
  /** The version of the read model that derived the row. */
  model: number;
  starts_at: string | null;
  expires_at: string | null;
  body: string;
}

export interface Derived {
  row: Omit<ActorRow, 'rank' | 'model'>;
  name: string;
  /** Further words it is found by. */
  texts: string[];
}

/** Stands in the stored body for what depends on the day. */
export const UNTOLD = '"freshness":{"status":"?"';

const MOST_SORTED = 120;

/** Works an actor out from its claims; null when nothing is left to show. The same claims always give the same actor. */
export function deriveActor(cluster: Cluster, known: Known): Derived | null {
  const canonical = cluster.records[0];
  if (canonical?.key !== cluster.key || canonical.deleted_at !== null) return null;
  const chosen = new Chosen(cluster.claims, known.now);
  const name = chosen.one('name') ?? lastKnown(cluster.claims, 'name');
  const type = chosen.one('type') ?? lastKnown(cluster.claims, 'type');
  if (name === null || type === null) return null;
  const shown = cluster.claims.filter(isShown);
  const cited = cluster.claims.filter((claim) => isShown(claim) || cluster.held?.has(claim.key));
  const sourceKeys = [...new Set(cited.map(({ source_key }) => source_key))].sort((a, b) => a - b);
  const places = chosen.all('place').flatMap((key) => known.places.get(key) ?? []);
  const issueAreas = chosen.all('issue_area');
  const description = chosen.one('description');
  const event = eventOf(type, chosen);
  const updatedAt = latest(cluster.records.map(({ updated_at }) => updated_at))!;
  const actor: Omit<Actor, 'url'> = {
    id: canonical.id,
    type,
    name,
    slug: canonical.slug,
    description,
    places: places.map(({ place_key, slug, name: placeName, state, country }) => ({ place_key, slug, name: placeName, state, country })),
    issue_areas: issueAreas,
    contact: { website: chosen.one('website'), email: chosen.one('email'), phone: chosen.one('phone'), social: chosen.all('social') },
    identifiers: chosen.all('identifier'),
    affiliations: chosen.all('affiliation'),
    event,
    status: chosen.one('status') ?? 'active',
    visibility: canonical.visibility,
    source_count: sourceKeys.length,
    claim_count: shown.length,
    freshness: {
      status: '?' as never,
      last_seen_at: latest(shown.map(({ last_seen_at }) => last_seen_at)),
      last_verified_at: latest(shown.filter(({ method }) => method === 'manual').map(({ last_seen_at }) => last_seen_at)),
      latest_source_at: latest(sourceKeys.map((key) => sourceTime(known.sources.get(key)!))),
    },
    flags: flagsOf(cluster.records),
    created_at: canonical.created_at,
    updated_at: updatedAt,
  };
  return {
    name,
    texts: [description, ...chosen.others('name'), ...places.map((place) => place.name), ...actor.affiliations.map((other) => `${other.name} ${other.role ?? ''}`)].filter((words) => words !== null),
    row: {
      key: cluster.key,
      id: canonical.id,
      slug: canonical.slug,
      type,
      name_sort: startOfText(foldText(name), MOST_SORTED),
      visibility: canonical.visibility,
      workspace_id: canonical.visibility === 'public' ? null : canonical.workspace_id,
      tags: tagsOf(actor, places),
      sources: sourceKeys.join(' '),
      source_count: sourceKeys.length,
      updated_at: updatedAt,
      version: cluster.version,
      ...freshnessDays(chosen.used, known.halfLives, known.now),
      starts_at: event?.start ? listedUntil(event.start) : null,
      expires_at: chosen.used.reduce<string | null>((first, { expires_at: end }) => (end !== null && (first === null || end < first) ? end : first), null),
      body: JSON.stringify(actor),
    },
  };
}

/** An actor whose every name has ended or was taken back still has to be called something. */
export function lastKnown<Name extends 'name' | 'type'>(claims: ClaimRow[], property: Name): ClaimValues[Name] | null {
  const [last] = claims.filter((claim) => claim.property === property && claim.status !== 'hidden').sort(byWeight);
  return last ? JSON.parse(last.value) as ClaimValues[Name] : null;
}

/** Returns the type of an actor by its claims. */
export function typeOf(claims: ClaimRow[], now: string): ActorType | null {
  const types = claims.filter(({ property }) => property === 'type');
  return new Chosen(types, now).one('type') ?? lastKnown(types, 'type');
}

/** Returns the time until which an event is among the coming ones: its start, or the end of a whole day. */
function listedUntil(start: string): string {
  return isWholeDay(start) ? `${start}T23:59:59.999Z` : start;
}

function eventOf(type: ActorType, chosen: Chosen): Actor['event'] {
  if (type !== 'event') return null;
  return { start: chosen.one('event_start'), end: chosen.one('event_end'), location: chosen.one('event_location') };
}

/** What lists filter by, each between spaces: `t:` type, `s:` state, `i:` issue area, `p:` place, `a:` an actor it is affiliated with, `f:` whether it has open flags. */
function tagsOf(actor: Omit<Actor, 'url'>, places: KnownPlace[]): string {
  const states = places.flatMap(({ state }) => state?.toLowerCase() ?? []);
  const tags = [`t:${actor.type}`, ...states.map((state) => `s:${state}`), ...actor.issue_areas.map((slug) => `i:${slug}`), ...places.map(({ key }) => `p:${key}`), ...actor.affiliations.flatMap(({ entity_id }) => (entity_id ? [`a:${entity_id}`] : [])), actor.flags.open > 0 ? 'f:open' : 'f:none'];
  return ` ${[...new Set(tags)].join(' ')} `;
}

export function tagList(tags: string): string[] {
  return tags.split(' ').filter((tag) => tag !== '');
}

/** The values of one kind of tag. */
export function tagged(tags: string, kind: 't' | 's' | 'i' | 'p' | 'a'): string[] {
  return tagList(tags).filter((tag) => tag.startsWith(`${kind}:`)).map((tag) => tag.slice(2));
}
