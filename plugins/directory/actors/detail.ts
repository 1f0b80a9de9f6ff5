import type { PositionShape, Reader } from 'civic';
import { groupBy } from '../ledger/group.ts';
import { heldAmong } from '../ledger/holds-store.ts';
import type { ClaimRow, SourceRow } from '../ledger/rows.ts';
import { claimsOfActors, sourcesByKey } from '../ledger/store.ts';
import type { FieldPolicy } from '../policy/fields.ts';
import type { ActorType } from '../types.ts';
import { isShown } from './choose.ts';
import { tagged } from './derive.ts';
import { sourceRecords } from './sources.ts';
import { actorText, claimOf, withMembers, type Telling } from './wire.ts';
import type { ShownActor } from './read-store.ts';

export interface Backing {
  claims: ClaimRow[];
  sources: SourceRow[];
}

/** What the field policy needs to know of an actor. */
export function policedActor({ tags, visibility }: Pick<ShownActor, 'tags' | 'visibility'>): { type: ActorType; visibility: ShownActor['visibility'] } {
  return { type: tagged(tags, 't')[0] as ActorType, visibility };
}

/** Returns the shown claims of actors that the policy does not hide, and their sources, by actor key; also the sources of claims that a hold hides. */
export async function backingOf(reader: Reader, actors: Pick<ShownActor, 'key' | 'tags' | 'visibility'>[], policy: FieldPolicy, keeps: (claim: ClaimRow) => boolean = isShown): Promise<Map<number, Backing>> {
  const actorKeys = actors.map(({ key }) => key);
  const stated = await claimsOfActors(reader, actorKeys);
  const held = await heldAmong(reader, stated);
  const all = stated.filter((claim) => keeps(claim) || held.has(claim.key));
  const sources = new Map((await sourcesByKey(reader, [...new Set(all.map(({ source_key }) => source_key))])).map((row) => [row.key, row]));
  const policed = new Map(actors.map((actor) => [actor.key, policedActor(actor)]));
  const claims = all.filter(({ actor_key, property, source_key }) => !policy.hides(policed.get(actor_key)!, property, sources.get(source_key)!));
  const byActor = groupBy(claims, ({ actor_key }) => actor_key);
  return new Map(actorKeys.map((key) => {
    // The order of `claimPosition`. What its own record says comes first, also after an export and an import, where the keys are others.
    const own = (byActor.get(key) ?? []).sort((a, b) => Number(b.record_key === key) - Number(a.record_key === key) || a.record_key - b.record_key || a.key - b.key);
    return [key, { claims: own.filter((claim) => !held.has(claim.key)), sources: [...new Set(own.map(({ source_key }) => source_key))].map((sourceKey) => sources.get(sourceKey)!) }];
  }));
}

/** Of claims: whether another record states it, and the keys of the record and the claim. */
export const CLAIM_POSITION: PositionShape = ['integer', 'integer', 'integer'];

/** Returns the position of a claim among those of its actor, in the order of `backingOf`. */
export function claimPosition(actorKey: number, { record_key, key }: Pick<ClaimRow, 'record_key' | 'key'>): number[] {
  return [Number(record_key !== actorKey), record_key, key];
}

export type Include = 'claims' | 'sources';

export interface Shown {
  /** Members to add to each actor. */
  include: readonly Include[];
  /** How many sources to add at most, those retrieved last; all of them when absent. */
  mostSources?: number;
}

/** For lists of tools and of the service: the latest sources of each actor. `get_entity_sources` returns all. */
export const WITH_LATEST_SOURCES: Shown = { include: ['sources'], mostSources: 3 };

/** Returns actors as JSON texts, with the members of `include`. */
export async function actorTexts(reader: Reader, rows: ShownActor[], { include, mostSources }: Shown, telling: Telling, workspaceId: string | null = null): Promise<string[]> {
  if (include.length === 0) return rows.map((row) => actorText(row, telling));
  const backing = await backingOf(reader, rows, telling.policy);
  const idByKey = new Map([...backing.values()].flatMap(({ sources }) => sources).map(({ key, id }) => [key, id]));
  const shown = new Map([...backing].map(([key, { sources }]) => [key, mostSources === undefined ? sources : latestFirst(sources).slice(0, mostSources)]));
  const distinct = new Map([...shown.values()].flat().map((source) => [source.key, source]));
  const records = include.includes('sources') ? await sourceRecords(reader, [...distinct.values()], telling, workspaceId) : [];
  const sourceText = new Map(records.map((record) => [record.id, JSON.stringify(record)]));
  return rows.map((row) => withMembers(actorText(row, telling), {
    ...(include.includes('claims') && { claims: JSON.stringify(backing.get(row.key)!.claims.map((claim) => claimOf(claim, idByKey.get(claim.source_key)!))) }),
    ...(include.includes('sources') && { sources: `[${shown.get(row.key)!.map(({ id }) => sourceText.get(id)!).join(',')}]` }),
  }));
}

/** Returns the sources by the time they were retrieved, in the order of `sourcePosition`. */
export function latestFirst(sources: SourceRow[]): SourceRow[] {
  return sources.toSorted((a, b) => (a.retrieved_at === b.retrieved_at ? b.key - a.key : a.retrieved_at < b.retrieved_at ? 1 : -1));
}

/** Of the sources of an actor: the time of retrieval and the key, both negative. */
export const SOURCE_POSITION: PositionShape = ['integer', 'integer'];

export function sourcePosition({ retrieved_at, key }: Pick<SourceRow, 'retrieved_at' | 'key'>): number[] {
  return [-Date.parse(retrieved_at), -key];
}
