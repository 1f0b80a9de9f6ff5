import { parseUrl } from 'civic';
import type { Row } from '../adapters/types.ts';

/** Names of parameters that are secrets: rows and signals are shown to others. */
const SECRET = /^(?:token|access_?token|key|api_?key|auth|authorization|password|secret|sig|signature)$/i;
const NOT_STORED = /[\0\p{Surrogate}]/gu;

/** Returns an address without secrets in its query. */
export function publicUrl(text: string): string {
  const url = parseUrl(text);
  const secrets = [...url?.searchParams.keys() ?? []].filter((name) => SECRET.test(name));
  if (!url || secrets.length === 0) return text;
  for (const name of secrets) url.searchParams.delete(name);
  return url.href;
}

/** Returns a row whose texts can be stored in both databases, and whose addresses have no secrets. */
export function cleanRow(row: Row): Row {
  const clean = JSON.parse(JSON.stringify(row), (_name, value: unknown) => (typeof value === 'string' ? value.replaceAll(NOT_STORED, '') : value)) as Row;
  if (clean.kind === 'page') return clean;
  const url = clean.url === null ? null : publicUrl(clean.url);
  return clean.kind === 'meeting' ? { ...clean, url, documents: clean.documents.map((document) => ({ ...document, url: publicUrl(document.url) })) } : { ...clean, url };
}
