import type { McpCall, Offer } from './offer.ts';
import { responseText } from './response.ts';
import type { McpRequest, McpResponse } from './serve.ts';

const MODERN = '2026-07-28';
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26'];
const META = 'io.modelcontextprotocol/';
const MODERN_MEMBERS = [`${META}protocolVersion`, `${META}clientInfo`, `${META}clientCapabilities`, 'progressToken'];

/** A `tools/call` request of either era. */
export interface ToolCall {
  id: string | number;
  name: string;
  given: Members | undefined;
  isModern: boolean;
}

type Members = Record<string, unknown>;

/**
 * Returns the call of a message in the form that clients send. Returns null for every other message, also for one with a fault: the
 * SDK of its era serves those, and has the errors.
 */
export function toolCallOf({ headers, body }: McpRequest): ToolCall | null {
  if (!isObject(body, ['jsonrpc', 'id', 'method', 'params']) || body['jsonrpc'] !== '2.0' || body['method'] !== 'tools/call') return null;
  const { id, params } = body;
  if (!(typeof id === 'string' || Number.isSafeInteger(id)) || !isObject(params, ['name', 'arguments', '_meta'])) return null;
  const { name, arguments: given, _meta: meta } = params;
  if (typeof name !== 'string' || !(given === undefined || isObject(given))) return null;
  const isModern = headers['mcp-protocol-version'] === MODERN;
  const isUsual = isModern ? repeatsBody(headers, name) && isModernMeta(meta) : isLegacy(headers) && isLegacyMeta(meta);
  return isUsual ? { id: id as string | number, name, given, isModern } : null;
}

/** Calls a tool without an SDK. Their servers and schemas take longer than a read, and a test compares their responses with these. */
export async function callTool(offer: Offer, { id, name, given, isModern }: ToolCall, call: McpCall): Promise<McpResponse> {
  call.insertsJson = true;
  const result = await offer.call(name, given, call);
  const { _meta: meta } = result;
  const modern = { resultType: 'complete', _meta: { ...meta, [`${META}serverInfo`]: offer.info } };
  return { status: 200, text: responseText({ jsonrpc: '2.0', id, result: isModern ? { ...result, ...modern } : result }, call.json) };
}

function repeatsBody(headers: McpRequest['headers'], name: string): boolean {
  return headers['mcp-method'] === 'tools/call' && headers['mcp-name'] === name;
}

function isModernMeta(meta: unknown): boolean {
  if (!isObject(meta, MODERN_MEMBERS)) return false;
  const { [`${META}protocolVersion`]: revision, [`${META}clientInfo`]: client, [`${META}clientCapabilities`]: capabilities } = meta;
  const isClient = isObject(client) && 'name' in client && 'version' in client && Object.values(client).every((value) => typeof value === 'string');
  return revision === MODERN && isClient && isObject(capabilities) && Object.values(capabilities).every((value) => isObject(value)) && isProgressToken(meta['progressToken']);
}

function isLegacy(headers: McpRequest['headers']): boolean {
  const { 'mcp-protocol-version': revision, 'mcp-method': method, 'mcp-name': name } = headers;
  return (revision === undefined || LEGACY.includes(revision)) && method === undefined && name === undefined;
}

function isLegacyMeta(meta: unknown): boolean {
  return meta === undefined || (isObject(meta, ['progressToken']) && isProgressToken(meta['progressToken']));
}

/** The server sends no progress, so the token changes nothing. */
function isProgressToken(token: unknown): boolean {
  return token === undefined || typeof token === 'string' || Number.isSafeInteger(token);
}

/** Returns whether a value is an object, with no members but those of `allowed`. */
function isObject(value: unknown, allowed?: string[]): value is Members {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false;
  return !allowed || Object.keys(value).every((member) => allowed.includes(member));
}
