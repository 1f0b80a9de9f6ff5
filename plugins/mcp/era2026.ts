import { classifyInboundRequest, createMcpHandler, ProtocolError, ResourceNotFoundError, Server, type McpHttpHandler } from '@modelcontextprotocol/server';
import { METHOD_NOT_FOUND, MissingResource, RpcError } from './errors.ts';
import type { McpCall, Offer } from './offer.ts';
import type { McpRequest, McpResponse } from './serve.ts';

/** What plugins offer changes only with a restart; who may see it does not differ. */
const LISTS = { ttlMs: 300_000, cacheScope: 'public' } as const;

/** Creates a server for clients of the revision 2026-07-28; over stdio also for older ones. */
export function createServer(offer: Offer, call: McpCall): Server {
  const server = new Server(offer.info, {
    capabilities: { tools: {}, resources: {}, prompts: {} },
    instructions: offer.instructions,
    cacheHints: { 'tools/list': LISTS, 'prompts/list': LISTS, 'resources/list': LISTS, 'resources/templates/list': LISTS },
  });
  server.setRequestHandler('tools/list', () => ({ tools: offer.tools() }));
  server.setRequestHandler('tools/call', ({ params }) => translated(() => offer.call(params.name, params.arguments, call)));
  server.setRequestHandler('resources/list', () => ({ resources: offer.resources() }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: offer.templates() }));
  server.setRequestHandler('resources/read', ({ params }) => translated(() => offer.read(params.uri, call)));
  server.setRequestHandler('prompts/list', () => ({ prompts: offer.prompts() }));
  server.setRequestHandler('prompts/get', ({ params }) => translated(async () => offer.prompt(params.name, params.arguments)));
  return server;
}

/** Whether a request is of a revision before 2026-07-28, as the handler of this era decides it. */
export function isOf2025({ headers, body }: McpRequest): boolean {
  const outcome = classifyInboundRequest({ httpMethod: 'POST', protocolVersionHeader: headers['mcp-protocol-version'], mcpMethodHeader: headers['mcp-method'], mcpNameHeader: headers['mcp-name'], body });
  return outcome.kind === 'legacy';
}

/** Creates the handler of this era. It makes a server for each request from the call that `serve2026` passes along. */
export function create2026(offer: Offer): McpHttpHandler {
  return createMcpHandler(({ authInfo }) => createServer(offer, authInfo!.extra!['call'] as McpCall), { legacy: 'reject' });
}

export async function serve2026(handler: McpHttpHandler, { headers, body }: McpRequest, call: McpCall): Promise<McpResponse> {
  if (isListening(body)) return { status: 404, text: JSON.stringify({ jsonrpc: '2.0', id: body.id ?? null, error: { code: METHOD_NOT_FOUND, message: 'There are no subscriptions: what the tools return changes, the lists do not' } }) };
  // The token stays outside: what runs behind the route has no use for it.
  const response = await handler.fetch(requestWith(headers), { parsedBody: body, authInfo: { token: '', clientId: '', scopes: call.caller?.scope ?? [], extra: { call } } });
  return { status: response.status, text: await response.text() };
}

/** The handler would open a stream that nothing is ever sent on. */
function isListening(body: unknown): body is { id?: unknown } {
  return (body as { method?: unknown } | null)?.method === 'subscriptions/listen';
}

/** What the handler reads of a request when the body is given. A whole `Request` takes as long as a query. */
function requestWith(headers: McpRequest['headers']): Request {
  return { method: 'POST', headers: { get: (name: string) => headers[name.toLowerCase()] ?? null } } as unknown as Request;
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MissingResource) throw new ResourceNotFoundError(error.uri, error.message);
    throw error instanceof RpcError ? new ProtocolError(error.code, error.message, error.data) : error;
  }
}
