import type { ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { Joi, problem, type Reader } from 'civic';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { OpenContext, WorkspaceContext, Workspaces } from '../context.ts';
import { csvRow, type Cells } from './csv.ts';
import { plainMarkdown } from './markdown.ts';
import type { Records } from './records.ts';
import type { RecordRow } from './store.ts';

export const FORMATS = ['json', 'csv', 'md'] as const;
export type ExportFormat = (typeof FORMATS)[number];
export const TYPES: Record<ExportFormat, string> = { json: 'application/json', csv: 'text/csv', md: 'text/markdown' };
export const exportQuery = Joi.object({ format: Joi.string().valid(...FORMATS).default('json') });

/** How the records of a kind are written to files, and read from them. */
export interface Transfer<Shown> {
  title: string;
  /** The columns of the CSV; those that an import does not read are for people. */
  columns: string[];
  rows(shown: Shown): unknown[][];
  /** Returns the body that creates the record of a row again. */
  ofRow(cells: Cells): object;
  /** Returns the body that creates an exported record again. */
  ofRecord(record: Record<string, any>): object;
  markdown(shown: Shown): string;
}

export interface ExportHead {
  kind: string;
  workspace: { id: string; name: string };
  exported_at: string;
}

/** The name and version of the JSON export, which an import checks. */
export const EXPORT_NAME = 'civic workspace export';
export const EXPORT_VERSION = 1;

/** A response keeps the records of a page while its client does not read, and briefs are long. */
const PAGE = 10;
/** What an import does not restore, stated in each export. */
const NOT_RESTORED = 'An import creates the records again, with new ids, times and authors.';
const FOR_READING = 'This file is for reading. Import the JSON or the CSV export instead.';

/** Returns the text of an export in pieces. */
export async function* exportText<Shown>(head: ExportHead, transfer: Transfer<Shown>, format: ExportFormat, pages: AsyncIterable<Shown[]>): AsyncIterable<string> {
  yield exportStart(head, transfer, format);
  let isFirst = true;
  for await (const page of pages) {
    for (const shown of page) {
      if (format === 'csv') yield transfer.rows(shown).map(csvRow).join('');
      else if (format === 'md') yield `\n${transfer.markdown(shown)}\n`;
      else yield `${isFirst ? '' : ','}\n${JSON.stringify(shown)}`;
      isFirst = false;
    }
  }
  if (format === 'json') yield EXPORT_END;
}

/** What a JSON export has after its records. */
export const EXPORT_END = '\n]}\n';

/** Returns what an export has before its records. */
export function exportStart(head: ExportHead, { title, columns }: Pick<Transfer<never>, 'title' | 'columns'>, format: ExportFormat): string {
  if (format === 'csv') return csvRow(columns);
  if (format === 'md') return `# ${plainMarkdown(title)}: ${plainMarkdown(head.workspace.name)}\n\nExported at ${head.exported_at}. ${FOR_READING}\n`;
  return `${JSON.stringify({ format: EXPORT_NAME, version: EXPORT_VERSION, ...head, import: NOT_RESTORED }).slice(0, -1)},"records":[`;
}

/** Reads a part of an export. Throws when the membership or the workspace has ended, or the account was disabled, since the export began: a client may read for hours. */
export async function exportPart<Part>({ civic, accounts }: Workspaces, open: OpenContext, read: (reader: Reader, context: WorkspaceContext) => Promise<Part>): Promise<Part> {
  return civic.db.snapshot(async (tx) => {
    const context = await open(tx);
    const account = await accounts.account(tx, context.caller.account_id);
    if (account?.disabled_at !== null) throw problem('unknown_workspace');
    return read(tx, context);
  });
}

/** Returns all records of a kind in pages, the latest first. */
export async function* pagesOf<Row extends RecordRow, Shown extends object>(workspaces: Workspaces, records: Records<Row, Shown>, open: OpenContext, limit = PAGE): AsyncIterable<Shown[]> {
  for (let before: number | null = null; ;) {
    const { shown, next } = await exportPart(workspaces, open, (reader, context) => records.page(reader, context, {}, { before, limit }));
    yield shown;
    if (next === null) return;
    before = next;
  }
}

/** Returns the response of an export, as a file to save. */
export function exportResponse(h: ResponseToolkit, text: AsyncIterable<string>, { name, format }: { name: string; format: ExportFormat }): ResponseObject {
  const body = Readable.from(text, { objectMode: false });
  // To a client without chunks (HTTP/1.0) a connection that is only closed looks like the end of the file.
  body.once('error', () => reset(h.request.raw.req.socket));
  return h.response(body).type(`${TYPES[format]}; charset=utf-8`)
    .header('content-disposition', `attachment; filename="${name}.${format}"`).header('cache-control', 'private, no-store');
}

/** Only connections of TCP can be reset. */
function reset(socket: Partial<Socket>): void {
  try {
    socket.resetAndDestroy!();
  } catch {
    socket.destroy?.();
  }
}
