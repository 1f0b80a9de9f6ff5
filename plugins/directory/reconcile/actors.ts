import type { Reader } from 'civic';
import { tellingOf, type DirectoryContext } from '../actors/context.ts';
import { actorTexts } from '../actors/detail.ts';
import { actorsByKey } from '../actors/read-store.ts';
import type { ActorDetail } from '../types.ts';

/** Public actors, with what of them is asked for. */
export async function actorsWhole(reader: Reader, context: DirectoryContext, keys: number[], include: ('claims' | 'sources')[] = ['claims', 'sources']): Promise<ActorDetail[]> {
  const rows = (await actorsByKey(reader, keys)).filter(({ visibility }) => visibility === 'public');
  const texts = await actorTexts(reader, rows, { include }, tellingOf(context));
  return texts.map((text) => JSON.parse(text) as ActorDetail);
}
