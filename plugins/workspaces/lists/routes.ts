import type { ServerRoute } from '@hapi/hapi';
import { Joi, listResponse, pageOf } from 'civic';
import { CONTEXT_PROBLEMS, contextOf, reading, writing, type Workspaces } from '../context.ts';
import { recordRoutes } from '../records/routes.ts';
import { noQuery, paging } from '../schemas.ts';
import type { Lists } from './lists.ts';
import { listTransferRoutes } from './transfer.ts';
import { itemChange, itemList, itemShown, newItem } from './schemas.ts';

const PATH = '/api/workspaces/{id}/lists/{list_id}/items';
const params = Joi.object({ id: Joi.string(), list_id: Joi.string() });
const itemParams = Joi.object({ id: Joi.string(), list_id: Joi.string(), entity_id: Joi.string() });
const problems = [...CONTEXT_PROBLEMS, 'unknown_list'];

export function listRoutes(workspaces: Workspaces, lists: Lists): ServerRoute[] {
  const { civic } = workspaces;
  return [
    ...listTransferRoutes(workspaces, lists),
    ...recordRoutes(workspaces, lists, {
      list: 'The lists of a workspace, the latest first',
      create: 'Create a list of entries',
      read: 'One list, with its first 100 entries',
      update: 'Rename or describe a list',
      remove: 'Delete a list with its entries and notes',
      notes: 'Entries are added at `/items`.',
    }),
    {
      method: 'GET',
      path: PATH,
      options: {
        description: 'The entries of a list, in the order in which they were added',
        notes: 'An entry that was merged or deleted later stays in the list; `entity.state` is then `merged` or `deleted`.',
        auth: reading,
        validate: { query: Joi.object(paging), params },
        plugins: { civic: { problems: [...problems, 'invalid_cursor'] } },
        response: { schema: itemList },
      },
      handler: (request, h) => civic.db.snapshot(async (tx) => {
        const page = pageOf(request, ['integer']);
        const context = await contextOf(workspaces, tx, request);
        const list = await lists.row(tx, context, String(request.params.list_id));
        const { items, next } = await lists.items(tx, context, list, { after: page.after && Number(page.after[0]), limit: page.limit });
        return listResponse(request, h, page, { data: items, total: Number(list.item_count), next: next === null ? null : [next] });
      }),
    },
    {
      method: 'POST',
      path: PATH,
      options: {
        description: 'Add an entry to a list',
        notes: 'An entry that the list has already is returned as it is, with 200.',
        auth: writing,
        validate: { query: noQuery, params, payload: newItem },
        plugins: { civic: { problems: [...problems, 'unknown_actor', 'list_full'] } },
        response: { status: { 200: itemShown, 201: itemShown } },
      },
      async handler(request, h) {
        const { item, isNew } = await civic.db.write(async (tx) => {
          const context = await contextOf(workspaces, tx, request);
          return lists.add(tx, context, await lists.rowToChange(tx, context, String(request.params.list_id)), request.payload as { entity_id: string });
        });
        return isNew ? h.response(item).code(201).location(civic.url(`${request.path}/${item.entity_id}`)) : item;
      },
    },
    {
      method: 'GET',
      path: `${PATH}/{entity_id}`,
      options: {
        description: 'One entry of a list',
        notes: '`entity` is what the id refers to now.',
        auth: reading,
        validate: { query: noQuery, params: itemParams },
        plugins: { civic: { problems: [...problems, 'unknown_list_item'] } },
        response: { schema: itemShown },
      },
      handler: (request) => civic.db.snapshot(async (tx) => {
        const context = await contextOf(workspaces, tx, request);
        return lists.item(tx, context, await lists.row(tx, context, String(request.params.list_id)), String(request.params.entity_id));
      }),
    },
    {
      method: 'PATCH',
      path: `${PATH}/{entity_id}`,
      options: {
        description: 'Change the note on an entry of a list',
        notes: 'Null removes the note.',
        auth: writing,
        validate: { query: noQuery, params: itemParams, payload: itemChange },
        plugins: { civic: { problems: [...problems, 'unknown_list_item'] } },
        response: { schema: itemShown },
      },
      handler: (request) => civic.db.write(async (tx) => {
        const context = await contextOf(workspaces, tx, request);
        const list = await lists.rowToChange(tx, context, String(request.params.list_id));
        return lists.changeItem(tx, context, list, String(request.params.entity_id), (request.payload as { note: string | null }).note);
      }),
    },
    {
      method: 'DELETE',
      path: `${PATH}/{entity_id}`,
      options: {
        description: 'Remove an entry from a list',
        notes: 'The entry itself stays in the directory.',
        auth: writing,
        validate: { query: noQuery, params: itemParams },
        plugins: { civic: { problems: [...problems, 'unknown_list_item'] } },
        response: { status: { 204: Joi.any() } },
      },
      async handler(request, h) {
        await civic.db.write(async (tx) => {
          const context = await contextOf(workspaces, tx, request);
          await lists.removeItem(tx, context, await lists.rowToChange(tx, context, String(request.params.list_id)), String(request.params.entity_id));
        });
        return h.response().code(204);
      },
    },
  ];
}
