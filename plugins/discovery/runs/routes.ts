import type { Request, ServerRoute } from '@hapi/hapi';
import { Joi, listResponse, pageOf, type Caller } from 'civic';
import { ownerOf, type Discovery, type Owner, type RunVisibility } from '../context.ts';
import { foundRun, RUNS, shownPage, shownRuns } from './runs.ts';
import { run, runList } from './schemas.ts';
import { STATUSES, type Status } from './store.ts';

export const reading = { mode: 'required' as const, access: { scope: ['discovery:read'] } };
export const visibilityQuery = Joi.object({ visibility: Joi.string().valid('workspace', 'public').default('workspace').description('`public`: runs of the operator, for reviewers') });
export const paging = { limit: Joi.number().integer().min(1).max(100).default(25), cursor: Joi.string() };
export const problems = ['permission_required', 'workspace_forbidden'];

export function runRoutes(discovery: Discovery): ServerRoute[] {
  const { civic } = discovery;
  return [
    {
      method: 'GET',
      path: RUNS,
      options: {
        description: 'Discovery runs, the latest first',
        notes: 'Yours, or with `scope=workspace` all of your workspace, which include those of its watched sources.',
        auth: reading,
        validate: { query: visibilityQuery.keys({ ...paging, status: Joi.string().valid(...STATUSES), scope: Joi.string().valid('mine', 'workspace').default('mine') }) },
        plugins: { civic: { problems: [...problems, 'invalid_cursor'] } },
        response: { schema: runList },
      },
      async handler(request, h) {
        const page = pageOf(request, ['integer']);
        const { status, scope, visibility } = page.query as { status?: Status; scope: 'mine' | 'workspace'; visibility: RunVisibility };
        // Runs of the operator belong to no account.
        const isMine = scope === 'mine' && visibility === 'workspace';
        const filter = { ...ownerOf(callerOf(request), visibility), ...(isMine && { account_id: callerOf(request).account_id }), ...(status && { status }) };
        const { data, total, next } = await shownPage(discovery, civic.db.read, filter, { before: page.after && Number(page.after[0]), limit: page.limit });
        return listResponse(request, h, page, { data, total, next: next === null ? null : [next] });
      },
    },
    {
      method: 'GET',
      path: `${RUNS}/{id}`,
      options: {
        description: 'One discovery run, with its progress and counts',
        notes: '`completed` means that the search has ended, not that its candidates are verified or public.',
        auth: reading,
        validate: { query: visibilityQuery, params: Joi.object({ id: Joi.string().max(100).description('The id of the run') }) },
        plugins: { civic: { problems: [...problems, 'unknown_run'] } },
        response: { schema: run },
      },
      handler: async (request) => (await shownRuns(discovery, civic.db.read, [await foundRun(civic.db.read, ownerOfRequest(request), String(request.params.id))]))[0]!,
    },
  ];
}

export function callerOf(request: Request): Caller {
  return request.auth.credentials as unknown as Caller;
}

export function ownerOfRequest(request: Request): Owner {
  return ownerOf(callerOf(request), (request.query as { visibility: RunVisibility }).visibility);
}
