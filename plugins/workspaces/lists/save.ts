import type { ResponseObject, ServerRoute } from '@hapi/hapi';
import { formOptions, Joi, problem, readForm } from 'civic';
import type { WorkspaceContext, Workspaces } from '../context.ts';
import { shownEntry } from '../pages/entries.ts';
import { PAGE, type PageContext, type WorkspacePages } from '../pages/frame.ts';
import { entityReferences } from '../references.ts';
import { writtenText } from '../schemas.ts';
import type { Lists } from './lists.ts';
import { listsWith } from './store.ts';

/** Returns the links that the page of an entry shows to signed-in users. */
export function saveLink(entryId: string): { href: string; notes: string; reviews: string } {
  const id = encodeURIComponent(entryId);
  return { href: `/workspaces/save?entry=${id}`, notes: `/workspaces/notes?entry=${id}`, reviews: `/workspaces/reviews?entry=${id}` };
}

const MOST = 200;
const form = Joi.object<{ entry: string; list: string; name: string; note: string }>({
  entry: Joi.string().max(100).required(),
  list: Joi.string().max(100).allow('').default(''),
  name: writtenText(200).allow('').default(''),
  note: writtenText(2000).allow('').default(''),
});

/** Returns the page on which a user saves an entry to a list: of the chosen workspace, or of another one. */
export function savePages(workspaces: Workspaces, pages: WorkspacePages, lists: Lists): ServerRoute[] {
  const { civic, directory } = workspaces;

  async function show(page: PageContext, entryId: string, more: object = {}, status = 200): Promise<ResponseObject> {
    const entity = (await entityReferences(workspaces, civic.db.read, page, [entryId.toLowerCase()]))(entryId.toLowerCase());
    if (entity.state !== 'current') throw problem('not_found');
    const saved = new Set(await listsWith(civic.db.read, page.workspace.id, entryId.toLowerCase()));
    const { shown } = await lists.page(civic.db.read, page, {}, { before: null, limit: MOST });
    return pages.show(page, { section: 'lists', template: 'workspaces/save', title: page.t('save.title', { name: entity.name! }), status }, {
      entry: shownEntry(directory, entryId.toLowerCase(), entity), lists: shown.map((one, at) => ({ ...one, isSaved: saved.has(one.id), isChosen: at === 0 })),
      others: page.visitor.workspaces.filter(({ id }) => id !== page.workspace.id), ...more,
    });
  }

  async function save(page: PageContext, context: WorkspaceContext, tx: Parameters<Lists['create']>[0], given: { entry: string; list: string; name: string; note: string }): Promise<{ id: string; isNew: boolean }> {
    // A name that was filled in wins over the list that is selected by default.
    const id = given.list === '' || given.name !== '' ? (await lists.create(tx, context, { name: given.name || page.t('save.default_name') })).id : given.list;
    const { isNew } = await lists.add(tx, context, await lists.rowToChange(tx, context, id), { entity_id: given.entry, note: given.note || null });
    return { id, isNew };
  }

  return [
    {
      method: 'GET', path: '/workspaces/save', options: PAGE,
      handler: pages.chosen((entry) => `save?entry=${entry}`),
    },
    {
      method: 'GET', path: '/workspaces/notes', options: PAGE,
      handler: pages.chosen((entry) => `notes?about=entity&target=${entry}`),
    },
    {
      method: 'GET', path: '/workspaces/reviews', options: PAGE,
      handler: pages.chosen((entry) => `reviews?entry=${entry}`),
    },
    { method: 'GET', path: '/workspaces/{id}/save', options: PAGE, handler: pages.member((page) => show(page, String(page.request.query['entry'] ?? ''))) },
    {
      method: 'POST', path: '/workspaces/{id}/save', options: formOptions(),
      handler: pages.member(async (page) => {
        const { values, errors, given } = readForm(page.request, form, page.t);
        if (!values) return show(page, String(given.entry ?? ''), { errors, given }, 400);
        const { id, isNew } = await pages.change(page, (tx, context) => save(page, context, tx, values));
        return pages.go(page, `lists/${id}`, isNew ? 'added' : 'known');
      }),
    },
  ];
}
