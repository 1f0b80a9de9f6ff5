import type { AsyncApi } from '../contracts/asyncapi.ts';
import type { OpenApi, Operation, Parameter, Response } from '../contracts/openapi.ts';
import type { JsonSchema } from '../contracts/schema.ts';
import { sampleOf } from './sample.ts';

/** The two contracts as `/docs` shows them: plain rows, so that the templates only write them down. */
export function reference(api: OpenApi, streams: AsyncApi): object {
  const operations = Object.entries(api.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => (item[method] ? [shownOperation(api, path, method, item[method])] : [])));
  return {
    groups: [...api.tags].sort(coreLast).map(({ name, description }) => ({ name, description, operations: operations.filter((operation) => operation.group === name) })),
    channels: Object.entries(streams.channels).map(([id, channel]) => shownChannel(streams, id, channel)),
    schemas: Object.entries({ ...streams.components.schemas, ...api.components.schemas }).sort(byName).map(([name, schema]) => ({ name, description: schema.description, fields: fieldsOf(schema) })),
    hasStreams: Object.keys(streams.channels).length > 0,
  };
}

/** People come for what the plugins do. */
function coreLast(a: { name: string }, b: { name: string }): number {
  return Number(a.name === 'core') - Number(b.name === 'core');
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** A word of a type; a named schema leads to where it is described. */
interface Word {
  text: string;
  schema?: string;
}

function shownOperation(api: OpenApi, path: string, method: string, operation: Operation) {
  return {
    id: operation.operationId,
    group: operation.tags[0],
    method: method.toUpperCase(),
    kind: method,
    path,
    summary: operation.summary,
    paragraphs: operation.description?.split('\n\n'),
    access: accessWords(operation),
    isProtected: isProtected(operation),
    parameters: (operation.parameters ?? []).map((parameter) => ({ ...parameter, place: parameter.in, words: wordsFor(parameter.schema), initial: shownDefault(parameter.schema) })),
    body: shownBody(operation.requestBody?.content),
    responses: Object.entries(operation.responses).map(([status, response]) => shownResponse(status, resolved(api, response))),
    example: curl(api, path, method, operation),
  };
}

function isProtected(operation: Operation): boolean {
  return operation.security.length > 0 && !operation.security.some((way) => Object.keys(way).length === 0);
}

function accessWords(operation: Operation): string {
  if (!isProtected(operation)) return 'Open to everybody';
  const scopes = operation['x-civic']?.scopes ?? [];
  const { role, plan } = operation['x-civic'] ?? {};
  return [
    'Needs an API key or access token',
    ...(scopes.length > 0 ? [`with the scope ${scopes.join(' or ')}`] : []),
    ...(role ? [`and the role ${role}`] : []),
    ...(plan ? [`and a plan with ${plan}`] : []),
  ].join(' ');
}

function shownBody(content: Record<string, { schema?: JsonSchema }> | undefined) {
  const [type, { schema }] = Object.entries(content ?? {})[0] ?? [undefined, {} as { schema?: JsonSchema }];
  if (type === undefined) return undefined;
  return { type, words: schema ? wordsFor(schema) : [], fields: schema ? fieldsOf(schema) : [] };
}

function shownResponse(status: string, response: Response) {
  const codes = response['x-problem-codes'];
  return {
    status,
    kind: `s${status[0]}`,
    description: response.description,
    codes,
    types: codes ? [] : Object.keys(response.content ?? {}),
    body: codes ? undefined : shownBody(response.content),
    headers: Object.keys(response.headers ?? {}),
  };
}

function shownChannel(streams: AsyncApi, id: string, channel: AsyncApi['channels'][string]) {
  const messages = Object.values(streams.operations).filter((operation) => operation.channel.$ref === `#/channels/${id}`).flatMap((operation) =>
    operation.messages.map(({ $ref }) => {
      const message = streams.components.messages[channel.messages[lastOf($ref)]!.$ref.slice('#/components/messages/'.length)]!;
      return { name: message.name, direction: operation.action === 'send' ? 'from the server' : 'to the server', summary: message.summary, words: wordsFor(message.payload), fields: fieldsOf(message.payload) };
    }));
  const isSocket = channel.servers[0]!.$ref.endsWith('sockets');
  return { id, address: channel.address, title: channel.title, subprotocol: channel['x-subprotocol'], protocol: isSocket ? 'WebSocket' : 'Server-sent events', messages };
}

function resolved(api: OpenApi, response: Response | { $ref: string }): Response {
  return '$ref' in response ? (api.components.responses![lastOf(response.$ref)] as unknown as Response) : response;
}

/** The members of an object, one row each; none for anything else. */
function fieldsOf(schema: JsonSchema): object[] {
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  const required = new Set((schema.required as string[] | undefined) ?? []);
  return Object.entries(properties).map(([name, field]) => ({ name, words: wordsFor(field), isRequired: required.has(name), description: descriptionOf(field), initial: shownDefault(field) }));
}

function descriptionOf(schema: JsonSchema): unknown {
  return schema.description ?? (schema.anyOf as JsonSchema[] | undefined)?.find((one) => one.description)?.description;
}

/** A type in words: `list of Actor`, `one of a, b`, `integer, 1 to 100`, `text or null`. */
export function wordsFor(schema: JsonSchema): Word[] {
  if (typeof schema.$ref === 'string') return [{ text: lastOf(schema.$ref), schema: lastOf(schema.$ref) }];
  const choices = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (choices) return [...choices].sort((a, b) => Number(a.type === 'null') - Number(b.type === 'null')).flatMap((choice, index) => (index > 0 ? [{ text: ' or ' }, ...wordsFor(choice)] : wordsFor(choice)));
  if (schema.enum) return [{ text: (schema.enum as unknown[]).length === 1 ? 'always ' : 'one of ' }, { text: (schema.enum as unknown[]).map(String).join(', ') }];
  if (schema.type === 'array') return [{ text: 'list of ' }, ...(schema.items ? wordsFor(schema.items as JsonSchema) : [{ text: 'anything' }])];
  if (schema.type === 'object' && schema.properties) return [{ text: `{ ${Object.keys(schema.properties).join(', ')} }` }];
  const types = [schema.type ?? 'anything'].flat() as string[];
  return [{ text: types.map((type) => named(type, schema)).join(' or ') + range(schema) }];
}

const NAMES: Record<string, string> = { string: 'text', boolean: 'true or false', number: 'number', integer: 'whole number' };
const FORMATS: Record<string, string> = { 'date-time': 'time', 'uuid': 'UUID', 'uri': 'URL', 'email': 'e-mail address', 'date': 'date' };

function named(type: string, schema: JsonSchema): string {
  if (type === 'string' && typeof schema.format === 'string') return FORMATS[schema.format] ?? schema.format;
  return NAMES[type] ?? type;
}

function range({ type, minimum, maximum, minLength, maxLength }: JsonSchema): string {
  const [least, most, unit] = type === 'string' ? [Number(minLength) > 1 ? minLength : undefined, maxLength, ' characters'] : [minimum, maximum, ''];
  if (least !== undefined && least === most) return `, ${least}${unit}`;
  if (least !== undefined && most !== undefined) return `, ${least} to ${most}${unit}`;
  if (most !== undefined) return `, at most ${most}${unit}`;
  return least !== undefined ? `, at least ${least}${unit}` : '';
}

function shownDefault(schema: JsonSchema): string | undefined {
  return schema.default === undefined ? undefined : JSON.stringify(schema.default);
}

/** A call that can be pasted into a shell. */
function curl(api: OpenApi, path: string, method: string, operation: Operation): string {
  const parameters = operation.parameters ?? [];
  const valueOf = (parameter: Parameter): string => String([parameter.example ?? sampleOf(parameter.schema, api)].flat()[0]);
  const filled = parameters.filter((parameter) => parameter.in === 'path' && parameter.example !== undefined).reduce((text, parameter) => text.replace(`{${parameter.name}}`, encodeURIComponent(valueOf(parameter))), path);
  const query = parameters.filter((parameter) => parameter.in === 'query' && (parameter.required || parameter.example !== undefined)).map((parameter) => `${parameter.name}=${encodeURIComponent(valueOf(parameter))}`).join('&');
  const [type, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  return [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}'${api.servers[0]!.url}${filled}${query ? `?${query}` : ''}'`,
    ...(isProtected(operation) ? [`-H "X-API-Key: $CIVIC_KEY"`] : []),
    ...(type ? [`-H 'Content-Type: ${type}'`] : []),
    ...(body?.schema ? [`-d '${JSON.stringify(body.example ?? sampleOf(body.schema, api), null, 2)}'`] : []),
  ].join(' \\\n  ');
}

function lastOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}
