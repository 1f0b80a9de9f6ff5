import { Joi, type Reader, type Tx } from 'civic';
import type { ServerRoute } from '@hapi/hapi';
import { CONTEXT_PROBLEMS, contextOf, type OpenContext, type WorkspaceContext, type Workspaces } from '../context.ts';
import { EXPORT_END, exportPart, exportQuery, exportResponse, exportStart, type ExportFormat, type Transfer } from '../records/export.ts';
import { csvRow } from '../records/csv.ts';
import { csvRows, importBody, importRecords } from '../records/import.ts';
import { plainMarkdown, quotedMarkdown } from '../records/markdown.ts';
import { EXPORT_OPTIONS, IMPORT_OPTIONS, PRODUCES } from '../records/transfer-routes.ts';
import { noQuery } from '../schemas.ts';
import type { Lists } from './lists.ts';
import { newList, newItem, type List, type ListItem } from './schemas.ts';

/** A response keeps these entries while its client does not read. */
const ITEMS = 50;

/** One list: its entries are the rows of the CSV. */
const listTransfer: Transfer<List> = {
  title: 'List',
  columns: ['list', 'entity_id', 'entity_name', 'entity_state', 'note', 'added_at', 'list_description'],
  rows: ({ name, description, items = [] }) => items.map(({ entity_id, entity, note, added_at }) => [name, entity_id, entity.name, entity.state, note, added_at, description]),
  ofRow: ({ entity_id, note }) => ({ entity_id, note: note === undefined || note === '' ? null : note }),
  ofRecord: ({ entity_id, note }) => ({ entity_id, note }),
  markdown: ({ name, description, items = [] }) => [listMarkdown({ name, description }), ...items.map(itemMarkdown)].join('\n'),
};

function listMarkdown({ name, description }: Pick<List, 'name' | 'description'>): string {
  return [`## ${plainMarkdown(name)}`, ...(description === null ? [] : ['', quotedMarkdown(description)]), ''].join('\n');
}

function itemMarkdown({ entity_id, entity: { name, state, merged_into }, note }: ListItem): string {
  const became = state === 'current' ? '' : ` (${state}${merged_into === null ? '' : ` into \`${merged_into}\``})`;
  return `- ${plainMarkdown(name ?? entity_id)}${became}, \`${entity_id}\`${note === null ? '' : `: ${plainMarkdown(note)}`}`;
}

/** Returns the routes that export a list, and that fill a list from an export. */
export function listTransferRoutes(workspaces: Workspaces, lists: Lists): ServerRoute[] {
  const { civic } = workspaces;
  return [
    {
      method: 'GET',
      path: '/api/workspaces/{id}/lists/{list_id}/export',
      options: {
        ...EXPORT_OPTIONS,
        description: 'Export a list with all its entries as a file',
        notes: 'JSON and CSV can be imported again; Markdown is for reading. An export is counted in the usage of the workspace.',
        validate: { query: exportQuery, params: Joi.object({ id: Joi.string(), list_id: Joi.string() }) },
        plugins: { civic: { problems: [...CONTEXT_PROBLEMS, 'unknown_list'], produces: PRODUCES } },
      },
      async handler(request, h) {
        const open = (reader: Reader) => contextOf(workspaces, reader, request);
        const { id } = await civic.db.write(async (tx) => {
          const context = await open(tx);
          const row = await lists.row(tx, context, String(request.params.list_id));
          await workspaces.use(tx, context, 'exports');
          return row;
        });
        const format = request.query.format as ExportFormat;
        return exportResponse(h, listExport(workspaces, lists, open, id, format), { name: 'list', format });
      },
    },
    {
      method: 'POST',
      path: '/api/workspaces/{id}/lists/import',
      options: {
        ...IMPORT_OPTIONS,
        description: 'Create a list from an export',
        notes: 'The body is the file: the JSON export, or the CSV export as `text/csv`. The rows of the report are the entries of the list. An entry that no longer exists, or that the caller may not read, is refused; the others are added.',
        validate: { query: noQuery, params: Joi.object({ id: Joi.string() }), payload: importBody },
        plugins: { civic: { problems: [...CONTEXT_PROBLEMS, 'invalid_request', 'record_limit'] } },
      },
      async handler(request) {
        const { name, description, items } = await listIn(request.payload);
        const list = await civic.db.write(async (tx) => lists.create(tx, await contextOf(workspaces, tx, request), { name, description }));
        const add = async (tx: Tx, context: WorkspaceContext, given: { entity_id: string }) => lists.add(tx, context, await lists.rowToChange(tx, context, list.id), given);
        return importRecords(workspaces, items, 'lists', listTransfer, newItem, add, (tx) => contextOf(workspaces, tx, request));
      },
    },
  ];
}

/** Returns the text of the export of a list with all its entries, in pieces. Throws when the list is deleted before its end. */
export async function* listExport(workspaces: Workspaces, lists: Lists, open: OpenContext, listId: string, format: ExportFormat): AsyncIterable<string> {
  const readPart = (after: number | null) => exportPart(workspaces, open, async (reader, context) => {
    const row = await lists.row(reader, context, listId);
    return { row, context, ...await lists.items(reader, context, row, { after, limit: ITEMS }) };
  });
  let part = await readPart(null);
  const { id, name } = part.context.workspace;
  const [list] = await lists.kind.show(workspaces.civic.db.read, part.context, [part.row]) as [List];
  yield exportStart({ kind: 'lists', workspace: { id, name }, exported_at: workspaces.civic.clock.iso() }, listTransfer, format);
  if (format === 'md') yield `\n${listMarkdown(list)}`;
  if (format === 'json') yield `\n${JSON.stringify(list).slice(0, -1)},"items":[`;
  for (let isFirst = true; ; part = await readPart(part.next)) {
    for (const item of part.items) {
      if (format === 'csv') yield listTransfer.rows({ ...list, items: [item] }).map(csvRow).join('');
      else if (format === 'md') yield `\n${itemMarkdown(item)}`;
      else yield `${isFirst ? '' : ','}${JSON.stringify(item)}`;
      isFirst = false;
    }
    if (part.next === null) break;
  }
  if (format === 'md') yield '\n';
  if (format === 'json') yield `]}${EXPORT_END}`;
}

/** Returns the name of the list in a file, and its entries as a file of their own. */
async function listIn(body: unknown): Promise<{ name: string; description: string | null; items: unknown }> {
  if (typeof body === 'string') {
    const [first] = await csvRows(body);
    return { ...namedList(first?.list, first?.list_description || null), items: body };
  }
  const file = body as { records: Record<string, any>[] };
  const items = Array.isArray(file.records[0]?.items) ? file.records[0].items : [];
  return { ...namedList(file.records[0]?.name, file.records[0]?.description), items: { ...file, records: items } };
}

function namedList(name: unknown, description: unknown): { name: string; description: string | null } {
  const { value, error } = newList.validate({ name, description }, { convert: false });
  return error ? { name: 'Imported list', description: null } : { name: value.name, description: value.description };
}
