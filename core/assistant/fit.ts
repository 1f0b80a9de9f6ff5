import { cursorAfter, listBody, type ListQuery, type Page, type TextList } from '../http/cursor.ts';
import { problem } from '../problems.ts';
import { resultBytes } from './text.ts';
import { truncate, type Truncated, type Truncation } from './truncate.ts';

/** Reserved for the cursor after a page with fewer rows. */
const CURSOR_BYTES = 500;

/**
 * Returns a list as an object whose JSON has at most `maxBytes`, for tools. Reads a page that is too large again with fewer rows, so
 * that the cursor continues after the last of them. Truncates a row that takes up more than half of the result, and leaves it out where
 * that does not help: no row keeps a client from the rows after it.
 */
export async function fitList<Data extends object = object>(list: Pick<ListQuery, 'path'>, page: Page<any>, maxBytes: number, read: (page: Page<any>) => Promise<TextList>): Promise<Data> {
  const found = await read(page);
  const { value: extra, truncated } = truncatedOver(found.extra ?? {}, maxBytes / 4);
  const cursor = found.next && cursorAfter(list, page, found.next);
  const left = maxBytes - resultBytes(listBody({ ...found, data: [], extra: { ...extra, truncated } }, cursor));
  if (left < maxBytes / 8) throw problem('result_too_large', { detail: `The filters leave no room for items in the ${maxBytes} bytes of a result.` });
  const rows = fittingRows(found.data, left, Math.min(left, maxBytes / 2));
  if (rows.length < found.data.length) return fitList(list, { ...page, limit: Math.max(1, countWithin(rows, left - CURSOR_BYTES)) }, maxBytes, read);
  const kept = rows.filter(({ text }) => text !== null);
  const all = [...truncated, ...leftOut(rows.length - kept.length), ...kept.flatMap((row, at) => row.truncated.map((one) => ({ ...one, pointer: `/data/${at}${one.pointer}` })))];
  return JSON.parse(listBody({ ...found, data: kept.map(({ text }) => text!), extra: { ...extra, ...(all.length > 0 && { truncated: all }) } }, cursor)) as Data;
}

/** Returns data whose JSON has at most `maxBytes`, for tools without pages. Its long lists and texts are cut, and `truncated` names them. */
export function fitData<Data extends object>(data: Data, maxBytes: number): Data & { truncated?: Truncation[] } {
  if (resultBytes(JSON.stringify(data)) <= maxBytes) return data;
  const { value, truncated } = truncatedOver(data, maxBytes);
  return { ...value, truncated };
}

function truncatedOver<Value extends object>(value: Value, maxBytes: number): Pick<Truncated<Value>, 'value' | 'truncated'> {
  if (resultBytes(JSON.stringify(value)) <= maxBytes) return { value, truncated: [] };
  const shorter = truncate(value, maxBytes);
  if (!shorter) throw problem('result_too_large', { detail: `The result has more than ${maxBytes} bytes.` });
  return shorter;
}

interface Row {
  /** Null when the row is left out. */
  text: string | null;
  truncated: Truncation[];
  bytes: number;
}

const LEFT_OUT_BYTES = 50;

/** Returns the first rows that fit. Does not parse the rows after them, because truncating a large row takes longer than reading it. */
function fittingRows(texts: string[], maxBytes: number, maxRowBytes: number): Row[] {
  const rows: Row[] = [];
  let left = maxBytes;
  for (const text of texts) {
    const row = fitRow(text, maxRowBytes);
    left -= row.bytes;
    if (left < 0) break;
    rows.push(row);
  }
  return rows;
}

/** Returns how many of the first rows fit. */
function countWithin(rows: Row[], maxBytes: number): number {
  let left = maxBytes;
  const first = rows.findIndex(({ bytes }) => (left -= bytes) < 0);
  return first === -1 ? rows.length : first;
}

function fitRow(text: string, maxBytes: number): Row {
  const bytes = resultBytes(text) + 1;
  if (bytes <= maxBytes) return { text, truncated: [], bytes };
  const shorter = truncate(JSON.parse(text) as unknown, maxBytes - 1);
  if (!shorter) return { text: null, truncated: [], bytes: LEFT_OUT_BYTES };
  return { text: JSON.stringify(shorter.value), truncated: shorter.truncated, bytes: shorter.bytes + 1 };
}

function leftOut(count: number): Truncation[] {
  return count === 0 ? [] : [{ pointer: '/data', left_out: count }];
}
