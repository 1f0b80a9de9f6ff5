import type { Request } from '@hapi/hapi';
import { cursorAfter, Joi, pageOf, type Position, type PositionShape } from 'civic';

/** Returns a field of a form as text; empty when it is absent or repeated. */
export function textField({ payload }: Request, name: string): string {
  const value = (payload as Record<string, unknown> | null)?.[name];
  return typeof value === 'string' ? value.trim() : '';
}

/** Returns the values of a field that a form may repeat. */
export function repeatedField({ payload }: Request, name: string): string[] {
  const value = (payload as Record<string, unknown> | null)?.[name];
  return value === undefined ? [] : [value].flat().map(String);
}

/** The part of a list that a page shows. */
export interface PagePart {
  /** The position of the last row on the page before; null on the first page. */
  after: Position | null;
  /** Returns the paths of other parts, for the partial `discovery/more`. */
  links(next: Position | null): { next: string | null; firstPage: string; isLaterPage: boolean };
}

const schema = Joi.object({ limit: Joi.number(), cursor: Joi.string() });

/** Reads `cursor` of the address of a page, of whose other parameters only those of `filter` are kept. */
export function partOf(request: Request, limit: number, shape: PositionShape, filter: Record<string, string> = {}): PagePart {
  const cursor = request.query['cursor'] as unknown;
  const asked = pageOf({ path: request.path, query: { limit, ...(typeof cursor === 'string' && { cursor }) }, given: [], schema }, shape);
  const path = (more: Record<string, string>) => `${request.path}?${new URLSearchParams({ ...filter, ...more })}`;
  return { after: asked.after, links: (next) => ({ next: next && path({ cursor: cursorAfter(request, asked, next) }), firstPage: path({}), isLaterPage: asked.after !== null }) };
}
