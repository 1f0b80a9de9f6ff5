import type { Request, ServerRoute } from '@hapi/hapi';
import { Joi, listResponse, pageOf, type Caller } from 'civic';
import type { Ingest } from '../context.ts';
import { newSource, createdSource, readList, source, sourceChange, sourceList, sourceTest } from './schemas.ts';
import { shownRead, shownRows } from './shown.ts';
import type { Owner, SourceChanges, SourceInput, Sources } from './sources.ts';
import { HEALTHS, STATES, type SourceFilter } from './store.ts';

export const PATH = '/api/watched-sources';
export const reading = { mode: 'required' as const, access: { scope: ['workspace:read'] } };
export const writing = { mode: 'required' as const, access: { scope: ['workspace:write'] } };
const params = Joi.object({ id: Joi.string().max(100).description('The id of the source') });
const visibility = Joi.string().valid('workspace', 'public').default('workspace').description('`public`: the sources of the operator, for reviewers');
export const visibilityQuery = Joi.object({ visibility });
const paging = { limit: Joi.number().integer().min(1).max(100).default(25), cursor: Joi.string() };
export const problems = ['permission_required', 'workspace_forbidden'];
const ofOne = [...problems, 'unknown_watched_source'];

type Visible = { visibility: 'workspace' | 'public' };

/** Watched sources: public pages, calendars and feeds that are read again and again. */
export function sourceRoutes({ civic }: Ingest, sources: Sources): ServerRoute[] {
  const ownerOf = (request: Request, { visibility: wanted } = request.query as Visible): Owner => sources.ownerOf(callerOf(request), wanted);

  return [
    {
      method: 'GET',
      path: PATH,
      options: {
        description: 'The watched sources of your workspace, the latest first',
        notes: '`health` shows which sources need attention.',
        auth: reading,
        validate: { query: visibilityQuery.keys({ ...paging, state: Joi.string().valid(...STATES), health: Joi.string().valid(...HEALTHS), tag: Joi.string().max(50) }) },
        plugins: { civic: { problems: [...problems, 'invalid_cursor'] } },
        response: { schema: sourceList },
      },
      async handler(request, h) {
        const page = pageOf<Visible & Omit<SourceFilter, 'workspace_id'>>(request, ['integer']);
        const { state, health, tag } = page.query;
        const filter = { workspace_id: ownerOf(request, page.query).workspace_id, ...(state && { state }), ...(health && { health }), ...(tag && { tag }) };
        const { sources: data, total, next } = await sources.page(civic.db.read, filter, { before: page.after && Number(page.after[0]), limit: page.limit });
        return listResponse(request, h, page, { data, total, next: next === null ? null : [next] });
      },
    },
    {
      method: 'POST',
      path: PATH,
      options: {
        description: 'Watch a public page, calendar or feed',
        notes: 'The address is read before it is stored, unless `test` is false: its platform is recognised, and `sample` has the first rows. Later changes become signals of the workspace.',
        auth: writing,
        validate: { query: Joi.object({}), payload: newSource },
        plugins: { civic: { problems: [...problems, 'source_watched', 'source_unreadable', 'too_many_sources'] } },
        response: { status: { 201: createdSource } },
      },
      async handler(request, h) {
        const { visibility: wanted, test, ...input } = request.payload as SourceInput & Visible & { test: boolean };
        const { source: created, rows } = await sources.create(sources.ownerOf(callerOf(request), wanted), input, { test });
        return h.response({ ...created, sample: shownRows(rows) }).code(201).location(civic.url(`${PATH}/${created.id}`));
      },
    },
    {
      method: 'GET',
      path: `${PATH}/{id}`,
      options: {
        description: 'One watched source, with its health and its next read',
        notes: 'A source of another workspace is 404.',
        auth: reading,
        validate: { query: visibilityQuery, params },
        plugins: { civic: { problems: ofOne } },
        response: { schema: source },
      },
      handler: async (request) => (await sources.shown(civic.db.read, [await sources.found(civic.db.read, ownerOf(request), idIn(request))]))[0]!,
    },
    {
      method: 'PATCH',
      path: `${PATH}/{id}`,
      options: {
        description: 'Change a watched source',
        notes: 'A new address is read before it is stored, unless `test` is false, and then at once; meetings that are known are not published again. A place of another time zone is read at once as well, which corrects the times of meetings. `state` pauses or resumes it.',
        auth: writing,
        validate: { query: visibilityQuery, params, payload: sourceChange },
        plugins: { civic: { problems: [...ofOne, 'source_watched', 'source_unreadable'] } },
        response: { schema: source },
      },
      handler(request) {
        const { test = true, ...changes } = request.payload as SourceChanges & { test?: boolean };
        return sources.change(ownerOf(request), idIn(request), changes, { test });
      },
    },
    {
      method: 'DELETE',
      path: `${PATH}/{id}`,
      options: {
        description: 'Stop watching a source, and delete its history',
        notes: 'Its signals stay.',
        auth: writing,
        validate: { query: visibilityQuery, params },
        plugins: { civic: { problems: ofOne } },
        response: { status: { 204: Joi.any() } },
      },
      async handler(request, h) {
        await civic.db.write((tx) => sources.remove(tx, ownerOf(request), idIn(request)));
        return h.response().code(204);
      },
    },
    {
      method: 'POST',
      path: `${PATH}/{id}/test`,
      options: {
        description: 'Read a watched source now, and return what is found, without storing it',
        notes: '`detail` states what to do when the source cannot be read.',
        auth: writing,
        validate: { query: visibilityQuery, params, payload: Joi.object({}).allow(null) },
        plugins: { civic: { problems: ofOne } },
        response: { schema: sourceTest },
      },
      async handler(request) {
        const row = await sources.found(civic.db.read, ownerOf(request), idIn(request));
        const { url, adapter, rows, fault } = await sources.test({ url: row.url, place: row.place_key, ...(row.platform !== null && { platform: row.platform }) });
        return { url, platform: adapter?.name ?? null, rows: shownRows(rows), total: rows.length, reason: fault?.code ?? null, detail: fault?.detail ?? null };
      },
    },
    {
      method: 'POST',
      path: `${PATH}/{id}/pause`,
      options: {
        description: 'Pause a watched source',
        notes: '`{"paused": false}` resumes it.',
        auth: writing,
        validate: { query: visibilityQuery, params, payload: Joi.object({ paused: Joi.boolean().default(true) }).allow(null) },
        plugins: { civic: { problems: ofOne } },
        response: { schema: source },
      },
      handler(request) {
        const { paused = true } = (request.payload ?? {}) as { paused?: boolean };
        return civic.db.write((tx) => sources.update(tx, ownerOf(request), idIn(request), { state: paused ? 'paused' : 'active' }));
      },
    },
    {
      method: 'GET',
      path: `${PATH}/{id}/history`,
      options: {
        description: 'The reads of a watched source, the latest first',
        notes: 'Each with what it found, or why it failed. Reads are kept for `plugins.ingest.read_days`.',
        auth: reading,
        validate: { query: visibilityQuery.keys(paging), params },
        plugins: { civic: { problems: [...ofOne, 'invalid_cursor'] } },
        response: { schema: readList },
      },
      async handler(request, h) {
        const page = pageOf<Visible>(request, ['integer']);
        const row = await sources.found(civic.db.read, ownerOf(request, page.query), idIn(request));
        const { rows, total } = await sources.history(civic.db.read, row, { before: page.after && Number(page.after[0]), limit: page.limit + 1 });
        const shown = rows.slice(0, page.limit);
        return listResponse(request, h, page, { data: shown.map(shownRead), total, next: rows.length > page.limit ? [Number(shown.at(-1)!.key)] : null });
      },
    },
  ];
}

function callerOf(request: Request): Caller {
  return request.auth.credentials as unknown as Caller;
}

function idIn(request: Request): string {
  return String(request.params['id']);
}
