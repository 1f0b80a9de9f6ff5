import { lazily, problem } from 'civic';
import { sourcesInOpml } from './opml.ts';

const loadCsv = lazily(() => import('csv-parse/sync'));

export const FORMATS = ['opml', 'csv', 'text'] as const;
export type ListFormat = (typeof FORMATS)[number];

/** Of one list. */
export const MOST_SOURCES = 500;
const NOT_STORED = /[\0\p{Surrogate}]/gu;

/** Returns the sources in a file, not validated yet: each is what the body of one new source would be. Throws `invalid_request` when the file cannot be read or has too many. */
export async function sourcesIn(text: string, format: ListFormat): Promise<object[]> {
  const found = await READERS[format](text.replaceAll(NOT_STORED, ''));
  if (found.length === 0) throw problem('invalid_request', { detail: 'The list has no addresses.' });
  if (found.length > MOST_SOURCES) throw problem('invalid_request', { detail: `The list has more than ${MOST_SOURCES} addresses: import it in parts.` });
  return found;
}

/** Returns the format of a text that a person pasted or of a file without a known name. */
export function formatOfText(text: string): ListFormat {
  return /^\uFEFF?\s*</.test(text) ? 'opml' : 'text';
}

const READERS: Record<ListFormat, (text: string) => Promise<object[]>> = {
  opml: sourcesInOpml,
  csv: sourcesInCsv,
  /** One address on each line; lines that begin with # are comments. */
  text: async (text) => text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/).map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#')).map((url) => ({ url })),
};

/** Reads columns by name: `url`, and what else a new source can have. Issues and tags are separated by spaces or semicolons. */
async function sourcesInCsv(text: string): Promise<object[]> {
  const { parse } = await loadCsv();
  let rows: Record<string, string>[];
  try {
    rows = parse(text, { columns: true, bom: true, trim: true, skip_empty_lines: true, to: MOST_SOURCES + 1 }) as typeof rows;
  } catch (error) {
    throw problem('invalid_request', { detail: `The CSV cannot be read: ${(error as Error).message}` });
  }
  if (rows[0] && !('url' in rows[0])) throw problem('invalid_request', { detail: 'The first line of the CSV must name the columns, and one of them must be url.' });
  return rows.map(({ url = '', name, place, platform, issues, tags, cadence_seconds: cadence, source_class }) => ({
    url, ...(name && { name }), ...(place && { place }), ...(platform && { platform }), ...(issues && { issues: wordsIn(issues) }), ...(tags && { tags: wordsIn(tags) }), ...(cadence && { cadence_seconds: Number(cadence) }), ...(source_class && { source_class }),
  }));
}

function wordsIn(text: string): string[] {
  return [...new Set(text.split(/[\s;]+/).filter((word) => word !== ''))];
}
