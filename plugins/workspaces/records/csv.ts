import { lazily } from 'civic';

const loadCsv = lazily(() => import('csv-parse/sync'));

/** The cells of a row by the names of the columns. */
export type Cells = Record<string, string>;

// A spreadsheet runs a cell that begins with one of these as a formula. An apostrophe in front prevents it; reading removes it.
const FORMULA = /^'*[=+\-@\t\r]/;

/** Returns a row of CSV. */
export function csvRow(values: unknown[]): string {
  return `${values.map(cell).join(',')}\r\n`;
}

/** Returns the first rows of a CSV text by the names in its first row. Throws an error that describes a row which cannot be read. */
export async function readCsv(text: string, limit: number): Promise<Cells[]> {
  const { parse } = await loadCsv();
  const rows = parse(text, { columns: true, bom: true, skip_empty_lines: true, record_delimiter: ['\r\n', '\n', '\r'], to: limit }) as Cells[];
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, unguarded(value)])));
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function unguarded(text: string): string {
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;
}
