import { lazily, Failure } from 'civic';
import { Readable } from 'node:stream';
import type { TextFile } from './file.ts';
import { LONGEST_ITEM } from './lines.ts';

const loadCsv = lazily(() => import('csv-parse'));

export interface CsvRow {
  number: number;
  cells: Record<string, string>;
  fault?: string;
  raw: unknown;
}

/** Ends of rows for csv-parse, which otherwise takes the end of the first line as that of all. Inside quotes they are text. */
export const ROW_ENDS = ['\r\n', '\n', '\r'];

/** Returns the rows of a CSV file by the names of its columns. `number` is the line a row begins in; a row with another number of cells than the header has a fault. */
export async function* csvRows(file: TextFile, check: (header: string[]) => void): AsyncIterable<CsvRow> {
  const { parse } = await loadCsv();
  const parser = parse({ record_delimiter: ROW_ENDS, relax_column_count: true, relax_quotes: true, skip_empty_lines: true, bom: true, max_record_size: LONGEST_ITEM, info: true });
  const input = Readable.from(file.text(), { objectMode: true });
  input.on('error', (error) => { parser.destroy(error); });
  input.pipe(parser);
  let header: string[] | null = null;
  // Without empty lines, which csv-parse counts; its own count of lines takes \r\n inside quotes as two.
  let line = 1;
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { empty_lines: number } }>) {
      const number = line + info.empty_lines;
      line += 1 + record.reduce((count, cell) => count + lineBreaksIn(cell), 0);
      if (!header) {
        header = record.map((name) => name.trim());
        check(header);
        continue;
      }
      const cells = Object.fromEntries(header.map((name, at) => [name, unguarded(record[at] ?? '')]));
      const fault = record.length === header.length ? undefined : `it has ${record.length} cells and the header has ${header.length}`;
      yield { number, cells, raw: fault ? record : cells, ...(fault ? { fault } : {}) };
    }
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`Line ${line} cannot be read as CSV: ${(error as Error).message}`);
  }
}

function lineBreaksIn(cell: string): number {
  return cell.match(/\r\n|\n|\r/g)?.length ?? 0;
}

export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? guarded(value) : String(value);
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// A spreadsheet runs a cell that begins so as a formula. An apostrophe in front stops it, and is taken away when read.
const FORMULA = /^'*[=+\-@\t\r]/;

function guarded(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

function unguarded(text: string): string {
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;
}
