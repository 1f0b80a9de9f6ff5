import type { Reader } from 'civic';
import type { Cluster } from '../actors/derive.ts';
import { groupBy } from './group.ts';
import { heldAmong } from './holds-store.ts';
import type { SourceRow } from './rows.ts';
import { claimsOfRecords, lastChanges, recordsOfActors, sourcesByKey } from './store.ts';

export interface Loaded {
  clusters: Cluster[];
  sources: Map<number, SourceRow>;
}

/** Actors with all they stand on, as they are in the ledger now. Tombstones are among them, without claims. */
export async function loadClusters(reader: Reader, actorKeys: number[]): Promise<Loaded> {
  const records = await recordsOfActors(reader, actorKeys);
  const live = records.filter(({ deleted_at }) => deleted_at === null);
  const keys = live.map(({ key }) => key);
  const all = await claimsOfRecords(reader, keys);
  const claims = groupBy(all, ({ record_key }) => record_key);
  const held = await heldAmong(reader, all);
  const versions = await lastChanges(reader, keys);
  const byActor = groupBy(live, ({ actor_key }) => actor_key);
  const clusters = actorKeys.map((key): Cluster => {
    // The record that gives the actor its id comes first.
    const own = (byActor.get(key) ?? []).sort((a, b) => Number(b.key === key) - Number(a.key === key) || a.key - b.key);
    return { key, records: own, claims: own.flatMap((record) => claims.get(record.key) ?? []), held, version: Math.max(0, ...own.map((record) => versions.get(record.key) ?? 0)) };
  });
  const used = new Set<number>();
  for (const { claims: some } of clusters) for (const { source_key } of some) used.add(source_key);
  const sources = await sourcesByKey(reader, [...used]);
  return { clusters, sources: new Map(sources.map((source) => [source.key, source])) };
}
