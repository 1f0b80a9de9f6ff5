import type { Boom } from '@hapi/boom';
import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import type { Schema } from 'joi';
import { createHash } from 'node:crypto';
import { problem } from '../problems.ts';

/** The end of a page: the values by which its last row is sorted. */
export type Position = (string | number)[];

/** The type of each value of a position. `scalar` is a text or a number, where the order of the list depends on the words of the search. */
export type PositionShape = readonly ('text' | 'integer' | 'number' | 'scalar')[];

/** The requested page of a list. */
export interface Page<Query = Record<string, unknown>> {
  /** Filters and sort: from the cursor when there is one, else from the query. */
  query: Query;
  limit: number;
  /** Rows come after this one; null on the first page. */
  after: Position | null;
}

/** The request of a list, by a route or by a tool. A tool and a route with the same path and schema accept each other's cursors. */
export interface ListQuery {
  path: string;
  /** Validated, with defaults. */
  query: Record<string, unknown>;
  /** The names of the parameters that the client gave. */
  given: string[];
  /** Validates the filters in a cursor. */
  schema?: Schema | null;
}

export interface List {
  data: unknown[];
  total: number;
  /** The position of the last row when more rows follow, else null. */
  next: Position | null;
  /** Further members, such as `place` or `facets`. */
  extra?: Record<string, unknown>;
}

/** A list whose rows are JSON texts. */
export type TextList = Omit<List, 'data'> & { data: string[] };

const CHECK_LENGTH = 8;

/** Reads `cursor` and `limit` of a validated query. A cursor contains the filters: other filters beside it, and a position of another shape, are rejected. */
export function pageOf<Query = Record<string, unknown>>(source: Request | ListQuery, shape: PositionShape | ((query: Query) => PositionShape)): Page<Query> {
  const list = 'given' in source ? source : listQueryOf(source);
  const { cursor, limit, ...query } = list.query;
  if (cursor === undefined) return { query: query as Query, limit: Number(limit), after: null };
  const [filters, after] = decode(String(cursor), list.path);
  const valid = revalidated(list, filters);
  if (!hasShape(after, typeof shape === 'function' ? shape(valid as Query) : shape)) throw badCursor();
  const given = list.given.filter((name) => name !== 'cursor' && name !== 'limit');
  const changed = given.filter((name) => comparable(query[name]) !== comparable(valid[name]));
  if (changed.length > 0) {
    throw problem('invalid_cursor', {
      detail: `The cursor was made with another ${changed.join(', ')}.`,
      errors: changed.map((parameter) => ({ parameter, detail: 'differs from what the cursor was made with' })),
    });
  }
  return { query: valid as Query, limit: Number(limit), after };
}

function listQueryOf({ path, query, orig, route }: Request): ListQuery {
  return { path, query, given: Object.keys(orig.query ?? query), schema: route.settings.validate?.query as Schema | null | undefined };
}

/** Creates the response of a list: its rows, the exact total, and the next page in body and `Link`. */
export function listResponse(request: Request, h: ResponseToolkit, page: Page<any>, list: List): ResponseObject {
  const cursor = list.next && cursorAfter(request, page, list.next);
  const response = h.response({ data: list.data, total: list.total, next_cursor: cursor, ...list.extra });
  if (cursor) response.header('link', `<${nextUrl(request, page, cursor)}>; rel="next"`);
  return response;
}

/** Returns the same response as text and headers, for rows that are JSON texts. */
export function listText(request: Request, page: Page<any>, list: TextList): { body: string; headers: Record<string, string> } {
  const cursor = list.next && cursorAfter(request, page, list.next);
  return { body: listBody(list, cursor), headers: cursor ? { link: `<${nextUrl(request, page, cursor)}>; rel="next"` } : {} };
}

/** Returns the JSON of a list. */
export function listBody({ data, total, extra = {} }: TextList, cursor: string | null): string {
  const more = Object.entries(extra).map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`).join('');
  return `{"data":[${data.join(',')}],"total":${total},"next_cursor":${JSON.stringify(cursor)}${more}}`;
}

/** Returns the cursor of the page after a row, for responses of another shape. */
export function cursorAfter({ path }: Pick<ListQuery, 'path'>, page: Page<any>, after: Position): string {
  return encode(page.query, after, path);
}

function nextUrl(request: Request, page: Page, cursor: string): string {
  const limit = (request.orig.query as Record<string, unknown> | undefined)?.['limit'] === undefined ? '' : `limit=${page.limit}&`;
  return `${request.server.app.civic.publicUrl}${request.path}?${limit}cursor=${cursor}`;
}

// A cursor has a checksum against typing errors and no signature: its filters are validated by the schema of the route, so a forged one
// gives no further access. It works on every node and after a restart.
function encode(filters: object, after: Position, path: string): string {
  const text = JSON.stringify([filters, after]);
  return Buffer.from(text).toString('base64url') + checksum(text, path);
}

function decode(cursor: string, path: string): [Record<string, unknown>, Position] {
  try {
    const text = Buffer.from(cursor.slice(0, -CHECK_LENGTH), 'base64url').toString();
    if (cursor !== Buffer.from(text).toString('base64url') + checksum(text, path)) throw badCursor();
    const [filters, after] = JSON.parse(text) as [Record<string, unknown>, Position];
    if (!Array.isArray(after)) throw badCursor();
    return [filters, after];
  } catch {
    throw badCursor();
  }
}

function hasShape(position: Position, shape: PositionShape): boolean {
  return position.length === shape.length && shape.every((type, at) => isOfType(position[at], type));
}

function isOfType(value: unknown, type: PositionShape[number]): boolean {
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'number') return Number.isFinite(value);
  return typeof value === 'string' || (type === 'scalar' && Number.isFinite(value));
}

function checksum(text: string, path: string): string {
  return createHash('sha256').update(`${path}\n${text}`).digest('base64url').slice(0, CHECK_LENGTH);
}

function revalidated({ schema }: ListQuery, filters: Record<string, unknown>): Record<string, unknown> {
  if (!schema || typeof schema.validate !== 'function') return filters;
  const { value, error } = schema.validate(filters);
  if (error) throw badCursor();
  const { cursor: _cursor, limit: _limit, ...valid } = value as Record<string, unknown>;
  return valid;
}

/** Ignores the order of a repeated parameter. */
function comparable(value: unknown): string | undefined {
  return JSON.stringify(Array.isArray(value) ? value.map((item) => JSON.stringify(item)).sort() : value);
}

/** Returns whether a database error comes from a forged cursor: Postgres rejects a position that does not fit its column, SQLite does not. */
export function isForgedCursor(error: Error & { code?: unknown }, query: Record<string, unknown> | undefined): boolean {
  return query?.['cursor'] !== undefined && /^22[0-9A-Z]{3}$/.test(String(error.code));
}

export function badCursor(): Boom {
  return problem('invalid_cursor', {
    detail: 'The cursor is not one that this list gave.',
    errors: [{ parameter: 'cursor', detail: 'is not one that this list gave' }],
  });
}
