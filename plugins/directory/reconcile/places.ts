import type { DirectoryContext } from '../actors/context.ts';
import type { Query } from './query.ts';
import type { Pause } from './queue.ts';

/** Below this a place is too unlikely to count as evidence. */
const LEAST_CONFIDENCE = 0.3;
const MOST_MEANINGS = 3;

/** Returns the keys of the places that a query names. `known` has the texts of the batch that were resolved before. */
export async function placesOf(context: DirectoryContext, query: Query, known: Map<string, string[]>, pause: Pause): Promise<string[]> {
  const texts = query.properties.filter(({ pid }) => pid === 'place').flatMap(({ values }) => values);
  const keys = new Set<string>();
  for (const text of texts) {
    if (!known.has(text)) {
      known.set(text, await meaningsOf(context, text));
      await pause();
    }
    for (const key of known.get(text)!) keys.add(key);
  }
  return [...keys];
}

async function meaningsOf({ places, civic }: DirectoryContext, text: string): Promise<string[]> {
  const place = await places.byKey(civic.db.read, text);
  if (place) return [place.place_key];
  const candidates = await places.resolve(civic.db.read, text, { limit: MOST_MEANINGS });
  return candidates.filter(({ confidence }) => confidence >= LEAST_CONFIDENCE).map((candidate) => candidate.place.place_key);
}
