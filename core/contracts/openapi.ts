import type { Server } from '@hapi/hapi';
import type { ArraySchema, Schema } from 'joi';
import { answersOf, type Answer, type Surroundings, isJson } from './answer.ts';
import { isRepeatable } from '../idempotency/handler.ts';
import { idempotencyHeader, requestHeaders, responseHeaders } from './header.ts';
import { describeOwner, routesWithProtocols, type PublishedRoute } from './route.ts';
import { exampleOf, gatherSchemas, membersOf, type JsonSchema, type Schemas } from './schema.ts';

export interface ContractInfo {
  title: string;
  version: string;
}

export interface OpenApiOptions extends Surroundings {
  info: ContractInfo;
  /** The public address, without a trailing slash. */
  publicUrl: string;
  /** What each plugin is for, by its name. */
  plugins?: Record<string, string>;
  /** The plugins in the order of their tags. */
  order?: string[];
}

export interface OpenApi {
  openapi: string;
  info: ContractInfo & { description: string; contact: { name: string; url: string }; license: { name: string; identifier: string } };
  servers: { url: string }[];
  tags: { name: string; description?: string }[];
  paths: Record<string, PathItem>;
  components: Record<string, Record<string, JsonSchema>>;
}

export interface PathItem {
  parameters: { $ref: string }[];
  get?: Operation;
  head?: Operation;
  put?: Operation;
  post?: Operation;
  delete?: Operation;
  patch?: Operation;
}

export interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, Response | { $ref: string }>;
  'x-civic'?: { scopes?: string[]; role?: string; plan?: string; rate?: string };
}

export interface Parameter {
  name: string;
  in: 'query' | 'path' | 'header';
  required: boolean;
  description?: string;
  schema: JsonSchema;
  example?: unknown;
  style?: string;
  explode?: boolean;
}

export interface Response {
  description: string;
  headers?: Record<string, JsonSchema>;
  content?: Content;
  'x-problem-codes'?: string[];
}

type Content = Record<string, { schema?: JsonSchema; example?: unknown }>;

/** The OpenAPI 3.1 document of everything a server publishes. The same routes give the same document, byte for byte. */
export function openApi(server: Server, options: OpenApiOptions): OpenApi {
  const routes = routesWithProtocols(server);
  const schemas = gatherSchemas();
  const shared: Record<string, Response> = {};
  const paths: OpenApi['paths'] = {};
  refuseTwins(routes);
  for (const route of routes) {
    schemas.enter(describeOwner(route));
    const answers = answersOf(route, options);
    const item = (paths[route.path] ??= { parameters: Object.keys(requestHeaders).map((name) => ref('parameters', name)) });
    item[route.method] = operation(route, answers, schemas, shared);
    if (route.declaration.head) item.head = headOperation(route, answers, item.get!, schemas);
  }
  const order = [...options.order ?? [], 'core'];
  const owners = [...new Set(routes.map((route) => route.owner))].sort().sort((a, b) => order.indexOf(a) - order.indexOf(b));
  const document: OpenApi = {
    openapi: '3.1.0',
    info: { ...options.info, description: 'A directory of civic actors in which every statement has a public source.', contact: { name: options.info.title, url: options.publicUrl }, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: options.publicUrl }],
    tags: owners.map((name) => ({ name, description: name === 'core' ? 'Health and the contracts themselves' : options.plugins?.[name] })),
    paths,
    components: {
      schemas: schemas.components(),
      responses: sorted(shared) as never,
      parameters: mapped(requestHeaders, ([name, header]) => ({ name, in: 'header', required: false, ...header })),
      headers: mapped(responseHeaders, ([, header]) => ({ ...header })),
      securitySchemes: {
        api_key: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'A key of an account, for programs. Keys do not belong in browsers.' },
        oauth: { type: 'http', scheme: 'bearer', description: 'An OAuth 2.1 access token.' },
      },
    },
  };
  return JSON.parse(JSON.stringify(document)) as OpenApi;
}

function operation(route: PublishedRoute, answers: Answer[], schemas: Schemas, shared: Record<string, Response>): Operation {
  const { role, plan, rate } = route.declaration;
  const scopes = route.access.scopes.length > 0 ? route.access.scopes : undefined;
  const parameters = [...parametersOf(route.params, 'path', route, schemas), ...parametersOf(route.query, 'query', route, schemas), ...headerParameters(route, schemas)];
  return {
    operationId: route.id,
    summary: route.summary ?? undefined,
    description: route.notes.length > 0 ? route.notes.join('\n\n') : undefined,
    tags: [route.owner],
    security: securityOf(route),
    parameters: parameters.length > 0 ? parameters : undefined,
    requestBody: requestBody(route, schemas),
    responses: Object.fromEntries(answers.map((answer) => [answer.status, response(answer, schemas, shared)])),
    'x-civic': scopes || role || plan || rate ? { scopes, role, plan, rate } : undefined,
  };
}

/** HEAD has the headers of a GET that is no stream, and never a body. */
function headOperation({ id, declaration }: PublishedRoute, answers: Answer[], get: Operation, schemas: Schemas): Operation {
  const responses = answers.filter(({ status }) => status !== 101 && status !== 204).map((answer) => [answer.status, response({ ...answer, types: [] }, schemas, null)]);
  return { ...get, operationId: id.replace(/^get/, 'head'), summary: declaration.head, description: `The headers of the response to GET, without its body.`, responses: Object.fromEntries(responses) };
}

function securityOf(route: PublishedRoute): Record<string, string[]>[] {
  const { mode } = route.access;
  if (route.declaration.protocol) return mode === 'required' ? [{ oauth: [] }] : [];
  if (mode === 'open') return [];
  // OpenAPI names scopes only for schemes of the types oauth2 and openIdConnect; here they are in `x-civic`.
  const ways: Record<string, string[]>[] = [{ api_key: [] }, { oauth: [] }];
  return mode === 'required' ? ways : [{}, ...ways];
}

function parametersOf(schema: Schema | null, place: Parameter['in'], route: PublishedRoute, schemas: Schemas): Parameter[] {
  const members = membersOf(schema);
  const names = place === 'path' ? route.paramNames : [...members.keys()];
  return names.map((name) => {
    const member = members.get(name);
    const isArray = member?.type === 'array';
    const { description, ...json } = member ? schemas.of(isArray ? (member as ArraySchema).single(false) : member) : { type: 'string' };
    return {
      name,
      in: place,
      required: place === 'path' || member?.$_getFlag('presence') === 'required',
      description: member?.$_getFlag('description') ?? description,
      schema: json as JsonSchema,
      example: member ? exampleOf(member) : undefined,
      ...(isArray && place === 'query' ? { style: 'form', explode: true } : {}),
    };
  });
}

/** OpenAPI says these three by other means, and refuses them as parameters. */
const SAID_ELSEWHERE = new Set(['accept', 'content-type', 'authorization']);

function headerParameters(route: PublishedRoute, schemas: Schemas): Parameter[] {
  const own = parametersOf(route.headers, 'header', route, schemas).filter(({ name }) => !SAID_ELSEWHERE.has(name.toLowerCase()));
  if (route.declaration.conditional) own.push({ name: 'If-None-Match', in: 'header', required: false, description: 'The ETag of what you have: 304 when it still holds.', schema: { type: 'string' } });
  const { stream } = route.declaration;
  if (stream?.subprotocol) own.push({ name: 'Sec-WebSocket-Protocol', in: 'header', required: true, description: 'The subprotocol to speak.', schema: { type: 'string' }, example: stream.subprotocol });
  if (isRepeatable(route)) own.push({ name: 'Idempotency-Key', in: 'header', required: false, ...idempotencyHeader });
  return own;
}

function requestBody(route: PublishedRoute, schemas: Schemas): Operation['requestBody'] {
  if (route.consumes.length === 0) return undefined;
  const schema = route.payload ? schemas.of(route.payload) : undefined;
  const example = route.payload ? exampleOf(route.payload) : undefined;
  // hapi hands over a missing body as null.
  const isOptional = route.payload !== null && !route.payload.validate(null).error;
  return { required: !isOptional, content: Object.fromEntries(route.consumes.map((type) => [type, { schema, example }])) };
}

/** A problem is shared with other operations, unless `shared` is null. */
function response(answer: Answer, schemas: Schemas, shared: Record<string, Response> | null): Response | { $ref: string } {
  const full: Response = {
    description: DESCRIPTIONS[answer.status] ?? `Status ${answer.status}`,
    headers: Object.fromEntries([...answer.headers].sort().map((name) => [name, ref('headers', name)])),
    content: contentOf(answer, schemas),
    'x-problem-codes': answer.codes.length > 0 ? answer.codes : undefined,
  };
  if (answer.codes.length === 0 || answer.status < 400 || shared === null) return full;
  return share(answer, full, shared);
}

function contentOf(answer: Answer, schemas: Schemas): Content | undefined {
  if (answer.types.length === 0) return undefined;
  const schema = answer.schema ? schemas.of(answer.schema) : undefined;
  if (answer.codes.length > 0) {
    return { 'application/problem+json': { schema: { allOf: [schema, { type: 'object', properties: { code: { enum: answer.codes }, status: { const: answer.status } } }] } } };
  }
  return Object.fromEntries(answer.types.map((type) => [type, isJson(type) ? { schema: schema ?? { type: 'object' }, example: answer.schema ? exampleOf(answer.schema) : undefined } : otherContent(type)]));
}

/** The messages of a stream are described by AsyncAPI. */
function otherContent(type: string): { schema?: JsonSchema } {
  return type === 'text/event-stream' ? {} : { schema: { type: 'string' } };
}

/** Most operations fail in the same few ways: each way is said once, named after its status and codes. */
function share(answer: Answer, full: Response, shared: Record<string, Response>): { $ref: string } {
  const kinds = answer.headers.includes('RateLimit-Limit') ? ['counted', ...answer.codes] : answer.codes;
  const patch = answer.headers.includes('Accept-Patch') ? ['patch'] : [];
  const quiet = answer.headers.includes('Server-Timing') ? [] : ['quiet'];
  const name = [answer.status, ...patch, ...quiet, ...kinds].join('.');
  shared[name] = full;
  return ref('responses', name);
}

function refuseTwins(routes: PublishedRoute[]): void {
  const seen = new Map<string, PublishedRoute>();
  for (const route of routes) {
    const twin = seen.get(route.id);
    if (twin) throw new Error(`${twin.method.toUpperCase()} ${twin.path} and ${route.method.toUpperCase()} ${route.path} have the same operation id "${route.id}": give one an options.id`);
    seen.set(route.id, route);
  }
}

function ref(kind: string, name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` };
}

function sorted<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function mapped<T>(record: Record<string, T>, to: (entry: [string, T]) => JsonSchema): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(record).map((entry) => [entry[0], to(entry)]));
}

const DESCRIPTIONS: Record<number, string> = {
  101: 'The connection becomes a WebSocket.',
  200: 'The request succeeded.',
  201: 'The resource was created.',
  202: 'The request was accepted and is processed in the background.',
  204: 'The request succeeded, or the stream has ended for good; there is no content.',
  303: 'The browser continues at another address.',
  304: 'The stored response is still valid.',
  400: 'The request is invalid.',
  401: 'The credential is missing or wrong.',
  403: 'The caller is authenticated, but not allowed to do this.',
  404: 'The resource does not exist.',
  405: 'The resource does not support this method.',
  406: 'The resource is not available in the requested media types.',
  408: 'The body did not arrive in time.',
  409: 'The request conflicts with the current state.',
  410: 'The resource is no longer available.',
  412: 'The resource has changed in the meantime.',
  413: 'The body is too large.',
  415: 'The media type of the body is not supported.',
  426: 'The resource only accepts WebSocket connections.',
  429: 'Too many requests.',
  431: 'The headers are too large.',
  500: 'The server failed.',
  503: 'The service is temporarily unavailable.',
};
