import { problem, problemOf, type Civic } from 'civic';
import type { Lists } from '../lists/lists.ts';
import type { PageContext } from '../pages/frame.ts';
import type { BriefForm } from './form.ts';
import { MOST_ENTITIES } from './schemas.ts';

/** Returns the form of a brief about the entries of a list, and a notice that states where it comes from. Entries that were merged or deleted are left out. */
export async function fieldsOfList({ db }: Pick<Civic, 'db'>, lists: Lists, page: PageContext, listId: string): Promise<{ given: Partial<BriefForm>; notice: string }> {
  const { row, items } = await db.snapshot(async (tx) => {
    const list = await lists.row(tx, page, listId).catch((error: unknown) => { throw problemOf(error)?.code === 'unknown_list' ? problem('not_found') : error; });
    return { row: list, items: (await lists.items(tx, page, list, { after: null, limit: MOST_ENTITIES })).items };
  });
  const current = items.filter(({ entity }) => entity.state === 'current');
  return {
    given: { title: row.name, summary: row.description ?? '', entities: current.map(({ entity_id }) => entity_id).join('\n') },
    notice: page.t('briefs.from_list', { name: row.name, count: items.length, left: Number(row.item_count) - items.length }),
  };
}
