import type { Lifecycle, Request, ServerRoute } from '@hapi/hapi';
import { Joi, problem, type Caller, type Civic, type ProtocolDeclaration } from 'civic';
import type { McpConfig } from './config.ts';
import { rpcErrors, tokenAdvice } from './errors.ts';
import { createGuard } from './guard.ts';
import type { Incidents } from './incidents.ts';
import type { McpCall } from './offer.ts';
import type { McpRequest, Serve } from './serve.ts';

const PATH = '/mcp';
const PROTOCOL_HEADERS = ['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name', 'Mcp-Session-Id'];
const MAX_BYTES = 1024 * 1024;

/** JSON-RPC 2.0; the Model Context Protocol defines methods and results. */
const message = Joi.object({ jsonrpc: Joi.string().valid('2.0').required(), id: Joi.alternatives(Joi.string(), Joi.number()), method: Joi.string(), params: Joi.object() }).unknown().meta({ name: 'McpMessage' });
const reply = Joi.object({ jsonrpc: Joi.string().valid('2.0').required() }).unknown().meta({ name: 'McpReply' });
const PROTOCOL: ProtocolDeclaration = { payload: message, responses: { 200: reply, 202: null, 400: reply, 401: reply, 403: reply, 413: reply, 415: reply, 429: reply, 500: reply, 503: reply } };

export interface RouteContext {
  civic: Civic<McpConfig>;
  /** Whether the plugin oauth issues access tokens. */
  hasOauth: boolean;
  serve: Serve;
  record: Incidents['record'];
}

/** Returns the route of Streamable HTTP without sessions: any node can serve each POST. The response to GET and DELETE, which need sessions, is 405. */
export function mcpRoute({ civic, hasOauth, serve, record }: RouteContext): ServerRoute {
  const guard = createGuard(civic.instance.public_url, civic.config);
  const rejectForeign: Lifecycle.Method = (request, h) => {
    const refusal = guard(request);
    if (refusal) {
      record(request, refusal.message);
      // Not thrown: the request must still count against the rate limit of its address.
      request.civic.refusal = refusal;
    }
    return h.continue;
  };
  return {
    method: 'POST',
    path: PATH,
    options: {
      description: 'The tools of this instance for assistants, over the Model Context Protocol',
      notes: 'A JSON-RPC message of the Model Context Protocol, over Streamable HTTP without sessions. With an access token for this address.',
      auth: { mode: 'required' },
      payload: { parse: true, output: 'data', allow: 'application/json', maxBytes: MAX_BYTES },
      ext: { onPreAuth: { method: rejectForeign } },
      plugins: { civic: { internal: true, protocol: PROTOCOL, errors: rpcErrors({ hasOauth }), cors: { headers: PROTOCOL_HEADERS, expose: PROTOCOL_HEADERS, origins: civic.config.origins } } },
    },
    async handler(request, h) {
      const caller = tokenCaller(request, hasOauth);
      if (Array.isArray(request.payload)) throw problem('batch_refused');
      const waiting = new AbortController();
      const end = () => waiting.abort();
      request.raw.res.once('close', end);
      const call: McpCall = { caller, signal: waiting.signal, requestId: request.civic.requestId, refusal: null, json: null, insertsJson: false };
      try {
        const { status, text } = await serve({ headers: request.headers as McpRequest['headers'], body: request.payload }, call);
        if (call.refusal) throw call.refusal;
        const response = h.response(text === '' ? undefined : Buffer.from(text)).code(status).header('cache-control', 'no-store');
        return text === '' ? response : response.type('application/json');
      } finally {
        request.raw.res.removeListener('close', end);
      }
    },
  };
}

/** Rejects API keys: a key has all permissions of its account, and would be stored in the settings of assistants. */
function tokenCaller(request: Request, hasOauth: boolean): Caller {
  const caller = request.auth.credentials as unknown as Caller;
  if (caller.via !== 'token') throw problem('token_required', { detail: tokenAdvice({ hasOauth }) });
  return caller;
}
