import type { Request, ServerRoute } from '@hapi/hapi';
import { checkIfMatch, conditional, Joi, listResponse, pageOf, textEtag } from 'civic';
import { CONTEXT_PROBLEMS, contextOf, reading, writing, type Workspaces } from '../context.ts';
import { noQuery, paging } from '../schemas.ts';
import type { Records } from './records.ts';
import type { Filters, RecordRow } from './store.ts';

/** How the reference describes the routes of a kind. */
export interface RouteTexts {
  list: string;
  create: string;
  read: string;
  update: string;
  remove: string;
  /** What a client should know about creating and changing. */
  notes: string;
}

export const PRIVATE = 'private, no-store';

/** Returns the routes that list, create, read, change and delete the records of one kind. */
export function recordRoutes<Row extends RecordRow, Shown extends object>(workspaces: Workspaces, records: Records<Row, Shown>, texts: RouteTexts): ServerRoute[] {
  const { civic } = workspaces;
  const { name, param, unknown, problems = [], changedBy, schemas: { created, changed, shown, list, filters = {} } } = records.kind;
  const path = `/api/workspaces/{id}/${name}`;
  const params = Joi.object({ id: Joi.string(), [param]: Joi.string() });
  const idIn = (request: Request): string => String(request.params[param]);
  const changing = { auth: writing, notes: texts.notes };
  return [
    {
      method: 'GET',
      path,
      options: {
        description: texts.list,
        notes: 'Only members of the workspace read it.',
        auth: reading,
        validate: { query: Joi.object({ ...filters, ...paging }), params: Joi.object({ id: Joi.string() }) },
        plugins: { civic: { problems: [...CONTEXT_PROBLEMS, 'invalid_cursor'] } },
        response: { schema: list },
      },
      handler: (request, h) => civic.db.snapshot(async (tx) => {
        const page = pageOf<Filters>(request, ['integer']);
        const context = await contextOf(workspaces, tx, request);
        const found = await records.page(tx, context, page.query, { before: page.after && Number(page.after[0]), limit: page.limit });
        return listResponse(request, h, page, { data: found.shown, total: found.total, next: found.next === null ? null : [found.next] });
      }),
    },
    {
      method: 'POST',
      path,
      options: {
        ...changing,
        description: texts.create,
        validate: { query: noQuery, params: Joi.object({ id: Joi.string() }), payload: created },
        plugins: { civic: { problems: [...CONTEXT_PROBLEMS, 'record_limit', ...problems] } },
        response: { status: { 201: shown } },
      },
      async handler(request, h) {
        const record = await civic.db.write(async (tx) => records.create(tx, await contextOf(workspaces, tx, request, changedBy), request.payload as object));
        return h.response(record).code(201).location(civic.url(`${request.path}/${(record as { id?: string }).id}`));
      },
    },
    {
      method: 'GET',
      path: `${path}/{${param}}`,
      options: {
        description: texts.read,
        notes: 'Send its `ETag` as `If-Match` to change exactly this version.',
        auth: reading,
        validate: { query: noQuery, params },
        plugins: { civic: { conditional: true, problems: [...CONTEXT_PROBLEMS, unknown] } },
        response: { schema: shown },
      },
      handler: (request, h) => civic.db.snapshot(async (tx) => {
        const context = await contextOf(workspaces, tx, request);
        const found = await records.showOne(tx, context, await records.row(tx, context, idIn(request)));
        return conditional(request, h, { etag: etagOf(found), cacheControl: PRIVATE }, () => found);
      }),
    },
    {
      method: 'PATCH',
      path: `${path}/{${param}}`,
      options: {
        ...changing,
        description: texts.update,
        validate: { query: noQuery, params, payload: changed },
        plugins: { civic: { problems: [...CONTEXT_PROBLEMS, unknown, 'precondition_failed', ...problems] } },
        response: { schema: shown },
      },
      async handler(request, h) {
        const found = await civic.db.write(async (tx) => {
          const context = await contextOf(workspaces, tx, request, changedBy);
          const row = await records.rowToChange(tx, context, idIn(request));
          checkIfMatch(request, etagOf(await records.showOne(tx, context, row)));
          return records.update(tx, context, row, request.payload as object);
        });
        return h.response(found).header('etag', etagOf(found)).header('cache-control', PRIVATE);
      },
    },
    {
      method: 'DELETE',
      path: `${path}/{${param}}`,
      options: {
        auth: writing,
        description: texts.remove,
        notes: 'With `If-Match`, only when the record has not changed since its ETag was read.',
        validate: { query: noQuery, params },
        plugins: { civic: { problems: [...CONTEXT_PROBLEMS, unknown, 'precondition_failed'] } },
        response: { status: { 204: Joi.any() } },
      },
      async handler(request, h) {
        await civic.db.write(async (tx) => {
          const context = await contextOf(workspaces, tx, request, changedBy);
          const row = await records.rowToChange(tx, context, idIn(request));
          checkIfMatch(request, etagOf(await records.showOne(tx, context, row)));
          await records.remove(tx, context, row);
        });
        return h.response().code(204);
      },
    },
  ];
}

function etagOf(shown: object): string {
  return textEtag(JSON.stringify(shown));
}
