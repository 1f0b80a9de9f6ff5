import type { ServerRoute } from '@hapi/hapi';
import { formOptions, Joi, readForm } from 'civic';
import type { Workspaces } from '../context.ts';
import { shownEntry } from '../pages/entries.ts';
import { counted, NAME, PAGE, type PageContext, type WorkspacePages } from '../pages/frame.ts';
import { partOf } from '../pages/paging.ts';
import { FORMATS, exportResponse, type ExportFormat } from '../records/export.ts';
import { writtenText } from '../schemas.ts';
import type { Lists } from './lists.ts';
import { listExport } from './transfer.ts';

const SHOWN = 50;
const name = writtenText(200).min(1).required().messages({ 'string.empty': 'lists.no_name', 'any.required': 'lists.no_name' });
const listForm = Joi.object<{ name: string; description: string }>({ name, description: writtenText(2000).allow('') });
const noteForm = Joi.object<{ note: string }>({ note: writtenText(2000).allow('') });

/** Returns the pages of lists: all of a workspace, and one with its entries. */
export function listPages(workspaces: Workspaces, pages: WorkspacePages, lists: Lists): ServerRoute[] {
  const { civic, directory } = workspaces;
  pages.section({ plugin: NAME, path: 'lists', label: 'lists.title', summary: counted('lists') });

  async function showLists(page: PageContext, more: object = {}, status = 200) {
    const { last: before, cursorOf } = partOf(page.request, SHOWN);
    const { shown, total, next } = await lists.page(civic.db.read, page, {}, { before, limit: SHOWN });
    return pages.show(page, { section: 'lists', template: 'workspaces/lists', title: page.t('lists.title'), status }, { lists: shown, total, next: cursorOf(next), ...more });
  }

  async function showList(page: PageContext, more: object = {}, status = 200) {
    const { last: after, cursorOf } = partOf(page.request, SHOWN);
    const row = await lists.row(civic.db.read, page, String(page.request.params.list));
    const { items, next } = await lists.items(civic.db.read, page, row, { after, limit: SHOWN });
    return pages.show(page, { section: 'lists', template: 'workspaces/list', title: row.name, status }, {
      list: { id: row.id, name: row.name, description: row.description, count: Number(row.item_count) }, formats: FORMATS,
      items: items.map(({ entity_id, entity, note, added_at }) => ({ entry: shownEntry(directory, entity_id, entity), note, added_at })),
      next: cursorOf(next), given: { name: row.name, description: row.description }, ...more,
    });
  }

  return [
    { method: 'GET', path: '/workspaces/{id}/lists', options: PAGE, handler: pages.member((page) => showLists(page)) },
    {
      method: 'POST', path: '/workspaces/{id}/lists', options: formOptions(),
      handler: pages.member(async (page) => {
        const { values, errors, given } = readForm(page.request, listForm, page.t);
        if (!values) return showLists(page, { errors, given }, 400);
        const created = await pages.change(page, (tx, context) => lists.create(tx, context, { name: values.name, description: values.description || null }));
        return pages.go(page, `lists/${created.id}`, 'created');
      }),
    },
    { method: 'GET', path: '/workspaces/{id}/lists/{list}', options: PAGE, handler: pages.member((page) => showList(page)) },
    {
      method: 'POST', path: '/workspaces/{id}/lists/{list}', options: formOptions(),
      handler: pages.member(async (page) => {
        const { values, errors, given } = readForm(page.request, listForm, page.t);
        if (!values) return showList(page, { errors, given, isEdited: true }, 400);
        await pages.change(page, async (tx, context) => lists.update(tx, context, await lists.rowToChange(tx, context, String(page.request.params.list)), { name: values.name, description: values.description || null }));
        return pages.go(page, `lists/${page.request.params.list}`, 'saved');
      }),
    },
    {
      method: 'POST', path: '/workspaces/{id}/lists/{list}/delete', options: formOptions(),
      handler: pages.member(async (page) => {
        await pages.change(page, async (tx, context) => lists.remove(tx, context, await lists.rowToChange(tx, context, String(page.request.params.list))));
        return pages.go(page, 'lists', 'deleted');
      }),
    },
    {
      method: 'GET', path: '/workspaces/{id}/lists/{list}/export', options: PAGE,
      handler: pages.member(async (page) => {
        const format = FORMATS.find((one) => one === page.request.query['format']) ?? 'csv' satisfies ExportFormat;
        const row = await pages.change(page, async (tx, context) => {
          await workspaces.use(tx, context, 'exports');
          return lists.row(tx, context, String(page.request.params.list));
        });
        return exportResponse(page.h, listExport(workspaces, lists, pages.reopen(page), row.id, format), { name: 'list', format });
      }),
    },
    {
      method: 'POST', path: '/workspaces/{id}/lists/{list}/items/{entry}', options: formOptions(),
      handler: pages.member(async (page) => {
        const { values, errors } = readForm(page.request, noteForm, page.t);
        if (!values) return showList(page, { fault: errors.note }, 400);
        const { list, entry } = page.request.params as { list: string; entry: string };
        await pages.change(page, async (tx, context) => lists.changeItem(tx, context, await lists.rowToChange(tx, context, list), entry, values.note || null));
        return pages.go(page, `lists/${list}`, 'saved');
      }),
    },
    {
      method: 'POST', path: '/workspaces/{id}/lists/{list}/items/{entry}/remove', options: formOptions(),
      handler: pages.member(async (page) => {
        const { list, entry } = page.request.params as { list: string; entry: string };
        await pages.change(page, async (tx, context) => lists.removeItem(tx, context, await lists.rowToChange(tx, context, list), entry));
        return pages.go(page, `lists/${list}`, 'removed');
      }),
    },
  ];
}
