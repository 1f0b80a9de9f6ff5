import type { Lifecycle, Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { isId, Joi, newId, problem, respondOnce, type Caller, type Civic, type ProblemKinds, type Reader } from 'civic';
import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { authenticatedCaller, callerOf, checkOwner, mayPublish, workspaceAsked } from '../access.ts';
import type { DirectoryContext } from '../actors/context.ts';
import { foundKeys } from '../actors/reads.ts';
import type { Ledger } from '../ledger/service.ts';
import { exportLines } from './export.ts';
import { FORMATS, formatByName } from './formats.ts';
import { exportQuery, importQuery, importRecord, importRecordOf, type ExportQuery, type ImportQuery } from './schemas.ts';
import type { Transfer } from './service.ts';
import type { ImportRow } from './store.ts';
import { MOST_BYTES, saveBody } from './save.ts';

export const transferProblems = {
  too_many_imports: { status: 429, title: 'Too many imports at the same time', advice: 'Wait until one of them has ended, as GET /api/imports/{id} reports, and send the file again. The operator can raise plugins.directory.uploads.' },
  unknown_import: { status: 404, title: 'No such import', advice: 'It may be older than 30 days, or belong to somebody else.' },
} satisfies ProblemKinds;

export interface TransferRoutes extends DirectoryContext {
  civic: DirectoryContext['civic'] & Pick<Civic, 'instance'>;
  ledger: Ledger;
  transfer: Transfer;
}

const TYPES = [...new Set([...FORMATS.map(({ type }) => type), 'application/json', 'application/jsonl', 'text/plain', 'text/yaml', 'application/octet-stream'])];
const writer = { mode: 'required' as const, access: { scope: ['entities:write'] } };
const params = Joi.object({ id: Joi.string() });
const noQuery = Joi.object({});

export function transferRoutes(context: TransferRoutes): ServerRoute[] {
  const { civic, transfer } = context;
  return [
    {
      method: 'POST',
      path: '/api/imports',
      options: {
        description: 'Import a file: the body is the file, a job reads it',
        notes: 'Up to 32 MB, with one of the listed media types; `format` names the format of the file. `Location` is the URL of its progress. Importing the same file again changes nothing.',
        auth: writer,
        payload: { output: 'stream', parse: 'gunzip', maxBytes: MOST_BYTES, allow: TYPES },
        validate: { query: importQuery },
        plugins: { civic: { problems: ['invalid_request', 'permission_required', 'too_many_imports'] } },
        response: { status: { 202: importRecord } },
      },
      handler: (request, h) => upload(context, request, h),
    },
    {
      method: 'GET',
      path: '/api/imports/{id}',
      options: {
        description: 'How far an import is, and what became of its rows',
        notes: 'Only members of the workspace of the import see it, and the account that started it while it is one of them; an access token sees the imports of its own workspace. While it runs, `Retry-After` is the time until the next request.',
        auth: writer,
        validate: { query: noQuery, params },
        plugins: { civic: { problems: ['unknown_import'] } },
        response: { schema: importRecord },
      },
      async handler(request, h) {
        const row = await importFor(transfer, request);
        const response = h.response(importRecordOf(row, civic.url)).header('cache-control', 'private, no-store');
        return row.finished_at === null ? response.header('retry-after', '1') : response;
      },
    },
    {
      method: 'GET',
      path: '/api/imports/{id}/rejects',
      options: {
        description: 'The rows that were rejected, a line each, with the reason',
        notes: 'NDJSON: the number of the row, the reason and the row itself.',
        auth: writer,
        validate: { query: noQuery, params },
        plugins: { civic: { problems: ['unknown_import'], produces: ['application/x-ndjson'] } },
        response: { status: { 200: true as never } },
      },
      async handler(request, h) {
        const { rejects_path: path, rejects_bytes: bytes } = await importFor(transfer, request);
        const isThere = bytes > 0 && await stat(path).then(() => true, () => false);
        const body = isThere ? createReadStream(path, { end: bytes - 1 }) : Readable.from([], { objectMode: false });
        return h.response(body).type('application/x-ndjson').header('cache-control', 'private, no-store');
      },
    },
    {
      method: 'GET',
      path: '/api/exports/entities',
      options: {
        description: 'All actors with their places, claims and sources, or those of a search, streamed',
        notes: 'Public actors; `visibility=workspace` adds those of your workspace. `format` chooses the media type. The filters are those of `GET /api/entities`; an export of a search has no judgements.',
        validate: { query: exportQuery },
        plugins: { civic: { problems: ['authentication_required', 'insufficient_scope'], produces: [...new Set(FORMATS.filter((format) => format.writes).map(({ type }) => type))] } },
        response: { status: { 200: true as never } },
      },
      handler: (request, h) => download(context, request, h),
    },
  ];
}

async function upload({ civic, transfer }: TransferRoutes, request: Request, h: ResponseToolkit): Promise<Lifecycle.ReturnValueTypes> {
  const caller = callerOf(request)!;
  const { format, source_url, timezone, visibility, join } = request.query as unknown as ImportQuery;
  if (visibility === 'public' && !mayPublish(caller)) {
    throw problem('permission_required', { detail: 'Only reviewers and administrators import public actors; leave visibility out, and they belong to your workspace.' });
  }
  checkOwner(visibility, caller, { parameter: 'visibility' });
  const id = newId();
  const path = transfer.uploads.path(id);
  let isQueued = false;

  async function enqueue(bytes: number): Promise<ResponseObject> {
    await civic.db.write((tx) => transfer.enqueue(tx, id, bytes, {
      format: formatByName(format)!, source: source_url ?? null, timezone: timezone ?? null, visibility,
      account_id: caller.account_id, workspace_id: caller.workspace_id, may_change_public: mayPublish(caller), joins: join ?? null,
    }));
    isQueued = true;
    const row = (await transfer.importById(id))!;
    return h.response(importRecordOf(row, civic.url)).code(202).header('location', civic.url(`/api/imports/${id}`)).header('retry-after', '1');
  }

  return transfer.uploads.receive(caller.account_id, async () => {
    try {
      const { bytes, hash } = await saveBody(request.payload as Readable | null, path);
      if (bytes === 0) throw problem('invalid_request', { detail: 'The body is empty: send the file itself.' });
      return await respondOnce(request, h, hash, () => enqueue(bytes));
    } finally {
      if (!isQueued) await rm(path, { force: true });
    }
  });
}

/** Returns the import of the path for members of its workspace; one of no workspace for the account that started it. Others get 404, administrators too. */
async function importFor(transfer: Transfer, request: Request): Promise<ImportRow> {
  const id = String(request.params.id);
  const caller = callerOf(request)!;
  const row = isId(id) ? await transfer.importById(id.toLowerCase()) : undefined;
  if (!row || !await maySeeImport(transfer, row, caller)) throw problem('unknown_import', { detail: `No import has the id ${id.slice(0, 100)}.` });
  return row;
}

/** The account that started an import sees it from its other workspaces, too; its access tokens are for one workspace. */
async function maySeeImport({ authority }: Transfer, { account_id, workspace_id }: ImportRow, caller: Caller): Promise<boolean> {
  const isOwn = account_id === caller.account_id;
  if (workspace_id === null) return isOwn;
  return workspace_id === caller.workspace_id || (isOwn && caller.via !== 'token' && authority.isMember(caller.account_id, workspace_id));
}

function download(context: TransferRoutes, request: Request, h: ResponseToolkit): ResponseObject {
  const { civic, ledger } = context;
  const { format: name, visibility, ...search } = request.query as unknown as ExportQuery;
  const format = formatByName(name)!;
  const workspaceId = workspaceAsked(authenticatedCaller(request), visibility);
  const gone = new AbortController();
  request.events.once('disconnect', () => { gone.abort(); });
  const isSearch = Object.values(search).some((value) => value !== undefined);
  const found = (reader: Reader) => foundKeys(context, reader, { sort: 'relevance', facets: false, ...search }, workspaceId);
  const lines = exportLines({ civic, ledger, format, workspaceId, signal: gone.signal, ...(isSearch && { found }) });
  const body = Readable.from(piecesOf(lines), { objectMode: false });
  return h.response(body).type(format.type)
    .header('content-disposition', `attachment; filename="civic-${name}${format.extension}"`)
    .header('cache-control', workspaceId === null ? 'public, no-cache' : 'private, no-store');
}

const PIECE = 64 * 1024;

/** Lines in pieces worth sending. */
export async function* piecesOf(lines: AsyncIterable<string>): AsyncIterable<string> {
  let piece = '';
  for await (const line of lines) {
    piece += `${line}\n`;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  if (piece) yield piece;
}
