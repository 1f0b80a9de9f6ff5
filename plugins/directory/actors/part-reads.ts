import type { Page, Reader, TextList } from 'civic';
import { workspaceBeside } from '../access.ts';
import { tellingOf, type DirectoryContext } from './context.ts';
import { actorTexts, backingOf, latestFirst, type Shown } from './detail.ts';
import type { ShownActor } from './read-store.ts';
import { relationsOf } from './related.ts';
import { sourceRecords } from './sources.ts';

/** Reads of the sources and relations of one actor, which routes, tools and the service share. */

type Slice = Pick<Page, 'limit' | 'after'>;

/** Returns the sources of an actor, the latest retrieved first. */
export async function entitySources({ civic }: DirectoryContext, reader: Reader, actor: ShownActor, { limit, after }: Slice): Promise<TextList> {
  const { sources } = (await backingOf(reader, [actor.key])).get(actor.key)!;
  const { rows, next } = sliceAfter(latestFirst(sources), after, limit);
  const records = await sourceRecords(reader, rows, civic.clock.now(), workspaceBeside(actor));
  return { data: records.map((record) => JSON.stringify(record)), total: sources.length, next };
}

/** Returns public actors that are related to an actor, the strongest relation first, each with its evidence. */
export async function relatedEntities(context: DirectoryContext, reader: Reader, actor: ShownActor, { limit, after }: Slice, shown: Shown = { include: [] }): Promise<TextList> {
  const relations = await relationsOf(reader, actor, context.columns);
  const { rows, next } = sliceAfter(relations.map(({ row }) => row), after, limit);
  const byKey = new Map(relations.map((relation) => [relation.row.key, relation]));
  const texts = await actorTexts(reader, rows, shown, tellingOf(context));
  const data = rows.map(({ key }, at) => {
    const { score, evidence } = byKey.get(key)!;
    return `{"entity":${texts[at]},"score":${score},"evidence":${JSON.stringify(evidence)}}`;
  });
  return { data, total: relations.length, next };
}

/** Returns a page of rows that are all in memory: an actor has few sources and relations. */
export function sliceAfter<Row extends { key: number }>(rows: Row[], after: unknown[] | null, limit: number): { rows: Row[]; next: number[] | null } {
  const start = after ? rows.findIndex(({ key }) => key === after[0]) + 1 : 0;
  const page = rows.slice(start, start + limit);
  return { rows: page, next: start + limit < rows.length ? [page.at(-1)!.key] : null };
}
