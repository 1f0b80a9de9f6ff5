import type { ServerRoute } from '@hapi/hapi';
import { Joi, listResponse, pageOf, type Reader } from 'civic';
import { CONTEXT_PROBLEMS, contextOf, reading, type OpenContext, type Workspace, type Workspaces } from '../context.ts';
import { csvRow } from '../records/csv.ts';
import { exportPart, exportResponse } from '../records/export.ts';
import { EXPORT_OPTIONS } from '../records/transfer-routes.ts';
import { id, nullable, paging, time } from '../schemas.ts';
import type { UsageHead, UsageLine } from './chain.ts';
import { headOf, linesAfter, linesBefore } from './store.ts';

const COLUMNS = ['seq', 'at', 'meter', 'amount', 'actor', 'via', 'prev_hash', 'hash'] as const;
const params = Joi.object({ id: Joi.string() });
const PAGE = 1000;

const line = Joi.object({
  seq: Joi.number().integer().required(), at: time, meter: Joi.string().required(), amount: Joi.number().integer().required(),
  actor: id.description('The id of the account'), via: Joi.string().valid('key', 'token', 'session').required(), prev_hash: id, hash: id,
}).meta({ name: 'UsageLine' });
const head = Joi.object({ seq: Joi.number().integer().required(), hash: id, seal: nullable.description('An HMAC over the last line, with a key outside the database') });
const list = Joi.object({ data: Joi.array().items(line).required(), total: Joi.number().integer().required(), next_cursor: nullable, head: head.allow(null).required() }).meta({ name: 'UsageList' });

/** Returns the routes of what a workspace used. */
export function usageRoutes(workspaces: Workspaces): ServerRoute[] {
  const { civic } = workspaces;
  return [
    {
      method: 'GET',
      path: '/api/workspaces/{id}/usage',
      options: {
        description: 'What a workspace used, the latest first',
        notes: 'Each line has the hash of the line before it, and `head` seals the last one, so that a changed or removed line is found. Reading is not counted.',
        auth: reading,
        validate: { query: Joi.object(paging), params },
        plugins: { civic: { problems: [...CONTEXT_PROBLEMS, 'invalid_cursor'] } },
        response: { schema: list },
      },
      handler: (request, h) => civic.db.snapshot(async (tx) => {
        const page = pageOf(request, ['integer']);
        const { workspace } = await contextOf(workspaces, tx, request);
        const rows = await linesBefore(tx, workspace.id, page.after && Number(page.after[0]), page.limit + 1);
        const last = await headOf(tx, workspace.id);
        const data = rows.slice(0, page.limit).map(shownLine);
        return listResponse(request, h, page, { data, total: last?.seq ?? 0, next: rows.length > page.limit ? [data.at(-1)!.seq] : null, extra: { head: shownHead(last) } });
      }),
    },
    {
      method: 'GET',
      path: '/api/workspaces/{id}/usage/export',
      options: {
        ...EXPORT_OPTIONS,
        description: 'Export what a workspace used as a file, the first line first',
        notes: 'The JSON has the sealed head, with which the operator can show later that no line is missing. Usage cannot be imported: it is a record of what happened here.',
        validate: { query: Joi.object({ format: Joi.string().valid('json', 'csv').default('json') }), params },
        plugins: { civic: { problems: CONTEXT_PROBLEMS, produces: ['text/csv'] } },
      },
      async handler(request, h) {
        const open = (reader: Reader) => contextOf(workspaces, reader, request);
        const { workspace } = await open(civic.db.read);
        const format = request.query.format as 'json' | 'csv';
        return exportResponse(h, usageText(workspaces, open, workspace, await headOf(civic.db.read, workspace.id), format), { name: 'usage', format });
      },
    },
  ];
}

/** Each exported file has this notice. */
const NOT_IMPORTED = 'Usage cannot be imported.';

/** Returns the lines up to a head, in pieces of text. */
async function* usageText(workspaces: Workspaces, open: OpenContext, { id: workspaceId, name }: Workspace, last: UsageHead | null, format: 'json' | 'csv'): AsyncIterable<string> {
  const start = { format: 'civic workspace usage', version: 1, workspace: { id: workspaceId, name }, exported_at: workspaces.civic.clock.iso(), import: NOT_IMPORTED, head: shownHead(last) };
  yield format === 'csv' ? csvRow([...COLUMNS, 'notice']) : `${JSON.stringify(start).slice(0, -1)},"lines":[`;
  let isFirst = true;
  for (let seq = 0; seq < (last?.seq ?? 0);) {
    const lines = (await exportPart(workspaces, open, (reader) => linesAfter(reader, workspaceId, seq, PAGE))).filter((one) => one.seq <= last!.seq);
    // A line that was removed by hand ends the file, whose head then does not match.
    if (lines.length === 0) break;
    const [first] = isFirst ? lines : [];
    isFirst = false;
    yield lines.map((one) => (format === 'csv' ? csvRow([...COLUMNS.map((column) => one[column]), one === first ? NOT_IMPORTED : null]) : `${one === first ? '' : ','}\n${JSON.stringify(shownLine(one))}`)).join('');
    seq = lines.at(-1)!.seq;
  }
  if (format === 'json') yield '\n]}\n';
}

function shownLine({ seq, at, meter, amount, actor, via, prev_hash, hash }: UsageLine) {
  return { seq, at, meter, amount, actor, via, prev_hash, hash };
}

function shownHead(found: UsageHead | null) {
  return found && { seq: found.seq, hash: found.hash, seal: found.seal };
}
