import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema, GetPromptRequestSchema, isInitializeRequest, isJSONRPCRequest, JSONRPCMessageSchema, ListPromptsRequestSchema, ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema, ListToolsRequestSchema, ReadResourceRequestSchema, SUPPORTED_PROTOCOL_VERSIONS, type JSONRPCErrorResponse, type JSONRPCMessage,
  type JSONRPCRequest, type Result,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { idOf, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST } from './errors.ts';
import type { McpCall, Offer } from './offer.ts';
import type { McpRequest, McpResponse } from './serve.ts';

/** Validates responses of clients to requests of the server, which sends none. Shared, because creating one for each server takes longer than a read. */
const jsonSchemaValidator = new AjvJsonSchemaValidator();

/** Creates a server for clients of the revisions up to 2025-11-25. It sends an `RpcError` as it is; `McpError` of the SDK would add a prefix that its client adds again. */
function createServer(offer: Offer, call: McpCall): Server {
  const server = new Server(offer.info, { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: offer.instructions, jsonSchemaValidator });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: offer.tools() }) as Result);
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => offer.call(params.name, params.arguments, call));
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: offer.resources() }) as Result);
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: offer.templates() }) as Result);
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => offer.read(params.uri, call));
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: offer.prompts() }) as Result);
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => offer.prompt(params.name, params.arguments, call));
  return server;
}

/**
 * Serves one message with a new server and transport, without sessions, so that any node can serve the next message. Shared servers
 * have sent responses to the wrong client (CVE-2026-25536).
 */
export async function serve2025(offer: Offer, { headers, body }: McpRequest, call: McpCall): Promise<McpResponse> {
  const parsed = JSONRPCMessageSchema.safeParse(body);
  if (!parsed.success) return rejected(body, 'The body is not a message of JSON-RPC 2.0');
  const message = parsed.data;
  const revision = headers['mcp-protocol-version'];
  if (revision !== undefined && !isInitializeRequest(message) && !SUPPORTED_PROTOCOL_VERSIONS.includes(revision)) {
    const supported = [...SUPPORTED_PROTOCOL_VERSIONS, '2026-07-28'].join(', ');
    return rejected(body, `The protocol revision ${revision.slice(0, 50)} is not supported; supported are ${supported}`);
  }
  // Notifications and responses belong to a session, and there are no sessions.
  if (!isJSONRPCRequest(message)) return { status: 202, text: '' };
  const exchange = new Exchange();
  const server = createServer(offer, call);
  await server.connect(exchange);
  const response = await exchange.responseTo(message);
  return { status: 200, text: JSON.stringify('error' in response ? withReadableFault(response, message) : response) };
}

const SCHEMAS = { 'tools/call': CallToolRequestSchema, 'resources/read': ReadResourceRequestSchema, 'prompts/get': GetPromptRequestSchema } as const;

/** The SDK reports params of the wrong type as an internal error with a dump of its schema. */
function withReadableFault(response: JSONRPCErrorResponse, { id, method, params }: JSONRPCRequest): JSONRPCErrorResponse {
  const schema = SCHEMAS[method as keyof typeof SCHEMAS];
  const [issue] = (response.error.code === INTERNAL_ERROR && schema?.safeParse({ method, params }).error?.issues) || [];
  return issue ? { jsonrpc: '2.0', id, error: { code: INVALID_PARAMS, message: `${issue.path.join('.')}: ${issue.message}` } } : response;
}

/** The transport of one request and its response. The transport of the SDK has streams and sessions, and takes half as long as a read. */
class Exchange implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  private resolve!: (message: JSONRPCMessage) => void;

  responseTo(message: JSONRPCMessage): Promise<JSONRPCMessage> {
    return new Promise((resolve) => {
      this.resolve = resolve;
      this.onmessage!(message);
    });
  }

  async start(): Promise<void> {}

  async close(): Promise<void> {}

  /** Passes the response on. The server has no capability that sends other messages. */
  async send(message: JSONRPCMessage): Promise<void> {
    if ('result' in message || 'error' in message) this.resolve(message);
  }
}

function rejected(body: unknown, message: string): McpResponse {
  return { status: 400, text: JSON.stringify({ jsonrpc: '2.0', id: idOf(body), error: { code: INVALID_REQUEST, message } }) };
}
