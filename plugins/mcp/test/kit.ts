import { definePlugin, type Caller } from 'civic';
import { testServer, type TestServer, type TestServerOptions } from 'civic/testing';
import { Client as Client2025 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport2025 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as Client2026, StreamableHTTPClientTransport as Transport2026 } from '@modelcontextprotocol/client';
import mcp from '../index.ts';

const base: Caller = {
  account_id: '01890000-0000-7000-8000-000000000001', via: 'token', scope: ['directory:read'], role: 'user', plan: 'free', capabilities: [],
  workspace_id: '01890000-0000-7000-8000-00000000000a', workspace_role: 'member',
};

/** Callers by token. */
export const callers: Record<string, Caller> = {
  reader: base,
  subscriber: { ...base, scope: ['directory:read', 'firehose:read'], plan: 'team', capabilities: ['firehose'] },
  /** Has the scope, but a plan without the Firehose. */
  lapsed: { ...base, scope: ['directory:read', 'firehose:read'] },
  /** Has a plan with the Firehose, but not the scope. */
  narrow: { ...base, plan: 'team', capabilities: ['firehose'] },
  scopeless: { ...base, scope: [] },
  reviewer: { ...base, role: 'reviewer', scope: ['directory:read', 'entities:write'] },
};

/** A replacement for the plugin oauth: the token is the name of a caller. */
export const tokens = definePlugin({
  name: 'tokens',
  summary: 'Callers for tests',
  register(_server, civic) {
    civic.identify((request) => {
      const token = /^Bearer (.+)$/.exec(String(request.headers['authorization'] ?? ''))?.[1];
      if (token) return callers[token] ?? null;
      return request.headers['x-api-key'] ? { ...base, via: 'key' } : null;
    });
  },
});

export interface RpcReply {
  status: number;
  headers: Headers;
  body: any;
}

export interface McpKit extends TestServer {
  /** Sends a message of the 2025 era, by default with the token of the subscriber. */
  rpc(method: string, params?: object, options?: { token?: string | null; headers?: Record<string, string>; body?: unknown }): Promise<RpcReply>;
  /** Calls a tool and returns its result. */
  call(name: string, given?: object, token?: string): Promise<any>;
}

export async function mcpKit(options: TestServerOptions = {}): Promise<McpKit> {
  const kit = await testServer({ listen: true, ...options, plugins: ['directory', 'firehose', mcp, tokens, ...options.plugins ?? []] });
  const rpc: McpKit['rpc'] = async (method, params = {}, { token = 'subscriber', headers = {}, body } = {}) => {
    const response = await fetch(`${kit.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...(token && { authorization: `Bearer ${token}` }), ...headers },
      body: JSON.stringify(body ?? { jsonrpc: '2.0', id: 1, method, params }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
  };
  return Object.assign(kit, {
    rpc,
    async call(name: string, given: object = {}, token = 'subscriber') {
      const { status, body } = await rpc('tools/call', { name, arguments: given }, { token });
      if (status !== 200 || body.error) throw new Error(JSON.stringify(body));
      return body.result;
    },
  });
}

export const KANSAS_CITY = 'kansas-city,missouri';

/** Returns the arguments to call each tool with; `id` is that of an actor in Kansas City. */
export const argumentsFor = (id: string): Record<string, Record<string, unknown>> => ({
  search_entities: { query: 'river', entity_type: ['organization'] },
  get_entity: { id },
  get_entity_sources: { id },
  get_related_entities: { id },
  search_places: { query: 'KCMO' },
  get_place_entities: { place_key: KANSAS_CITY, issue_area: ['public_transit'] },
  get_place_sources: { place_key: KANSAS_CITY },
  get_place_coverage: { place_key: KANSAS_CITY },
  list_issue_areas: {},
  resolve_issue_areas: { query: 'bus routes' },
  search_signals: { place: [KANSAS_CITY] },
  search: { query: 'river' },
  fetch: { id },
});

/** What the clients of both eras have in common. */
export interface AnyClient {
  listTools(): Promise<{ tools: { name: string; title?: string; outputSchema?: unknown; annotations?: Record<string, unknown> }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  listResources(): Promise<{ resources: unknown[] }>;
  listResourceTemplates(): Promise<{ resourceTemplates: { uriTemplate: string }[] }>;
  readResource(what: { uri: string }): Promise<{ contents: unknown[] }>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  getPrompt(what: { name: string; arguments: Record<string, string> }): Promise<{ messages: { content: unknown }[] }>;
  getServerVersion(): { name: string; version: string } | undefined;
  close(): Promise<void>;
}

/** Connects a client of the SDK for the revisions up to 2025-11-25. */
export async function connect2025(url: string, token: string): Promise<Client2025> {
  const client = new Client2025({ name: 'test', version: '1' });
  await client.connect(new Transport2025(new URL(`${url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  return client;
}

/** Connects a client of the SDK for the revision 2026-07-28, without older revisions. */
export async function connect2026(url: string, token: string): Promise<Client2026> {
  const client = new Client2026({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new Transport2026(new URL(`${url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  return client;
}

/** Stores an actor with one source and returns its id. */
export async function addActor(kit: McpKit, name: string, claims: Record<string, unknown> = {}, visibility = 'public', excerpt: string | null = null): Promise<string> {
  const response = await fetch(`${kit.url}/api/entities`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer reviewer' },
    body: JSON.stringify({
      type: 'organization',
      visibility,
      sources: [{ local_id: 's', url: `https://example.org/${encodeURIComponent(name)}`, title: `About ${name}`, publication: 'The Example' }],
      claims: Object.entries({ name, ...claims }).flatMap(([property, value]) => [value].flat().map((one) => ({ property, value: one, source_local_id: 's', excerpt }))),
    }),
  });
  const created = await response.json() as { id: string };
  if (response.status !== 201) throw new Error(JSON.stringify(created));
  return created.id;
}
