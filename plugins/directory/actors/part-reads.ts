import type { Page, Reader, TextList } from 'civic';
import { workspaceBeside } from '../access.ts';
import { tellingOf, type DirectoryContext } from './context.ts';
import { actorTexts, backingOf, latestFirst, sourcePosition, type Shown } from './detail.ts';
import { sliceAfter } from './position.ts';
import type { ShownActor } from './read-store.ts';
import { relatedPosition, relationsOf } from './related.ts';
import { sourceRecords } from './sources.ts';

/** Reads of the sources and relations of one actor, which routes, tools and the service share. */

type Slice = Pick<Page, 'limit' | 'after'>;

/** Returns the sources of an actor, the latest retrieved first. */
export async function entitySources(context: DirectoryContext, reader: Reader, actor: ShownActor, { limit, after }: Slice): Promise<TextList> {
  const { sources } = (await backingOf(reader, [actor], context.policy)).get(actor.key)!;
  const { rows, next } = sliceAfter(latestFirst(sources), sourcePosition, after, limit);
  const records = await sourceRecords(reader, rows, tellingOf(context), workspaceBeside(actor));
  return { data: records.map((record) => JSON.stringify(record)), total: sources.length, next };
}

/** Returns public actors that are related to an actor, the strongest relation first, each with its evidence. */
export async function relatedEntities(context: DirectoryContext, reader: Reader, actor: ShownActor, { limit, after }: Slice, shown: Shown = { include: [] }): Promise<TextList> {
  const relations = await relationsOf(reader, actor, context.columns);
  const { rows, next } = sliceAfter(relations, relatedPosition, after, limit);
  const texts = await actorTexts(reader, rows.map(({ row }) => row), shown, tellingOf(context));
  const data = rows.map(({ score, evidence }, at) => `{"entity":${texts[at]},"score":${score},"evidence":${JSON.stringify(evidence)}}`);
  return { data, total: relations.length, next };
}
