import { kindOf, type TableDefinition } from './tables.ts';
import type { Row } from './dialect.ts';

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sortKeys(inner)]));
}

/** The same text for the same JSON, however a database keeps it. */
export function canonicalJson(text: string): string {
  return JSON.stringify(sortKeys(JSON.parse(text)));
}

/**
 * A row as one line, the same from either database: columns in the order they were made, JSON canonical and
 * as text (so that a JSON null differs from no value), bytes in base64.
 */
export function encodeRow(definition: TableDefinition, row: Row): string {
  const values: Row = {};
  for (const [name, columnKind] of definition.columns) {
    const value = row[name] ?? null;
    const { kind } = kindOf(columnKind);
    if (value !== null && kind === 'json') values[name] = canonicalJson(value as string);
    else if (value !== null && kind === 'blob') values[name] = (value as Buffer).toString('base64');
    else values[name] = value;
  }
  return JSON.stringify(values);
}

/** The row of a line, ready for `bulkInsert`. */
export function decodeRow(definition: TableDefinition, line: string): Row {
  const row = JSON.parse(line) as Row;
  for (const [name, columnKind] of definition.columns) {
    if (kindOf(columnKind).kind === 'blob' && row[name] !== null) row[name] = Buffer.from(row[name] as string, 'base64');
  }
  return row;
}
