import type { Boom } from '@hapi/boom';
import type { Lifecycle, Request, RequestRoute, ResponseToolkit } from '@hapi/hapi';
import { closest, distance } from 'fastest-levenshtein';
import type { CustomValidator, ObjectSchema, Schema, ValidationErrorItem } from 'joi';
import { problem, type InputError } from '../problems.ts';
import { nothingAt } from './codes.ts';
import { QUERY_ERRORS, strictQuery } from './query.ts';

// Beyond these a caller learns nothing more, and finding them all would keep everybody else waiting.
const MAX_ERRORS = 20;
const MAX_NAME_LENGTH = 100;
const MAX_LENGTH = 65_536;

type Source = 'query' | 'params' | 'payload' | 'headers' | 'state';

/** hapi's way of telling that something did not fit its schema. */
type ValidationBoom = Boom & { details?: ValidationErrorItem[]; output: { payload: { validation?: { source: Source } } } };

/** Query, path and headers are text and are converted; JSON has types of its own, and "5" is not 5. Forms of pages send empty fields, so only the API is strict about its query. */
export function tightenInput({ path, settings: { validate, plugins } }: RequestRoute): void {
  const isApi = path.startsWith('/api/') && !plugins?.civic?.internal;
  for (const source of ['query', 'params', 'payload'] as const) {
    const schema = validate?.[source] as Schema | null | undefined;
    if (!schema || typeof schema.custom !== 'function') continue;
    (validate as Record<string, unknown>)[source] = tightened(schema, source === 'query' && !isApi ? 'form' : source);
  }
}

/**
 * Rejects malformed percent encoding where unknown parameters are rejected: the parser keeps what it cannot decode, so that a filter
 * would be compared with other text than was meant.
 */
export const rejectMalformedQuery: Lifecycle.Method = (request, h) => {
  const { search } = request.url;
  if (!search.includes('%') || isDecodable(search) || !isStrict(request.route)) return h.continue;
  const [name = ''] = search.slice(1).split('&').find((pair) => !isDecodable(pair))!.split('=');
  const parameter = isDecodable(name) ? decodeURIComponent(name) : name;
  const detail = 'is not valid percent-encoded UTF-8';
  throw problem('invalid_request', { detail: `${parameter} ${detail}`, errors: [{ parameter, detail }] });
};

export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function isStrict({ path, settings: { validate, plugins } }: RequestRoute): boolean {
  const schema = validate?.query;
  return path.startsWith('/api/') && !plugins?.civic?.internal && isObjectSchema(schema) && schema.$_getFlag('unknown') !== true;
}

type Kind = 'query' | 'form' | 'params' | 'payload' | 'arguments';

// Routes share schemas, and a process that runs tests has hundreds of servers with the same routes.
const tightenedSchemas: Record<Kind, WeakMap<Schema, Schema>> = { query: new WeakMap(), form: new WeakMap(), params: new WeakMap(), payload: new WeakMap(), arguments: new WeakMap() };

function tightened(schema: Schema, kind: Kind): Schema {
  const known = tightenedSchemas[kind].get(schema);
  if (known) return known;
  const strict = kind === 'query' && isObjectSchema(schema) ? strictQuery(schema) : schema;
  const storable = strict.custom(refuseUnstorable);
  const result = kind === 'payload' ? storable.prefs({ convert: false }) : storable;
  tightenedSchemas[kind].set(schema, result);
  return result;
}

function isObjectSchema(schema: unknown): schema is ObjectSchema {
  return (schema as Schema | undefined)?.type === 'object';
}

const UNSTORABLE = 'any.unstorable';

const UNSTORABLE_TEXT = /[\0\p{Surrogate}]/u;

const refuseUnstorable: CustomValidator = (value, helpers) => {
  const path = unstorablePath(value);
  return path ? helpers.error(UNSTORABLE, {}, helpers.state.localize!([...helpers.state.path!, ...path], [], null)) : value;
};

type Path = (string | number)[];

/**
 * Where a text holds U+0000 or half of a surrogate pair: Postgres refuses both, and what SQLite kept could never move there.
 * By a list of its own, as JSON may be deeper than the stack.
 */
function unstorablePath(root: unknown): Path | null {
  const rest: Step[] = [{ value: root, key: '', before: null }];
  for (let step = rest.pop(); step; step = rest.pop()) {
    const { value, key } = step;
    if (UNSTORABLE_TEXT.test(String(key)) || (typeof value === 'string' && UNSTORABLE_TEXT.test(value))) return pathTo(step);
    if (Array.isArray(value)) for (const [index, item] of value.entries()) rest.push({ value: item, key: index, before: step });
    else if (isPlain(value)) for (const [name, inner] of Object.entries(value)) rest.push({ value: inner, key: name, before: step });
  }
  return null;
}

interface Step {
  value: unknown;
  key: string | number;
  before: Step | null;
}

function pathTo(step: Step): Path {
  const path: Path = [];
  for (let at = step; at.before; at = at.before) path.push(at.key);
  return path.reverse();
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && [null, Object.prototype].includes(Object.getPrototypeOf(value));
}

/** `validate.failAction` of every route. An id that does not fit its schema names nothing, so it is 404. */
export async function refuseInput(request: Request, _h: ResponseToolkit, error?: Error): Promise<never> {
  const boom = error as ValidationBoom;
  const source = boom.output.payload.validation?.source;
  if (source === 'params') throw problem('not_found', { detail: nothingAt(request.path) });
  if (!source || !boom.details) throw boom;
  const faults = (await allFaults(request, source)) ?? boom.details;
  const errors = unique(faults.slice(0, MAX_ERRORS).map((item) => inputError(item, source, request)));
  throw problem('invalid_request', { detail: summary(errors, faults.length - MAX_ERRORS), errors });
}

/** Joi stopped at the first fault, which is cheaper for the many requests that have none. The caller gets them all, if the input is of a usual size. */
async function allFaults(request: Request, source: Source): Promise<ValidationErrorItem[] | null> {
  const schema = request.route.settings.validate?.[source] as Schema;
  const { headers, params, query, payload, auth } = request;
  try {
    if (JSON.stringify(request[source as 'query']).length > MAX_LENGTH) return null;
    await schema.validateAsync(request[source as 'query'], { abortEarly: false, context: { headers, params, query, payload, auth } });
    return null;
  } catch (error) {
    return (error as { details?: ValidationErrorItem[] }).details ?? null;
  }
}

/** Joi may find several faults in one value that is simply given twice. */
function unique(errors: InputError[]): InputError[] {
  return [...new Map(errors.map((error) => [JSON.stringify(error), error])).values()];
}

/** Returns the first error, and the number of the others; `unlisted` errors are not in the list. */
function summary(errors: InputError[], unlisted: number): string {
  const [first] = errors;
  const name = first!.parameter ?? (first!.pointer || 'The body');
  const others = errors.length - 1 + Math.max(0, unlisted);
  return `${name} ${first!.detail}${others > 0 ? ` (and ${others} more)` : ''}`;
}

function inputError(given: ValidationErrorItem, source: Source, request: Request): InputError {
  const item = ofMember(given);
  const detail = faultText(item, source, request);
  return source === 'payload' ? { pointer: pointer(item.path), detail } : { parameter: item.path.slice(0, 1).join(), detail };
}

/** The context of Joi's errors about members that exclude each other, or of which one is required, has the members in this field. */
const MEMBERS: Record<string, string> = { 'object.without': 'main', 'object.missing': 'peers', 'object.xor': 'present' };

/** Joi reports these errors at the object, which has no name when it is the whole input: the error is about the first of the members. */
function ofMember(item: ValidationErrorItem): ValidationErrorItem {
  const members = MEMBERS[item.type];
  return members === undefined ? item : { ...item, path: [...item.path, String([item.context![members]].flat()[0])] };
}

/** RFC 6901. */
export function pointer(path: (string | number)[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function faultText(item: ValidationErrorItem, source: Source, request: Request): string {
  const schema = request.route.settings.validate?.[source] as Schema | undefined;
  if (source === 'query' && isKnown(item) && isRepeated(request, schema, item.path)) return 'is given more than once, but takes one value';
  if (source === 'payload' && item.path.length === 0 && request.payload === null) return 'is missing';
  return valueFault(item, schema);
}

function isKnown({ type }: ValidationErrorItem): boolean {
  return type !== 'object.unknown' && type !== UNSTORABLE;
}

/** Describes the fault of one value, without its name. */
function valueFault(item: ValidationErrorItem, schema: Schema | undefined): string {
  if (item.type === 'object.unknown') return `is not known here${suggestion(String(item.path.at(-1)), knownNames(schema, item.path.slice(0, -1)))}`;
  if (item.type === UNSTORABLE) return 'holds the character U+0000 or half of a surrogate pair, which cannot be stored';
  if (item.type === 'object.without') return `cannot be combined with ${item.context!['peer']}`;
  if (item.type === 'object.missing') return `is required, unless ${othersOf(item, 'peers')} is given`;
  if (item.type === 'object.xor') return `cannot be combined with ${othersOf(item, 'present')}`;
  if (QUERY_ERRORS[item.type]) return QUERY_ERRORS[item.type]!;
  return item.type === 'any.only' ? withoutLabel(item) + nearestOf(item) : withoutLabel(item);
}

/** Returns the members of an error after the first, which it is about. */
function othersOf({ context }: ValidationErrorItem, field: 'peers' | 'present'): string {
  return (context![field] as string[]).slice(1).join(' or ');
}

/** Returns named arguments converted and with defaults. Throws a problem that lists all faults. */
export function checkArguments<Arguments>(schema: Schema<Arguments>, sent: unknown): Arguments {
  const strict = tightened(schema, 'arguments');
  const given = sent ?? {};
  const { value, error } = strict.validate(given);
  if (!error) return value as Arguments;
  const isSmall = JSON.stringify(given).length <= MAX_LENGTH;
  const faults = (isSmall ? strict.validate(given, { abortEarly: false }).error : error)!.details;
  const errors = unique(faults.slice(0, MAX_ERRORS).map(ofMember).map((item) => ({ parameter: item.path.join('.'), detail: valueFault(item, schema) })));
  throw problem('invalid_request', { detail: summary(errors, faults.length - MAX_ERRORS), errors });
}

/** Returns a part of a body that the handler reads as a stream, checked as bodies of other routes are. Pointers of errors begin with `at`. */
export function checkBody<Value>(schema: Schema<Value>, sent: unknown, at: (string | number)[] = []): Value {
  const strict = tightened(schema, 'payload');
  const { value, error } = strict.validate(sent);
  if (!error) return value as Value;
  const isSmall = (JSON.stringify(sent)?.length ?? 0) <= MAX_LENGTH;
  const faults = (isSmall ? strict.validate(sent, { abortEarly: false }).error : error)!.details;
  const errors = unique(faults.slice(0, MAX_ERRORS).map(ofMember).map((item) => ({ pointer: pointer([...at, ...item.path]), detail: valueFault(item, schema) })));
  throw problem('invalid_request', { detail: summary(errors, faults.length - MAX_ERRORS), errors });
}

/** Removes the name that Joi puts in front: the error has it in another member. */
function withoutLabel(item: ValidationErrorItem): string {
  const label = `"${item.context?.label}" `;
  return item.message.startsWith(label) ? item.message.slice(label.length) : item.message;
}

function isRepeated(request: Request, schema: Schema | undefined, path: (string | number)[]): boolean {
  if (!Array.isArray(request.query[String(path[0])])) return false;
  return subschema(schema, path.slice(0, 1))?.type !== 'array';
}

function subschema(schema: Schema | undefined, path: (string | number)[]): Schema | undefined {
  try {
    return path.length === 0 ? schema : (schema as unknown as { extract(path: string[]): Schema }).extract(path.map(String));
  } catch {
    return undefined; // inside an array or alternatives, where a path leads nowhere
  }
}

// Describing a schema costs milliseconds, and each unknown member asks for the names of its object.
const namesBySchema = new WeakMap<Schema, string[]>();

function knownNames(schema: Schema | undefined, path: (string | number)[]): string[] {
  const owner = subschema(schema, path);
  if (!owner || typeof owner.describe !== 'function') return [];
  const names = namesBySchema.get(owner) ?? Object.keys((owner.describe() as { keys?: object }).keys ?? {});
  namesBySchema.set(owner, names);
  return names;
}

/** `; did you mean "limit"?`, or the known names when none is near. */
export function suggestion(name: string, known: string[]): string {
  if (known.length === 0 || name.length > MAX_NAME_LENGTH) return '';
  return meant(name, known) ?? `; known are ${known.join(', ')}`;
}

function meant(name: string, known: string[]): string | null {
  const nearest = closest(name, known);
  const isNear = distance(name, nearest) <= Math.max(2, Math.floor(nearest.length / 3));
  return isNear ? `; did you mean "${nearest}"?` : null;
}

/** The value of a closed list that is meant, after the list itself. */
function nearestOf({ context }: ValidationErrorItem): string {
  const value: unknown = context?.value;
  const known = ((context?.['valids'] ?? []) as unknown[]).filter((one) => typeof one === 'string');
  if (typeof value !== 'string' || value.length > MAX_NAME_LENGTH || known.length < 2) return '';
  return meant(value.toLowerCase(), known) ?? '';
}

/** `response.failAction` where answers are checked: one that does not fit its schema is our mistake. */
export function refuseResponse(request: Request, h: ResponseToolkit, error?: Error): symbol {
  const response = request.response;
  if (!('isBoom' in response && response.isBoom) && (response as { statusCode: number }).statusCode === 304) return h.continue;
  throw new Error(`The answer of ${request.method.toUpperCase()} ${request.route.path} does not fit its schema: ${error?.message}`);
}
