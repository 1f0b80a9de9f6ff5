import type { OpenApi, Operation, Parameter, Response } from '../contracts/openapi.ts';
import type { JsonSchema } from '../contracts/schema.ts';
import type { Texts } from '../texts/texts.ts';
import { needsCaller } from './examples/call.ts';
import type { ShownExamples } from './examples/registry.ts';
import type { Example } from './examples/types.ts';
import { sampleOf } from './sample.ts';
import { layOutJson } from './layout.ts';
import { fieldsOf, lastOf, shownDefault, wordsFor, type Field, type Word } from './shape.ts';

export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** An operation in lists. */
export interface ListedOperation {
  id: string;
  group: string;
  method: string;
  kind: string;
  path: string;
  summary?: string;
  isProtected: boolean;
}

/** Returns all operations, in the order of their paths. */
export function listOperations(api: OpenApi): ListedOperation[] {
  return Object.entries(api.paths).flatMap(([path, item]) => METHODS.flatMap((method) => {
    const operation = item[method];
    return operation ? [{ id: operation.operationId, group: operation.tags[0]!, method: method.toUpperCase(), kind: method, path, summary: operation.summary, isProtected: needsCaller(operation) }] : [];
  }));
}

/** Returns everything that the template shows about an operation. */
export function describeOperation(api: OpenApi, listed: ListedOperation, { examples, values, response: real }: ShownExamples, t: Texts): object {
  const operation = api.paths[listed.path]![listed.kind as (typeof METHODS)[number]]!;
  const responses = Object.entries(operation.responses).map(([status, response]) => ({ status, ...resolved(api, response) }));
  return {
    ...listed,
    paragraphs: operation.description?.split('\n\n'),
    needs: needsOf(operation, t),
    rate: rateOf(listed, operation, responses, t),
    parameters: (operation.parameters ?? []).map((parameter) => ({ ...parameter, place: t(`docs.place.${parameter.in}`), words: wordsFor(parameter.schema, t), initial: shownDefault(parameter.schema) })),
    body: shownBody(operation.requestBody?.content, t),
    examples,
    form: formOf(listed, operation, values),
    successes: responses.filter(({ status }) => Number(status) < 400).map((response) => shownSuccess(api, response, real, t)),
    problems: responses.filter(({ status }) => Number(status) >= 400).map(({ status, description, 'x-problem-codes': codes }) => ({ status, kind: `s${status[0]}`, description, codes })),
  };
}

/** Returns the requirements for the caller, a phrase each. */
function needsOf(operation: Operation, t: Texts): string[] {
  if (!needsCaller(operation)) return [t('docs.access.open')];
  const { scopes = [], role, plan } = operation['x-civic'] ?? {};
  const takesKey = operation.security.some((way) => 'api_key' in way);
  return [
    t(takesKey ? 'docs.access.key' : 'docs.access.token'),
    ...(scopes.length > 0 ? [t('docs.access.scope', { scopes: scopes.join(', ') })] : []),
    ...(role ? [t('docs.access.role', { role })] : []),
    ...(plan ? [t('docs.access.plan', { plan })] : []),
  ];
}

/** Returns the rate class of the operation; null when its requests are not counted. */
function rateOf({ kind }: ListedOperation, operation: Operation, responses: { status: string }[], t: Texts): string | null {
  const isCounted = responses.some(({ status }) => status === '429');
  const name = operation['x-civic']?.rate ?? (kind === 'get' ? 'read' : 'write');
  return isCounted && name !== 'none' ? t('docs.rate', { name }) : null;
}

interface ShownBody {
  type: string;
  types: string[];
  words: Word[];
  fields: Field[];
}

function shownBody(content: Record<string, { schema?: JsonSchema }> | undefined, t: Texts): ShownBody | undefined {
  const types = Object.keys(content ?? {});
  const schema = types.map((type) => content![type]!.schema).find((one) => one && one.type !== 'string');
  return types.length === 0 ? undefined : { type: types[0]!, types, words: schema ? wordsFor(schema, t) : [], fields: schema ? fieldsOf(schema, t) : [] };
}

function shownSuccess(api: OpenApi, { status, description, content, headers = {} }: Response & { status: string }, real: string | undefined, t: Texts): object {
  const json = Object.entries(content ?? {}).find(([type, { schema }]) => /[/+]json$/.test(type) && schema)?.[1];
  return {
    status,
    kind: `s${status[0]}`,
    description,
    body: shownBody(content, t),
    headers: Object.keys(headers),
    sample: !json ? undefined : status === '200' && real ? real : layOutJson(json.example ?? sampleOf(json.schema!, api)),
    isShortened: status === '200' && real !== undefined,
  };
}

function resolved(api: OpenApi, response: Response | { $ref: string }): Response {
  return '$ref' in response ? (api.components.responses![lastOf(response.$ref)] as unknown as Response) : response;
}

/** Returns the form that sends a GET from the page; null for other methods, responses without a body, and operations that accept no API key. */
function formOf({ id, kind, path, isProtected }: ListedOperation, operation: Operation, values: Example): object | null {
  const success = operation.responses['200'] as Response | undefined;
  if (kind !== 'get' || !success?.content || !takesKeyOrNothing(operation)) return null;
  const inputs = (operation.parameters ?? []).filter((parameter) => parameter.in !== 'header').map((parameter) => inputOf(id, parameter, values));
  return { id, path, isProtected, inputs };
}

function takesKeyOrNothing(operation: Operation): boolean {
  return !needsCaller(operation) || operation.security.some((way) => 'api_key' in way);
}

function inputOf(operation: string, { name, in: place, required, schema }: Parameter, { params = {}, query = {} }: Example): object {
  const value = String((place === 'path' ? params : query)[name] ?? '');
  const item = (schema.type === 'array' ? schema.items : schema) as JsonSchema;
  const choices = item.type === 'boolean' ? ['true', 'false'] : (item.enum as unknown[] | undefined)?.map(String);
  const own = value.startsWith('$') ? '' : value;
  return {
    id: `${operation}-${name}`, name, place, isRequired: required, value: own,
    type: item.type === 'integer' || item.type === 'number' ? 'number' : 'text',
    choices: choices?.map((choice) => ({ value: choice, isChosen: choice === own })),
  };
}
