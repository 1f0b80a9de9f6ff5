import { Joi } from 'civic';

/** A cell of a spreadsheet, with the further columns of its row. */
export interface Query {
  query: string;
  /** Ids of types; empty for all types. */
  types: string[];
  limit: number;
  properties: { pid: string; values: string[] }[];
}

/** A rejected request; the message is for the client. */
export class BadRequest extends Error {}

// OpenRefine sends 10 queries or ids at a time, with a property for each column and mostly one value for each property.
const MOST_QUERIES = 50;
const MOST_PROPERTIES = 20;
const MOST_TYPES = 10;
const MOST_VALUES = 10;
const MOST_VALUES_IN_ALL = 250;
const MOST_IDS = 100;
const MOST_COLUMNS = 50;
const MOST_MEMBERS = 50;
const MOST_RESULTS = 25;
const LONGEST = 300;

const single = Joi.alternatives(Joi.string().allow(''), Joi.number(), Joi.boolean(), Joi.object({ id: Joi.string().required(), name: Joi.string() }).unknown(), null);

// Clients of other versions send further members, which change nothing here.
const querySchema = Joi.object({
  query: Joi.string().allow(''),
  type: Joi.alternatives(Joi.string().allow(''), Joi.array().items(Joi.string(), Joi.object({ id: Joi.string().required() }).unknown()), Joi.object({ id: Joi.string().required() }).unknown(), null),
  limit: Joi.number(),
  properties: Joi.array().items(Joi.object({ pid: Joi.string(), p: Joi.string(), v: Joi.alternatives(single, Joi.array().items(single)).required() }).unknown()),
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
  const values = entries.reduce((sum, [name, given]) => sum + countValues(given, `queries.${name.slice(0, 100)}`), 0);
  if (values > MOST_VALUES_IN_ALL) throw new BadRequest(`There are ${values} property values in this batch; at most ${MOST_VALUES_IN_ALL} are answered at once: send fewer queries`);
  return new Map(entries.map(([name, given]) => [name, readQuery(given, `queries.${name.slice(0, 100)}`)]));
}

/** Returns how many property values a query has. Rejects long lists before each of their items is checked. */
function countValues(given: unknown, where: string): number {
  checkMembers(given, where);
  const { type, properties } = Object(given) as { type?: unknown; properties?: unknown };
  checkLength(type, MOST_TYPES, `${where}.type`);
  checkLength(properties, MOST_PROPERTIES, `${where}.properties`);
  for (const each of [type].flat()) checkMembers(each, `${where}.type`);
  const list = Array.isArray(properties) ? properties : [];
  list.forEach((property: unknown, index) => {
    checkMembers(property, `${where}.properties[${index}]`);
    for (const value of [(Object(property) as { v?: unknown }).v].flat()) checkMembers(value, `${where}.properties[${index}].v`);
  });
  const lists = list.map((property: unknown) => (Object(property) as { v?: unknown }).v);
  lists.forEach((list, index) => checkLength(list, MOST_VALUES, `${where}.properties[${index}].v`));
  return lists.flat().length;
}

/** Unknown members are ignored, but each costs time. */
function checkMembers(value: unknown, where: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const count = Object.keys(value).length;
  if (count > MOST_MEMBERS) throw new BadRequest(`${where} has ${count} members; at most ${MOST_MEMBERS} are allowed`);
}

function checkLength(list: unknown, most: number, where: string): void {
  if (Array.isArray(list) && list.length > most) throw new BadRequest(`${where} has ${list.length} items; at most ${most} are allowed`);
}

/** The older `query=`: one query as JSON, or only its text. */
export function readSingle(text: string): Query {
  const given = text.trimStart().startsWith('{') ? parse(text, 'query') : { query: text };
  countValues(given, 'query');
  return readQuery(given, 'query');
}

function readQuery(given: unknown, where: string): Query {
  const { value, error } = querySchema.validate(given, { convert: false, errors: { wrap: { label: '' } } });
  if (error) throw new BadRequest(`${where}: ${error.message}`);
  const { query = '', type, limit, properties = [] } = value as Given;
  return {
    query: cleaned(query),
    types: [...new Set([type ?? []].flat().map((one) => (typeof one === 'string' ? one : one.id)).filter((one) => one !== ''))],
    limit: Math.min(MOST_RESULTS, Math.max(1, Math.floor(limit ?? 10))),
    properties: properties.flatMap(({ pid, p, v }) => {
      const values = [...new Set([v].flat().map(textOf).filter((text) => text !== ''))];
      const id = pid ?? p;
      return id && values.length > 0 ? [{ pid: id, values }] : [];
    }),
  };
}

function textOf(value: Value): string {
  if (value === null) return '';
  return cleaned(typeof value === 'object' ? value.name ?? value.id : String(value));
}

/** Without characters that Postgres refuses as text. */
export function cleaned(text: string): string {
  return text.slice(0, LONGEST).replaceAll(/[\0\p{Surrogate}]/gu, ' ').trim();
}

export interface Extension {
  ids: string[];
  properties: { id: string }[];
}

const extensionSchema = Joi.object<Extension>({
  ids: Joi.array().items(Joi.string()).required(),
  properties: Joi.array().items(Joi.object({ id: Joi.string().required() }).unknown()).required(),
}).unknown();

/** `extend=`: which columns to add to actors that were found. */
export function readExtension(text: string): Extension {
  const given = parse(text, 'extend');
  const { ids, properties } = Object(given) as { ids?: unknown; properties?: unknown };
  checkMembers(given, 'extend');
  checkLength(ids, MOST_IDS, 'extend.ids');
  checkLength(properties, MOST_COLUMNS, 'extend.properties');
  if (Array.isArray(properties)) for (const property of properties) checkMembers(property, 'extend.properties');
  const { value, error } = extensionSchema.validate(given, { convert: false, errors: { wrap: { label: '' } } });
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
