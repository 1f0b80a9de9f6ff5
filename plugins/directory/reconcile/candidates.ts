import type { Reader } from 'civic';
import { tellingOf, type DirectoryContext } from '../actors/context.ts';
import { actorTexts } from '../actors/detail.ts';
import { actorsByKey } from '../actors/read-store.ts';
import { isFiller, wordsOf } from '../search/document.ts';
import { listActors } from '../search/list.ts';
import type { ActorDetail } from '../types.ts';
import { isActorType } from './properties.ts';
import type { Query } from './query.ts';
import type { Wanted } from './score.ts';

// Further ones are no better: what is found comes in the order of how well the name fits.
const [EACH, ENOUGH, MOST_WORDS] = [25, 5, 6];

/** Public actors that a query may mean. */
export async function candidatesFor(reader: Reader, context: DirectoryContext, query: Query): Promise<ActorDetail[]> {
  const types = query.types.filter(isActorType);
  if (query.types.length > 0 && types.length === 0) return [];
  const filters = types.length > 0 ? [{ any: types.map((type) => `t:${type}`) }] : [];
  const keys = new Set<number>();
  const look = async (text: string): Promise<void> => {
    const found = await listActors(reader, { query: text, filters, workspace: null, sort: 'relevance', limit: EACH, after: null }, context.columns);
    for (const key of found.keys) keys.add(key);
  };
  if (query.query !== '') {
    await look(query.query);
    if (keys.size < ENOUGH) for (const text of looser(query.query)) await look(text);
  }
  return actorsWhole(reader, context, [...keys].slice(0, 100), ['claims']);
}

/** The same name without one of its words, as somebody else may have written it; the search wants all words. */
function looser(text: string): string[] {
  const words = wordsOf(text).filter((word) => !isFiller(word)).slice(0, MOST_WORDS);
  return words.length < 2 ? [] : words.map((_, left) => words.filter((_word, index) => index !== left).join(' '));
}

export async function actorsWhole(reader: Reader, context: DirectoryContext, keys: number[], include: ('claims' | 'sources')[] = ['claims', 'sources']): Promise<ActorDetail[]> {
  const rows = await actorsByKey(reader, keys);
  const texts = await actorTexts(reader, rows, include, tellingOf(context));
  return texts.map((text) => JSON.parse(text) as ActorDetail);
}

/** What the places in a query are; each text is looked up once a batch. */
export async function wantedOf(reader: Reader, { places }: DirectoryContext, query: Query, known: Map<string, string[]>): Promise<Wanted> {
  const texts = query.properties.filter(({ pid }) => pid === 'place').flatMap(({ values }) => values);
  const keys: string[] = [];
  for (const text of texts) {
    let found = known.get(text);
    if (!found) {
      const place = await places.byKey(reader, text);
      found = place ? [place.place_key] : (await places.resolve(reader, text, { limit: 3 })).filter(({ confidence }) => confidence >= 0.3).map(({ place: likely }) => likely.place_key);
      known.set(text, found);
    }
    keys.push(...found);
  }
  return { query, places: keys };
}
