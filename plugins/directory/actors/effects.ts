import type { Reader } from 'civic';
import type { ActorEffect, CoverageLoss } from '../events.ts';
import { coverageStatus } from './coverage.ts';
import type { ActorRow, Known } from './derive.ts';
import { dayOf, freshnessOn } from './freshness.ts';
import { countsOfPlaces, type Before, type CountRow } from './store.ts';

/** A loss with the number of its place. */
export type Loss = Omit<CoverageLoss, 'place_key'> & { place: number };
export type Effect = ActorEffect;

/** Returns what changed for actors that were there before. Publishing an actor moves its citations to public sources, which does not count as a new source. */
export function effectsOf(before: Before[], rows: ActorRow[], known: Pick<Known, 'sources' | 'now'>): Effect[] {
  if (before.length === 0) return [];
  const day = dayOf(known.now);
  const earlier = new Map(before.map((row) => [row.key, row]));
  return rows.flatMap((row): Effect[] => {
    const had = earlier.get(row.key);
    if (!had || had.visibility !== row.visibility) return [];
    const hadSources = new Set(had.sources.split(' '));
    const fresh = row.sources.split(' ').filter((key) => key !== '' && !hadSources.has(key));
    const [was, is] = [freshnessOn(day, had), freshnessOn(day, row)];
    if (fresh.length === 0 && was === is) return [];
    return [{ id: row.id, new_sources: fresh.map((key) => known.sources.get(Number(key))!.id), freshness: was === is ? null : { before: was, after: is } }];
  });
}

/** Of the counters that were lessened, those that are thin or missing for it. */
export async function lossesOf(reader: Reader, changes: CountRow[]): Promise<Loss[]> {
  const fewer = changes.filter(({ issue_area, type, actors }) => issue_area !== '' && type === '' && actors < 0);
  if (fewer.length === 0) return [];
  const left = new Map((await countsOfPlaces(reader, [...new Set(fewer.map(({ place }) => place))])).map((row) => [`${row.place} ${row.issue_area}`, row.actors]));
  return fewer.flatMap(({ place, issue_area, actors }): Loss[] => {
    const after = Number(left.get(`${place} ${issue_area}`) ?? 0);
    const before = after - actors;
    return coverageStatus(before) === coverageStatus(after) ? [] : [{ place, issue_area, before, after }];
  });
}
