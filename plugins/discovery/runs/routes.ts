import type { Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { Joi, listResponse, pageOf, type Caller } from 'civic';
import { ownerOf, type Discovery, type Owner, type RunVisibility } from '../context.ts';
import { cancelRun } from './cancel.ts';
import type { RunEvents } from './events.ts';
import { pagesPage } from './pages-store.ts';
import { foundRun, RUNS, shownPage, shownRuns, type ShownRun } from './runs.ts';
import { newRun, run, runList, runMessages, sourceList } from './schemas.ts';
import { startRun, type NewRun } from './start.ts';
import { STATUSES, type Status } from './store.ts';

export const reading = { mode: 'required' as const, access: { scope: ['discovery:read'] } };
export const visibilityQuery = Joi.object({ visibility: Joi.string().valid('workspace', 'public').default('workspace').description('`public`: runs of the operator, for reviewers') });
export const paging = { limit: Joi.number().integer().min(1).max(100).default(25), cursor: Joi.string() };
export const problems = ['permission_required', 'workspace_forbidden'];

export const writing = { mode: 'required' as const, access: { scope: ['discovery:write'] } };
const params = Joi.object({ id: Joi.string().max(100).description('The id of the run') });
const RETRY_SECONDS = 5;

export function runRoutes(discovery: Discovery, events: RunEvents): ServerRoute[] {
  const { civic } = discovery;
  /** Clients poll a run that has not ended. */
  const respond = (h: ResponseToolkit, shown: ShownRun) => {
    const response = h.response(shown);
    return shown.status === 'pending' || shown.status === 'running' ? response.header('retry-after', String(RETRY_SECONDS)) : response;
  };

  return [
    {
      method: 'POST',
      path: RUNS,
      options: {
        description: 'Start a discovery run',
        notes: 'It reads the seeds and likely pages of their sites, and collects candidates. Poll the run at `Location`, not more often than `Retry-After` states.',
        auth: writing,
        validate: { query: visibilityQuery, payload: newRun },
        plugins: { civic: { plan: 'discovery', problems: [...problems, 'run_quota_spent'] } },
        response: { status: { 202: run } },
      },
      async handler(request, h) {
        const caller = callerOf(request);
        const by = { ...caller, ...ownerOfRequest(request) };
        const shown = await civic.db.write(async (tx) => (await shownRuns(discovery, tx, [await startRun(discovery, tx, by, request.payload as NewRun)]))[0]!);
        return respond(h, shown).code(202).location(shown.links.self);
      },
    },
    {
      method: 'POST',
      path: `${RUNS}/{id}/cancel`,
      options: {
        description: 'Cancel a run',
        notes: 'Its status is then `failed`, with the error code `cancelled`. Candidates that were found stay.',
        auth: writing,
        validate: { query: visibilityQuery, params, payload: Joi.object({}).allow(null) },
        plugins: { civic: { problems: [...problems, 'unknown_run', 'run_ended'] } },
        response: { schema: run },
      },
      handler: (request) => civic.db.write(async (tx) => (await shownRuns(discovery, tx, [await cancelRun(discovery, tx, ownerOfRequest(request), String(request.params.id))]))[0]!),
    },
    {
      method: 'GET',
      path: `${RUNS}/{id}/sources`,
      options: {
        description: 'The pages of a run, in the order in which they were found',
        notes: 'With what became of each: read, waiting, or skipped with the reason.',
        auth: reading,
        validate: { query: visibilityQuery.keys(paging), params },
        plugins: { civic: { problems: [...problems, 'unknown_run', 'invalid_cursor'] } },
        response: { schema: sourceList },
      },
      async handler(request, h) {
        const page = pageOf(request, ['integer']);
        const row = await foundRun(civic.db.read, ownerOf(callerOf(request), (page.query as { visibility: RunVisibility }).visibility), String(request.params.id));
        const { rows, total } = await pagesPage(civic.db.read, row.key, { after: page.after && Number(page.after[0]), limit: page.limit + 1 });
        const shown = rows.slice(0, page.limit);
        const data = shown.map(({ url, state, reason, detail, title, content_hash, retrieved_at, found, issue_areas }) => ({ url, state, reason, detail, title, content_hash, retrieved_at, findings: found, issue_areas: JSON.parse(issue_areas ?? '[]') as string[] }));
        return listResponse(request, h, page, { data, total, next: rows.length > page.limit ? [Number(shown.at(-1)!.key)] : null });
      },
    },
    {
      method: 'GET',
      path: `${RUNS}/{id}/events`,
      options: {
        description: 'The progress of a run as a stream of events',
        notes: 'Server-sent events: `progress` at once and after each change, at the end `completed` or `failed`, and then the stream closes. The data of each is the run. Events that the client did not read in time are replaced by the latest. A client that connects again with the id of the last event gets 204.',
        auth: reading,
        validate: { query: visibilityQuery, params, headers: Joi.object({ 'last-event-id': Joi.string().allow('').description('The id of the last event that the client has; sent by browsers') }).unknown() },
        plugins: { civic: { rate: 'stream', headers: ['Cache-Control'], problems: [...problems, 'unknown_run', 'too_many_requests', 'unavailable'], stream: { protocol: 'sse', send: runMessages } } },
        response: { status: { 200: true, 204: Joi.any() } as never, sample: 0 },
      },
      handler: async (request, h) => events.open(request, h, await foundRun(civic.db.read, ownerOfRequest(request), String(request.params.id)), callerOf(request)),
    },
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
        validate: { query: visibilityQuery, params },
        plugins: { civic: { problems: [...problems, 'unknown_run'] } },
        response: { schema: run },
      },
      handler: async (request, h) => respond(h, (await shownRuns(discovery, civic.db.read, [await foundRun(civic.db.read, ownerOfRequest(request), String(request.params.id))]))[0]!),
    },
  ];
}

export function callerOf(request: Request): Caller {
  return request.auth.credentials as unknown as Caller;
}

export function ownerOfRequest(request: Request): Owner {
  return ownerOf(callerOf(request), (request.query as { visibility: RunVisibility }).visibility);
}
