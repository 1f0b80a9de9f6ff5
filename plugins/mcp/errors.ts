import type { Request } from '@hapi/hapi';
import type { OwnedTool, ProblemData, ProblemKind } from 'civic';
import { mcpProblems } from './problems.ts';

/** A JSON-RPC error. The SDK of the 2025 era sends it as it is; for 2026 it becomes an error of its SDK. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** A resource that does not exist. Each era has another code for it. */
export class MissingResource extends RpcError {
  readonly uri: string;

  constructor(uri: string, message: string) {
    super(RESOURCE_NOT_FOUND, message, { uri });
    this.uri = uri;
  }
}

const RESOURCE_NOT_FOUND = -32002;
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
/** For requests that are rejected before their message is read, such as without a token. */
const REJECTED = -32000;

const CODES: Record<string, number> = {
  malformed_body: PARSE_ERROR,
  batch_refused: INVALID_REQUEST,
  invalid_request: INVALID_REQUEST,
  unsupported_media_type: INVALID_REQUEST,
};

interface ProblemBody {
  code: string;
  title: string;
  detail: string;
}

/** Problems whose text recommends an API key, which `/mcp` does not accept. */
const RECOMMEND_KEYS = ['authentication_required', 'misplaced_key'];

/** Returns how to get an access token. */
export function tokenAdvice({ hasOauth }: { hasOauth: boolean }): string {
  return hasOauth ? mcpProblems.token_required.advice : 'This instance issues no access tokens: its plugin oauth is off. On its own machine, use bin/civic mcp stdio.';
}

/** Returns a function for the body of an HTTP error: a JSON-RPC error with the problem as data, and with the id of the request once its body is read. */
export function rpcErrors(tokens: { hasOauth: boolean }): (given: ProblemBody, request: Pick<Request, 'payload'>) => object {
  return (given, { payload }) => {
    const problem = RECOMMEND_KEYS.includes(given.code) ? { ...given, title: mcpProblems.token_required.title, detail: tokenAdvice(tokens) } : given;
    const error = { code: CODES[problem.code] ?? REJECTED, message: `${problem.title}. ${problem.detail}`, data: problem };
    return { jsonrpc: '2.0', id: idOf(payload), error };
  };
}

/** Returns the id of a message; null when it has none that is valid. */
export function idOf(message: unknown): string | number | null {
  const id = (message as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** The next step of the assistant after problems that any tool can have, by code. */
const ADVICE: Record<string, string> = {
  invalid_request: 'Correct the arguments and call the tool again.',
  authentication_required: 'Tell the user that this needs an account. Do not call the tool again.',
  no_accounts: 'Tell the user that this instance has no accounts. Do not call the tool again.',
  plan_required: 'Tell the user which plans include this. Do not call the tool again.',
  permission_required: 'Tell the user that this needs another role. Do not call the tool again.',
  result_too_large: 'Call the tool again with fewer or shorter filters.',
};

/** Returns a text that describes the problem and the next step of the assistant. */
export function textOfProblem({ code, title, status, detail, errors = [], extra = {} }: ProblemKind & ProblemData, tool: Pick<OwnedTool, 'advice'>): string {
  const more = errors.length > 1 ? errors.map((error) => `- ${error.parameter ?? error.pointer}: ${error.detail}`) : [];
  const members = Object.entries(extra).filter(([, value]) => isText(value)).map(([name, value]) => ({ name, text: [value].flat().join(', ') }))
    .filter(({ text }) => !detail?.includes(text)).map(({ name, text }) => `${name}: ${text}`);
  const advice = tool.advice?.[code] ?? ADVICE[code] ?? (status >= 500 ? 'Try again later.' : null);
  return [`${title} (${code}). ${detail ?? ''}`.trim(), ...more, ...members, ...(advice ? [`Next: ${advice}`] : [])].join('\n');
}

/** Returns whether a value is a text or a list of texts. */
function isText(value: unknown): boolean {
  return typeof value === 'string' || (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string'));
}
