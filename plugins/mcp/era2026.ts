import {
  classifyInboundRequest, createMcpHandler, ProtocolError, ResourceNotFoundError, Server, SUPPORTED_PROTOCOL_VERSIONS, type InboundClassificationOutcome,
} from '@modelcontextprotocol/server';
import { METHOD_NOT_FOUND, MissingResource, RpcError } from './errors.ts';
import type { McpCall, Offer } from './offer.ts';
import type { McpRequest, McpResponse } from './serve.ts';

const REVISION = '2026-07-28';

/** Lists change only with a restart, and are the same for every caller. */
const LISTS = { ttlMs: 300_000, cacheScope: 'public' } as const;

/** Creates a server for clients of the revision 2026-07-28; over stdio also for older ones. */
export function createServer(offer: Offer, call: McpCall): Server {
  const server = new Server(offer.info, {
    capabilities: { tools: {}, resources: {}, prompts: {} },
    instructions: offer.instructions,
    supportedProtocolVersions: [REVISION, ...SUPPORTED_PROTOCOL_VERSIONS],
    cacheHints: { 'tools/list': LISTS, 'prompts/list': LISTS, 'resources/list': LISTS, 'resources/templates/list': LISTS },
  });
  server.setRequestHandler('tools/list', () => ({ tools: offer.tools() }));
  server.setRequestHandler('tools/call', ({ params }) => translated(() => offer.call(params.name, params.arguments, call)));
  server.setRequestHandler('resources/list', () => ({ resources: offer.resources() }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: offer.templates() }));
  server.setRequestHandler('resources/read', ({ params }) => translated(() => offer.read(params.uri, call)));
  server.setRequestHandler('prompts/list', () => ({ prompts: offer.prompts() }));
  server.setRequestHandler('prompts/get', ({ params }) => translated(() => offer.prompt(params.name, params.arguments, call)));
  return server;
}

/** Returns the era of a request; for a request of this era also its message, or the error of its headers. */
export function routeOf({ headers, body }: McpRequest): InboundClassificationOutcome {
  return classifyInboundRequest({ httpMethod: 'POST', protocolVersionHeader: headers['mcp-protocol-version'], mcpMethodHeader: headers['mcp-method'], mcpNameHeader: headers['mcp-name'], body });
}

export interface Era2026 {
  serve(request: McpRequest, call: McpCall): Promise<McpResponse>;
  close(): Promise<void>;
}

export function create2026(offer: Offer): Era2026 {
  const handler = createMcpHandler(({ authInfo }) => createServer(offer, authInfo!.extra!['call'] as McpCall), { legacy: 'reject' });
  return {
    async serve({ headers, body }, call) {
      if (isListening(body)) return { status: 404, text: JSON.stringify({ jsonrpc: '2.0', id: body.id ?? null, error: { code: METHOD_NOT_FOUND, message: 'There are no subscriptions: what the tools return changes, the lists do not' } }) };
      // Tools get the caller and never the token, so the token of `authInfo` is empty.
      return read(await handler.fetch(requestWith(headers), { parsedBody: body, authInfo: { token: '', clientId: '', scopes: call.caller?.scope ?? [], extra: { call } } }));
    },
    close: () => handler.close(),
  };
}

async function read(response: Response): Promise<McpResponse> {
  return { status: response.status, text: await response.text() };
}

/** Returns whether a request subscribes to messages of the server. The handler would open a stream without messages. */
function isListening(body: unknown): body is { id?: unknown } {
  return (body as { method?: unknown } | null)?.method === 'subscriptions/listen';
}

/** Returns the part of a `Request` that the handler reads when it gets a parsed body. Creating a whole one takes as long as a query. */
function requestWith(headers: McpRequest['headers']): Request {
  return { method: 'POST', headers: { get: (name: string) => headers[name.toLowerCase()] ?? null } } as unknown as Request;
}

/** Runs a handler, and throws its errors as errors of this SDK. */
async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MissingResource) throw new ResourceNotFoundError(error.uri, error.message);
    throw error instanceof RpcError ? new ProtocolError(error.code, error.message, error.data) : error;
  }
}
