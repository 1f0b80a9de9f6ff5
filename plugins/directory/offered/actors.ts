import type { Reader } from 'civic';
import { byWeight, isShown } from '../actors/choose.ts';
import { backingOf, type Backing } from '../actors/detail.ts';
import { dayOf, freshnessOn } from '../actors/freshness.ts';
import { actorsByIds, type ShownActor } from '../actors/read-store.ts';
import { chunksOf } from '../chunks.ts';
import { claimsOfRecords, recordsById } from '../ledger/store.ts';
import { groupBy } from '../ledger/group.ts';
import type { FieldPolicy } from '../policy/fields.ts';
import type { Actor, Claim, FreshnessStatus, Source } from '../types.ts';
import { agedBetween } from './store.ts';

/** An actor as other plugins see it, private ones too: whoever asks answers for what is told to whom. */
export interface KnownActor extends Pick<Actor, 'id' | 'type' | 'name' | 'description' | 'places' | 'issue_areas' | 'affiliations' | 'event' | 'status' | 'visibility'> {
  /** Whose it is, when it is private. */
  workspace_id: string | null;
  freshness: FreshnessStatus;
  /** What it stands on, the latest looked at first. */
  sources: KnownSource[];
}

export interface KnownSource extends Pick<Source, 'id' | 'url' | 'title' | 'publication' | 'kind' | 'published_at' | 'retrieved_at' | 'content_hash'>, Pick<Claim, 'excerpt' | 'locator'> {
  /** What the excerpt is quoted for; null without one. */
  property: Claim['property'] | null;
}

/** By the passing of days alone. */
export interface FreshnessTurn {
  id: string;
  before: FreshnessStatus;
  after: FreshnessStatus;
}

/** In the order of the ids; those that are no actor, or no longer, are left out. */
export async function knownActors(reader: Reader, ids: string[], now: number, policy: FieldPolicy): Promise<KnownActor[]> {
  const byId = new Map<string, KnownActor>();
  for (const some of chunksOf(ids)) {
    const rows = await actorsByIds(reader, some);
    const backing = await backingOf(reader, rows, policy);
    for (const row of rows) byId.set(row.id, knownActor(row, backing.get(row.key)!, now));
  }
  return ids.flatMap((id) => byId.get(id) ?? []);
}

function knownActor(row: ShownActor, { claims, sources }: Backing, now: number): KnownActor {
  const { id, type, name, description, places, issue_areas, affiliations, event, status, visibility } = JSON.parse(row.body) as Actor;
  const said = groupBy(claims, ({ source_key }) => source_key);
  return {
    id, type, name, description, places, issue_areas, affiliations, event, status, visibility,
    workspace_id: row.workspace_id,
    freshness: freshnessOn(dayOf(now), row),
    sources: sources.map((source): KnownSource => {
      const cited = said.get(source.key)!;
      const quoted = cited.find(({ excerpt }) => excerpt !== null);
      const isLocated = quoted !== undefined && quoted.locator_start !== null && quoted.locator_end !== null;
      return {
        id: source.id, url: source.url, title: source.title, publication: source.publication, kind: source.kind, published_at: source.published_at,
        retrieved_at: source.retrieved_at, content_hash: source.content_hash, excerpt: quoted?.excerpt ?? null, property: quoted?.property ?? null,
        locator: isLocated ? { start: quoted.locator_start!, end: quoted.locator_end! } : null,
      };
    }).sort((a, b) => (a.retrieved_at < b.retrieved_at ? 1 : a.retrieved_at > b.retrieved_at ? -1 : 0)),
  };
}

/** What actors were called by their own records, also those that have become part of another. */
export async function ownNames(reader: Reader, ids: string[]): Promise<Map<string, string>> {
  const records = await recordsById(reader, ids);
  const claims = groupBy((await claimsOfRecords(reader, records.map(({ key }) => key))).filter((claim) => claim.property === 'name' && isShown(claim)), ({ record_key }) => record_key);
  return new Map(records.flatMap(({ key, id }): [string, string][] => {
    const [best] = (claims.get(key) ?? []).sort(byWeight);
    return best ? [[id, JSON.parse(best.value) as string]] : [];
  }));
}

/** Events are left out: they are over when they are over. */
export async function freshnessTurns(reader: Reader, { since, until, after, limit }: { since: number; until: number; after: string | null; limit: number }): Promise<FreshnessTurn[]> {
  const [from, to] = [dayOf(since), dayOf(until)];
  const rows = await agedBetween(reader, from, to, after, limit);
  return rows.map((row) => ({ id: row.id, before: freshnessOn(from, row), after: freshnessOn(to, row) }));
}
