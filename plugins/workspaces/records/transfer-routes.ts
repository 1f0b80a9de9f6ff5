import type { ServerRoute } from '@hapi/hapi';
import { Joi, type Reader } from 'civic';
import { CONTEXT_PROBLEMS, contextOf, reading, writing, type Workspaces } from '../context.ts';
import { noQuery } from '../schemas.ts';
import { exportQuery, exportResponse, exportText, pagesOf, TYPES, type ExportFormat, type Transfer } from './export.ts';
import { importBody, importRecords, importReport } from './import.ts';
import type { Records } from './records.ts';
import type { RecordRow } from './store.ts';

const params = Joi.object({ id: Joi.string() });
const MOST_BYTES = 8 * 1024 * 1024;

/** Options that exports and imports of all kinds have. */
export const EXPORT_OPTIONS = { auth: reading, response: { status: { 200: true as never } } };
export const IMPORT_OPTIONS = { auth: writing, payload: { allow: ['application/json', 'text/csv'], maxBytes: MOST_BYTES }, response: { schema: importReport } };
export const PRODUCES = Object.values(TYPES).filter((type) => type !== 'application/json');

/** Returns the routes that export all records of a kind and import them again. */
export function transferRoutes<Row extends RecordRow, Shown extends object>(workspaces: Workspaces, records: Records<Row, Shown>, transfer: Transfer<Shown>): ServerRoute[] {
  const { civic } = workspaces;
  const { name, changedBy, problems = [], schemas: { created } } = records.kind;
  const noun = name.replaceAll('-', ' ');
  return [
    {
      method: 'GET',
      path: `/api/workspaces/{id}/${name}/export`,
      options: {
        ...EXPORT_OPTIONS,
        description: `Export the ${noun} of a workspace as a file`,
        notes: 'JSON and CSV can be imported again; Markdown is for reading. An export is counted in the usage of the workspace.',
        validate: { query: exportQuery, params },
        plugins: { civic: { problems: CONTEXT_PROBLEMS, produces: PRODUCES } },
      },
      async handler(request, h) {
        const open = (reader: Reader) => contextOf(workspaces, reader, request);
        const context = await civic.db.write(async (tx) => {
          const opened = await open(tx);
          await workspaces.use(tx, opened, 'exports');
          return opened;
        });
        const { id, name: workspaceName } = context.workspace;
        const format = request.query.format as ExportFormat;
        const head = { kind: name, workspace: { id, name: workspaceName }, exported_at: civic.clock.iso() };
        return exportResponse(h, exportText(head, transfer, format, pagesOf(workspaces, records, open)), { name, format });
      },
    },
    {
      method: 'POST',
      path: `/api/workspaces/{id}/${name}/import`,
      options: {
        ...IMPORT_OPTIONS,
        description: `Import ${noun} from an export`,
        notes: 'The body is the file: the JSON export, or the CSV export as `text/csv`. Records are created again with new ids. A record that is refused is reported with its row, and the others are created.',
        validate: { query: noQuery, params, payload: importBody },
        plugins: { civic: { problems: [...CONTEXT_PROBLEMS, ...problems.filter((code) => code === 'invalid_request')] } },
      },
      handler: (request) => importRecords(workspaces, request.payload, name, transfer, created, records.create, (tx) => contextOf(workspaces, tx, request, changedBy)),
    },
  ];
}
