import { fitList, pageOf, type Joi, type ListQuery, type Page, type PositionShape, type TextList, type ToolCall, type Truncation } from 'civic';

export const INVALID_CURSOR = 'Use next_cursor of the previous result unchanged, with the same arguments as before.';

export interface List<Item> {
  data: Item[];
  total: number;
  next_cursor: string | null;
  truncated?: Truncation[];
}

/** A list of a tool and of the route that reads the same. With the same path and schema, they accept each other's cursors. */
export interface ListRead<Query> {
  /** The path of the route. */
  path: string;
  /** The arguments of the tool that are parameters of the route. */
  query: object;
  schema: Joi.ObjectSchema;
  position: PositionShape | ((query: Query) => PositionShape);
  read(page: Page<Query>): Promise<TextList>;
}

/** Returns a page of a list, with as many items as the result of a tool may have. */
export function readList<Item, Query = Record<string, unknown>>({ path, query, schema, position, read }: ListRead<Query>, { given, maxBytes }: ToolCall): Promise<List<Item>> {
  const list: ListQuery = { path, query: query as Record<string, unknown>, given: given.filter((name) => name in query), schema };
  return fitList(list, pageOf<Query>(list, position), maxBytes, read);
}
