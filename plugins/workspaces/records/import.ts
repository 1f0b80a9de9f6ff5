import { Joi, problem, problemOf, type Tx } from 'civic';
import type { WorkspaceContext, Workspaces } from '../context.ts';
import { EXPORT_NAME, EXPORT_VERSION, type Transfer } from './export.ts';
import { readCsv, type Cells } from './csv.ts';

export interface ImportReport {
  created: number;
  /** Rows that were not imported, with the reason. */
  rejected: { row: number; code: string; detail: string }[];
}

export const importReport = Joi.object<ImportReport, true>({
  created: Joi.number().integer().required(),
  rejected: Joi.array().items(Joi.object({ row: Joi.number().integer().required().description('From 1 on'), code: Joi.string().required(), detail: Joi.string().required() })).required(),
}).meta({ name: 'WorkspaceImportReport' });

/** Of one import. */
const MOST_RECORDS = 5000;

/** The JSON export, or the text of the CSV export. */
export const importBody = Joi.alternatives(
  Joi.object({
    format: Joi.string().valid(EXPORT_NAME).required(),
    version: Joi.number().valid(EXPORT_VERSION).required(),
    kind: Joi.string().required(),
    records: Joi.array().items(Joi.object().unknown()).max(MOST_RECORDS).required(),
  }).unknown(),
  Joi.string(),
).meta({ name: 'WorkspaceImport' });

/** So many records are created in one transaction. */
const BATCH = 100;

/** Creates the records of an export. A record that is refused is reported; the others are created. */
export async function importRecords(
  { civic }: Pick<Workspaces, 'civic'>, body: unknown, kind: string, transfer: Pick<Transfer<never>, 'ofRow' | 'ofRecord'>, schema: Joi.ObjectSchema,
  create: (tx: Tx, context: WorkspaceContext, given: any) => Promise<unknown>, open: (tx: Tx) => Promise<WorkspaceContext>,
): Promise<ImportReport> {
  const given = await bodiesOf(body, kind, transfer);
  const report: ImportReport = { created: 0, rejected: [] };
  for (let start = 0; start < given.length; start += BATCH) {
    // A transaction may run again, so it starts from the report before it.
    const before = report.rejected.length;
    const created = await civic.db.write(async (tx) => {
      report.rejected.length = before;
      const context = await open(tx);
      let count = 0;
      for (const [at, one] of given.slice(start, start + BATCH).entries()) {
        const rejected = await rejection(async () => {
          const { value, error } = schema.validate(one, { convert: false });
          if (error) throw problem('invalid_request', { detail: error.message });
          await create(tx, context, value);
        });
        if (rejected) report.rejected.push({ row: start + at + 1, ...rejected });
        else count++;
      }
      return count;
    });
    report.created += created;
  }
  return report;
}

async function bodiesOf(body: unknown, kind: string, transfer: Pick<Transfer<never>, 'ofRow' | 'ofRecord'>): Promise<object[]> {
  if (typeof body === 'string') return (await csvRows(body)).map(transfer.ofRow);
  const file = body as { kind: string; records: Record<string, any>[] };
  if (file.kind !== kind) throw problem('invalid_request', { detail: `This is an export of ${file.kind}, and this route imports ${kind}.` });
  return file.records.map(transfer.ofRecord);
}

/** Returns the rows of a CSV. Throws `invalid_request` when it cannot be read or has too many. */
export async function csvRows(text: string): Promise<Cells[]> {
  const rows = await readCsv(text, MOST_RECORDS + 1).catch((error: unknown) => { throw problem('invalid_request', { detail: `The CSV cannot be read: ${(error as Error).message}` }); });
  if (rows.length > MOST_RECORDS) throw problem('invalid_request', { detail: `The CSV has more than ${MOST_RECORDS} rows: import it in parts.` });
  return rows;
}

/** Returns why a record is refused. Errors of a record have a code; others end the import. */
async function rejection(work: () => Promise<void>): Promise<{ code: string; detail: string } | null> {
  try {
    await work();
    return null;
  } catch (error) {
    const found = problemOf(error);
    if (!found || found.status >= 500) throw error;
    return { code: found.code, detail: found.detail ?? found.title };
  }
}
