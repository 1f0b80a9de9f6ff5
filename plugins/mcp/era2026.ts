import {
  classifyInboundRequest, createMcpHandler, PerRequestHTTPServerTransport, ProtocolError, ResourceNotFoundError, Server, SUPPORTED_PROTOCOL_VERSIONS,
  type InboundClassificationOutcome, type InboundModernRoute, type JSONRPCMessage, type MessageClassification, type TransportSendOptions,
} from '@modelcontextprotocol/server';
import { METHOD_NOT_FOUND, MissingResource, RpcError } from './errors.ts';
import type { McpCall, Offer } from './offer.ts';
import { responseText } from './response.ts';
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
  serve(route: InboundClassificationOutcome, request: McpRequest, call: McpCall): Promise<McpResponse>;
  close(): Promise<void>;
}

export function create2026(offer: Offer): Era2026 {
  const handler = createMcpHandler(({ authInfo }) => createServer(offer, authInfo!.extra!['call'] as McpCall), { legacy: 'reject' });
  return {
    async serve(route, { headers, body }, call) {
      if (isListening(body)) return { status: 404, text: JSON.stringify({ jsonrpc: '2.0', id: body.id ?? null, error: { code: METHOD_NOT_FOUND, message: 'There are no subscriptions: what the tools return changes, the lists do not' } }) };
      if (isToolCall(route) && repeatsBody(headers, route)) return callTool(offer, route, call);
      // Tools get the caller and never the token, so the token of `authInfo` is empty.
      return read(await handler.fetch(requestWith(headers), { parsedBody: body, authInfo: { token: '', clientId: '', scopes: call.caller?.scope ?? [], extra: { call } } }));
    },
    close: () => handler.close(),
  };
}

type ToolCallRoute = Extract<InboundModernRoute, { messageKind: 'request' }>;

function isToolCall(route: InboundClassificationOutcome): route is ToolCallRoute {
  return route.kind === 'modern' && route.messageKind === 'request' && route.message.method === 'tools/call';
}

/** Returns whether the headers of a call name its revision, method and tool, as the handler requires. `routeOf` has compared the first two with the body. */
function repeatsBody(headers: McpRequest['headers'], { message, classification }: ToolCallRoute): boolean {
  return classification.revision === REVISION && headers['mcp-protocol-version'] !== undefined && headers['mcp-method'] !== undefined && headers['mcp-name'] === message.params?.['name'];
}

/** Calls a tool without the handler: creating and reading its `Response` takes as long as a read. */
function callTool(offer: Offer, { message, classification }: ToolCallRoute, call: McpCall): Promise<McpResponse> {
  call.insertsJson = true;
  return new Promise((resolve, reject) => {
    const exchange = new Exchange(classification, (result) => resolve({ status: 200, text: responseText(result, call.json) }));
    createServer(offer, call).connect(exchange).then(() => exchange.handleMessage(message)).then(read).then(resolve, reject);
  });
}

/** The transport of one call. It passes a result to `respond`; an error becomes a `Response` with its status. */
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
