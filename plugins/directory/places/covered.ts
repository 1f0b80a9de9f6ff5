import type { Database, Page, TextList } from 'civic';
import { coveredPlaces, countCovered, type CoveredRow } from './covered-store.ts';
import type { CoveredPlace } from './schemas.ts';
import type { Places } from './service.ts';
import { stateByText } from './states.ts';

/** The position in the list: a place key. */
export const COVERED_POSITION = ['text'] as const;

/** Returns the places that have public actors, in the order of their keys. */
export async function coveredList(places: Places, db: Database, { query: { state: text }, limit, after }: Page<{ state?: string }>): Promise<TextList> {
  const state = text === undefined ? undefined : stateByText(text)?.abbreviation;
  if (text !== undefined && state === undefined) return { data: [], total: 0, next: null };
  const { rows, total } = await db.snapshot(async (tx) => ({
    rows: await coveredPlaces(tx, { state, after: after && String(after[0]), limit: limit + 1 }),
    total: await countCovered(tx, { state }),
  }));
  const shown = rows.slice(0, limit);
  return { data: shown.map((row) => JSON.stringify(coveredPlace(places, row))), total, next: rows.length > limit ? [shown.at(-1)!.place_key] : null };
}

export function coveredPlace(places: Places, row: CoveredRow): CoveredPlace {
  return { ...places.recordOf(row), entity_count: row.actors };
}
