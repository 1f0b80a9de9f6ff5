import type { Reader } from 'civic';
import type { DirectoryContext } from '../actors/context.ts';
import { blockNumber, blocks, MOST_IN_BLOCK } from '../matching/block.ts';
import { actorsInBlocks } from '../matching/store.ts';
import { isFiller, wordsOf } from '../search/document.ts';
import { listActors } from '../search/list.ts';
import { ACTOR_TYPES, type ActorDetail, type ActorType } from '../types.ts';
import { actorsWhole } from './actors.ts';
import { isActorType } from './properties.ts';
import type { Wanted } from './score.ts';

// Further ones are no better: what is found comes in the order of how well the name fits.
const [EACH, ENOUGH, MOST_WORDS, MOST] = [25, 5, 6, 100];

/** Public actors that a query may mean: those the search finds, and those that share what duplicates are found by. */
export async function candidatesFor(reader: Reader, context: DirectoryContext, wanted: Wanted): Promise<ActorDetail[]> {
  const { query } = wanted;
  const types = query.types.length > 0 ? query.types.filter(isActorType) : ACTOR_TYPES;
  if (types.length === 0) return [];
  const filters = query.types.length > 0 ? [{ any: types.map((type) => `t:${type}`) }] : [];
  const keys = new Set<number>();
  const look = async (text: string): Promise<void> => {
    const found = await listActors(reader, { query: text, filters, workspace: null, sort: 'relevance', limit: EACH, after: null }, context.columns);
    for (const key of found.keys) keys.add(key);
  };
  for (const { actor_key } of await actorsInBlocks(reader, blocksOf(wanted, types), MOST_IN_BLOCK, null)) keys.add(actor_key);
  if (query.query !== '') {
    await look(query.query);
    if (keys.size < ENOUGH) for (const text of looser(query.query)) await look(text);
  }
  const found = await actorsWhole(reader, context, [...keys].slice(0, MOST), ['claims']);
  return found.filter(({ type }) => types.includes(type));
}

/** The names of people and of everything else are cut up differently. */
function blocksOf({ preparedAs }: Wanted, types: readonly ActorType[]): number[] {
  const kinds = new Set(types.map((type): ActorType => (type === 'person' ? 'person' : 'organization')));
  return [...new Set([...kinds].flatMap((type) => blocks(preparedAs(type)).map(blockNumber)))];
}

/** The same name without one of its words, as somebody else may have written it; the search wants all words. */
function looser(text: string): string[] {
  const words = wordsOf(text).filter((word) => !isFiller(word)).slice(0, MOST_WORDS);
  return words.length < 2 ? [] : words.map((_, left) => words.filter((_word, index) => index !== left).join(' '));
}
