import type { Lifecycle, RouteOptions, ServerRoute } from '@hapi/hapi';
import { Joi, listResponse, pageOf } from 'civic';
import { CONTEXT_PROBLEMS, contextOf, reading, type Workspaces } from '../context.ts';
import { PRIVATE, recordRoutes } from '../records/routes.ts';
import { paging } from '../schemas.ts';
import { readDigest } from './digest.ts';
import { digestList, watchShown } from './schemas.ts';
import type { DigestFilter } from './store.ts';
import type { Watches } from './watches.ts';

const moment = Joi.string().isoDate();

/** Returns the routes of watches and of the digest. */
export function watchRoutes(workspaces: Workspaces, watches: Watches): ServerRoute[] {
  const { civic } = workspaces;
  const create: Lifecycle.Method = async (request, h) => {
    const { watch, isNew } = await civic.db.write(async (tx) => watches.ensure(tx, await contextOf(workspaces, tx, request), request.payload as Parameters<Watches['ensure']>[2]));
    return isNew ? h.response(watch).code(201).location(civic.url(`${request.path}/${watch.id}`)) : watch;
  };
  const routes = recordRoutes(workspaces, watches, {
    list: 'The watches of a workspace, the latest first',
    create: 'Watch an entity, a place, an issue area, a coverage target, or all signals of a query',
    read: 'One watch',
    update: 'Change how a watch is delivered',
    remove: 'Delete a watch',
    notes: 'New signals that match appear in the digest and the private feed of the workspace. Mails go to the member who created the watch. A target that the member watches already is returned as it is, with 200.',
  });
  return [
    ...routes.map((route) => (route.method === 'POST' ? { ...route, options: { ...route.options as RouteOptions, response: { status: { 200: watchShown, 201: watchShown } } }, handler: create } : route)),
    {
      method: 'GET',
      path: '/api/workspaces/{id}/digest',
      options: {
        description: 'What the watches of a workspace found, the latest first',
        notes: 'Each signal appears once, in its current version, with the watches that it matched. `since` and `until` compare `matched_at`. Signals that were withdrawn, or that the workspace may no longer see, disappear.',
        auth: reading,
        validate: { query: Joi.object({ since: moment, until: moment, ...paging }), params: Joi.object({ id: Joi.string() }) },
        plugins: { civic: { problems: [...CONTEXT_PROBLEMS, 'invalid_cursor'] } },
        response: { schema: digestList(watches.firehose.signalSchema()) },
      },
      handler: (request, h) => civic.db.snapshot(async (tx) => {
        const page = pageOf<DigestFilter>(request, ['integer']);
        const context = await contextOf(workspaces, tx, request);
        const { items, total, next } = await readDigest(watches, tx, context, inUtc(page.query), { before: page.after && Number(page.after[0]), limit: page.limit });
        return listResponse(request, h, page, { data: items, total, next: next === null ? null : [next] }).header('cache-control', PRIVATE);
      }),
    },
  ];
}

/** Returns times in the form of stored ones, with which they are compared as text. */
function inUtc({ since, until }: DigestFilter): DigestFilter {
  return { ...(since !== undefined && { since: new Date(since).toISOString() }), ...(until !== undefined && { until: new Date(until).toISOString() }) };
}
