import type { Server } from '@hapi/hapi';
import type { Schema } from 'joi';
import type { ContractInfo } from './openapi.ts';
import { describeOwner, publishedRoutes, type PublishedRoute } from './route.ts';
import { gatherSchemas, membersOf, type JsonSchema, type Schemas } from './schema.ts';

export interface AsyncApiOptions {
  info: ContractInfo;
  /** The public address, without a trailing slash. */
  publicUrl: string;
}

export interface AsyncApi {
  asyncapi: string;
  info: ContractInfo;
  defaultContentType: string;
  servers: Record<string, JsonSchema>;
  channels: Record<string, Channel>;
  operations: Record<string, AsyncOperation>;
  components: { messages: Record<string, Message>; schemas: Record<string, JsonSchema>; securitySchemes: Record<string, JsonSchema> };
}

export interface Channel {
  address: string;
  title?: string;
  description?: string;
  servers: { $ref: string }[];
  messages: Record<string, { $ref: string }>;
  parameters?: Record<string, { description?: string }>;
  bindings: JsonSchema;
  'x-subprotocol'?: string;
}

export interface AsyncOperation {
  action: 'send' | 'receive';
  channel: { $ref: string };
  summary?: string;
  tags: { name: string }[];
  security?: { $ref: string }[];
  messages: { $ref: string }[];
}

export interface Message {
  name: string;
  contentType: string;
  summary?: string;
  payload: JsonSchema;
}

/** The AsyncAPI 3.0 document of every stream and socket a server publishes, from the schemas of their messages. */
export function asyncApi(server: Server, options: AsyncApiOptions): AsyncApi {
  const routes = publishedRoutes(server).filter((route) => route.declaration.stream);
  const schemas = gatherSchemas();
  const messages: Record<string, Message> = {};
  const document: AsyncApi = {
    asyncapi: '3.0.0',
    info: options.info,
    defaultContentType: 'application/json',
    servers: serversAt(options.publicUrl),
    channels: {},
    operations: {},
    components: { messages, schemas: {}, securitySchemes: SECURITY },
  };
  for (const route of routes) {
    schemas.enter(describeOwner(route));
    const stream = route.declaration.stream!;
    const sent = messageNames(route, stream.send, messages, schemas);
    const received = messageNames(route, stream.receive ?? {}, messages, schemas);
    document.channels[route.id] = channelOf(route, [...sent, ...received], schemas);
    document.operations[`${route.id}.send`] = operationOf(route, 'send', sent);
    if (received.length > 0) document.operations[`${route.id}.receive`] = operationOf(route, 'receive', received);
  }
  document.components.messages = Object.fromEntries(Object.entries(messages).sort(([a], [b]) => (a < b ? -1 : 1)));
  document.components.schemas = schemas.components();
  return JSON.parse(JSON.stringify(document)) as AsyncApi;
}

/** Event streams are plain HTTP; sockets are reached at the same host under their own scheme. */
function serversAt(publicUrl: string): Record<string, JsonSchema> {
  const url = new URL(publicUrl);
  const isSecure = url.protocol === 'https:';
  const pathname = url.pathname === '/' ? undefined : url.pathname;
  return {
    events: { host: url.host, pathname, protocol: isSecure ? 'https' : 'http', description: 'Server-sent events' },
    sockets: { host: url.host, pathname, protocol: isSecure ? 'wss' : 'ws', description: 'WebSocket' },
  };
}

/** Streams share messages; two that differ under one name are told apart by their channel. */
function messageNames(route: PublishedRoute, kinds: Record<string, Schema>, messages: Record<string, Message>, schemas: Schemas): string[] {
  return Object.entries(kinds).map(([name, schema]) => {
    const message: Message = { name, contentType: 'application/json', summary: schema.$_getFlag('description'), payload: schemas.of(schema) };
    const isTaken = messages[name] && JSON.stringify(messages[name]) !== JSON.stringify(message);
    const key = isTaken ? `${route.id}.${name}` : name;
    messages[key] = message;
    return key;
  });
}

function channelOf(route: PublishedRoute, names: string[], schemas: Schemas): Channel {
  const stream = route.declaration.stream!;
  const isSocket = stream.protocol === 'websocket';
  return {
    address: route.path,
    title: route.summary ?? undefined,
    description: route.notes.length > 0 ? route.notes.join('\n\n') : undefined,
    servers: [{ $ref: isSocket ? '#/servers/sockets' : '#/servers/events' }],
    messages: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
    parameters: route.paramNames.length > 0 ? parametersOf(route) : undefined,
    bindings: isSocket ? { ws: { method: 'GET', query: objectOf(route.query, schemas), headers: objectOf(route.headers, schemas), bindingVersion: '0.1.0' } } : {},
    'x-subprotocol': stream.subprotocol,
  };
}

function parametersOf(route: PublishedRoute): Record<string, { description?: string }> {
  const members = membersOf(route.params);
  return Object.fromEntries(route.paramNames.map((name) => [name, { description: members.get(name)?.$_getFlag('description') }]));
}

function objectOf(schema: Schema | null, schemas: Schemas): JsonSchema | undefined {
  return schema ? { ...schemas.of(schema), type: 'object' } : undefined;
}

function operationOf(route: PublishedRoute, action: 'send' | 'receive', names: string[]): AsyncOperation {
  return {
    action,
    channel: { $ref: `#/channels/${route.id}` },
    summary: route.summary ?? undefined,
    tags: [{ name: route.owner }],
    security: route.access.mode === 'required' ? [{ $ref: '#/components/securitySchemes/api_key' }, { $ref: '#/components/securitySchemes/oauth' }] : undefined,
    messages: names.map((name) => ({ $ref: `#/channels/${route.id}/messages/${name}` })),
  };
}

const SECURITY: Record<string, JsonSchema> = {
  api_key: { type: 'httpApiKey', in: 'header', name: 'X-API-Key' },
  oauth: { type: 'http', scheme: 'bearer', description: 'An OAuth 2.1 access token.' },
};
