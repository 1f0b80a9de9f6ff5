import type { LinkedDocument, MeetingRow } from '../adapters/types.ts';
import { cleanTitle } from './titles.ts';
import { foldWords } from './words.ts';

/** More rows of one document are left out. */
export const MOST_ROWS = 5000;

/** Creates a row from what is known; the rest is empty. Without an id the key is the title and the day. */
export function meetingRow({ id, ...known }: Partial<Omit<MeetingRow, 'kind' | 'key'>> & Pick<MeetingRow, 'title' | 'start'> & { id?: string | number | null }): MeetingRow {
  const title = cleanTitle(known.title) || 'Meeting';
  const location = known.location ? cleanTitle(known.location.replaceAll(/\s*\n\s*/g, ', ')) || null : null;
  return {
    kind: 'meeting', key: id === undefined || id === null || id === '' ? keyOf(title, known.start) : String(id).slice(0, 300),
    body: null, end: null, status: 'confirmed', url: null, documents: [], items: null, passage: null, ...known, title, location,
  };
}

export function keyOf(title: string, start: string | null): string {
  return `${foldWords(title).join('-').slice(0, 150)}:${start?.slice(0, 10) ?? ''}`;
}

/** Joins rows of the same meeting: the first keeps its values, and gets the documents and empty fields of the others. */
export function joinRows(rows: MeetingRow[]): MeetingRow[] {
  const byStart = new Map<string, MeetingRow[]>();
  const joined: MeetingRow[] = [];
  for (const row of rows.slice(0, MOST_ROWS)) {
    const key = `${row.key}:${row.start ?? ''}`;
    const known = byStart.get(key) ?? [];
    const same = known.find(({ location }) => location === null || row.location === null || location === row.location);
    if (same) Object.assign(same, join(same, row));
    else {
      const copy = { ...row };
      joined.push(copy);
      // Meetings of one title and time in very many places are no real calendar.
      if (known.length < 20) byStart.set(key, [...known, copy]);
    }
  }
  return withUniqueKeys(joined);
}

function join(row: MeetingRow, other: MeetingRow): MeetingRow {
  return {
    ...row, end: row.end ?? other.end, location: row.location ?? other.location, url: row.url ?? other.url, body: row.body ?? other.body,
    status: row.status === 'confirmed' ? other.status : row.status, documents: uniqueDocuments([...row.documents, ...other.documents]),
  };
}

/** Adds a number to the key of a meeting when an earlier meeting has the same title and day. */
function withUniqueKeys(rows: MeetingRow[]): MeetingRow[] {
  const seen = new Map<string, number>();
  return rows.map((row) => {
    const count = seen.get(row.key) ?? 0;
    seen.set(row.key, count + 1);
    return count === 0 ? row : { ...row, key: `${row.key}:${count + 1}` };
  });
}

export function uniqueDocuments(documents: LinkedDocument[]): LinkedDocument[] {
  const seen = new Set<string>();
  return documents.filter(({ url }) => !seen.has(url) && seen.add(url)).slice(0, 50);
}
