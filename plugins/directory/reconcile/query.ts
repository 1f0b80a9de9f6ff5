import { Joi } from 'civic';

/** What a cell of a spreadsheet asks for. */
export interface Query {
  query: string;
  /** Ids of types; empty when all will do. */
  types: string[];
  limit: number;
  properties: { pid: string; values: string[] }[];
}

/** Something about a request that cannot be answered, in words for whoever sent it. */
export class BadRequest extends Error {}

const MOST_QUERIES = 50;
const MOST_RESULTS = 25;
const LONGEST = 300;

const single = Joi.alternatives(Joi.string().allow(''), Joi.number(), Joi.boolean(), Joi.object({ id: Joi.string().required(), name: Joi.string() }).unknown(), null);

// Clients of other versions send further members, which change nothing here.
const querySchema = Joi.object({
  query: Joi.string().allow(''),
  type: Joi.alternatives(Joi.string().allow(''), Joi.array().items(Joi.string(), Joi.object({ id: Joi.string().required() }).unknown()), Joi.object({ id: Joi.string().required() }).unknown(), null),
  limit: Joi.number(),
  properties: Joi.array().max(50).items(Joi.object({ pid: Joi.string(), p: Joi.string(), v: Joi.alternatives(single, Joi.array().items(single)).required() }).unknown()),
}).unknown();

type Value = string | number | boolean | { id: string; name?: string } | null;

interface Given {
  query?: string;
  type?: string | { id: string } | (string | { id: string })[] | null;
  limit?: number;
  properties?: { pid?: string; p?: string; v: Value | Value[] }[];
}

/** The batch in `queries=`: an object of queries by names the client chose. */
export function readBatch(text: string): Map<string, Query> {
  const batch = parse(text, 'queries');
  if (typeof batch !== 'object' || batch === null || Array.isArray(batch)) throw new BadRequest('"queries" must be an object such as {"q0": {"query": "Tenants Union"}}');
  const entries = Object.entries(batch);
  if (entries.length > MOST_QUERIES) throw new BadRequest(`There are ${entries.length} queries in this batch; at most ${MOST_QUERIES} are answered at once`);
  return new Map(entries.map(([name, given]) => [name, readQuery(given, `queries.${name}`)]));
}

/** The older `query=`: one query as JSON, or only its text. */
export function readSingle(text: string): Query {
  return readQuery(text.trimStart().startsWith('{') ? parse(text, 'query') : { query: text }, 'query');
}

function readQuery(given: unknown, where: string): Query {
  const { value, error } = querySchema.validate(given, { convert: false, errors: { wrap: { label: '' } } });
  if (error) throw new BadRequest(`${where}: ${error.message}`);
  const { query = '', type, limit, properties = [] } = value as Given;
  return {
    query: query.trim().slice(0, LONGEST),
    types: [type ?? []].flat().map((one) => (typeof one === 'string' ? one : one.id)).filter((one) => one !== ''),
    limit: Math.min(MOST_RESULTS, Math.max(1, Math.floor(limit ?? 10))),
    properties: properties.flatMap(({ pid, p, v }) => {
      const values = [v].flat().map(textOf).filter((text) => text !== '');
      const id = pid ?? p;
      return id && values.length > 0 ? [{ pid: id, values }] : [];
    }),
  };
}

function textOf(value: Value): string {
  if (value === null) return '';
  return (typeof value === 'object' ? value.name ?? value.id : String(value)).trim().slice(0, LONGEST);
}

export interface Extension {
  ids: string[];
  properties: { id: string }[];
}

const extensionSchema = Joi.object<Extension>({
  ids: Joi.array().items(Joi.string()).max(500).required(),
  properties: Joi.array().items(Joi.object({ id: Joi.string().required() }).unknown()).max(50).required(),
}).unknown();

/** `extend=`: which columns to add to actors that were found. */
export function readExtension(text: string): Extension {
  const { value, error } = extensionSchema.validate(parse(text, 'extend'), { convert: false, errors: { wrap: { label: '' } } });
  if (error) throw new BadRequest(`extend: ${error.message}`);
  return value;
}

function parse(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BadRequest(`"${name}" is not JSON: ${(error as Error).message}`);
  }
}
