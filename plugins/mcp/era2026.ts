import {
  classifyInboundRequest, createMcpHandler, PerRequestHTTPServerTransport, ProtocolError, ResourceNotFoundError, Server, SUPPORTED_PROTOCOL_VERSIONS,
  type InboundClassificationOutcome, type InboundModernRoute, type JSONRPCMessage, type MessageClassification, type TransportSendOptions,
} from '@modelcontextprotocol/server';
import { METHOD_NOT_FOUND, MissingResource, RpcError } from './errors.ts';
import type { McpCall, Offer } from './offer.ts';
import { responseText } from './response.ts';
import type { McpRequest, McpResponse } from './serve.ts';

const REVISION = '2026-07-28';

/** What plugins offer changes only with a restart; who may see it does not differ. */
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

/** Decides the era of a request, and with it what is wrong with a request of this one. */
export function routeOf({ headers, body }: McpRequest): InboundClassificationOutcome {
  return classifyInboundRequest({ httpMethod: 'POST', protocolVersionHeader: headers['mcp-protocol-version'], mcpMethodHeader: headers['mcp-method'], mcpNameHeader: headers['mcp-name'], body });
}

export interface Era2026 {
  serve(route: InboundClassificationOutcome, request: McpRequest, call: McpCall): Promise<McpResponse>;
  close(): Promise<void>;
}

export function create2026(offer: Offer): Era2026 {
  const handler = createMcpHandler(({ authInfo }) => createServer(offer, authInfo!.extra!['call'] as McpCall), { legacy: 'reject' });
  return {
    async serve(route, { headers, body }, call) {
      if (isListening(body)) return { status: 404, text: JSON.stringify({ jsonrpc: '2.0', id: body.id ?? null, error: { code: METHOD_NOT_FOUND, message: 'There are no subscriptions: what the tools return changes, the lists do not' } }) };
      if (isToolCall(route) && repeatsBody(headers, route)) return callTool(offer, route, call);
      // The token stays outside: what runs behind the route has no use for it.
      return read(await handler.fetch(requestWith(headers), { parsedBody: body, authInfo: { token: '', clientId: '', scopes: call.caller?.scope ?? [], extra: { call } } }));
    },
    close: () => handler.close(),
  };
}

type ToolCallRoute = Extract<InboundModernRoute, { messageKind: 'request' }>;

function isToolCall(route: InboundClassificationOutcome): route is ToolCallRoute {
  return route.kind === 'modern' && route.messageKind === 'request' && route.message.method === 'tools/call';
}

/** Whether the headers of a call name its revision, method and tool, which is what the handler checks. `routeOf` has compared the first two. */
function repeatsBody(headers: McpRequest['headers'], { message, classification }: ToolCallRoute): boolean {
  return classification.revision === REVISION && headers['mcp-protocol-version'] !== undefined && headers['mcp-method'] !== undefined && headers['mcp-name'] === message.params?.['name'];
}

/** Calls a tool without the handler, which takes as long as a read to wrap the result in a `Response` and to read it from there. */
function callTool(offer: Offer, { message, classification }: ToolCallRoute, call: McpCall): Promise<McpResponse> {
  return new Promise((resolve, reject) => {
    const exchange = new Exchange(classification, (result) => resolve({ status: 200, text: responseText(result, call.json) }));
    createServer(offer, call).connect(exchange).then(() => exchange.handleMessage(message)).then(read).then(resolve, reject);
  });
}

/** The transport of one call. A result goes to `respond`; errors become a `Response` with their status. */
class Exchange extends PerRequestHTTPServerTransport {
  private readonly respond: (result: JSONRPCMessage) => void;

  constructor(classification: MessageClassification, respond: (result: JSONRPCMessage) => void) {
    super({ classification });
    this.respond = respond;
  }

  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if ('result' in message) this.respond(message);
    else await super.send(message, options);
  }
}

async function read(response: Response): Promise<McpResponse> {
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
