import type { Request } from '@hapi/hapi';
import { cursorAfter, Joi, pageOf } from 'civic';

/** The part of a list that a page shows. */
export interface PagePart {
  /** The key of the last row on the page before, after which this page begins; null on the first page. */
  last: number | null;
  /** Returns the cursor of the next page. */
  cursorOf(next: number | null): string | null;
}

const schema = Joi.object({ limit: Joi.number(), cursor: Joi.string() });

/** Reads `cursor` of the address of a page, whose other parameters are ignored. */
export function partOf(request: Request, limit: number): PagePart {
  const cursor = request.query['cursor'] as unknown;
  const asked = pageOf({ path: request.path, query: { limit, ...(typeof cursor === 'string' && { cursor }) }, given: [], schema }, ['integer']);
  return { last: asked.after && Number(asked.after[0]), cursorOf: (next) => (next === null ? null : cursorAfter(request, asked, [next])) };
}
