import { Boom } from '@hapi/boom';
import type { Lifecycle, Request, RequestRoute, ResponseObject, ResponseToolkit, Server } from '@hapi/hapi';
import { createHash } from 'node:crypto';
import { latestEnd, type Clock } from '../clock.ts';
import type { Database } from '../database/types.ts';
import { addressGroup } from '../http/client-address.ts';
import { clientAddressOf, httpState } from '../http/state.ts';
import { newId } from '../ids.ts';
import type { Caller } from '../plugin.ts';
import { problem, problemData, type ProblemDetails } from '../problems.ts';
import { claimAnswer, dropAnswer, saveAnswer, type AnswerRow } from './store.ts';

export interface IdempotencyOptions {
  /** Asked when first needed: routes are declared before the database is open. */
  db: () => Database;
  clock: Clock;
}

/**
 * A stored response, or a stored problem. `status` is null where the handler leaves the choice of 200 or 204 to hapi;
 * a JSON body is stored as text, because Postgres reorders the members of an object.
 */
type Stored =
  | { status: number | null; headers: Record<string, string>; body: string; encoding: 'json' | 'base64' }
  | { code: string; details: ProblemDetails };

const KEY = /^[!-~]{1,255}$/;
// After this long an attempt whose process died no longer blocks the key.
const ABANDONED_MS = 60_000;
export const KEPT_MS = 24 * 3600_000;

/**
 * Honours `Idempotency-Key` on every POST under `/api`: stores the first response for a day and replays it.
 * Wraps handlers while routes are registered, so that other routes pay nothing.
 */
export function addIdempotency(server: Server, options: IdempotencyOptions): void {
  server.events.on('route', (route) => {
    // The handler of a streamed body reads the body first, and then calls `respondOnce` with its hash.
    if (!isRepeatable(route) || route.settings.payload?.output === 'stream') return;
    const handler = route.settings.handler as Lifecycle.Method;
    route.settings.handler = (request, h) => {
      const respond = () => handler.call(h.context, request, h);
      return request.headers['idempotency-key'] === undefined ? respond() : storeOrReplay(respond, JSON.stringify(request.payload) ?? '', request, h, options);
    };
  });
}

/** Honours `Idempotency-Key` where the body is a stream: `body` is a hash of what was read. A replay does not call `respond`. */
export async function respondOnce(request: Request, h: ResponseToolkit, body: string, respond: () => Promise<ResponseObject>): Promise<Lifecycle.ReturnValueTypes> {
  return request.headers['idempotency-key'] === undefined ? respond() : storeOrReplay(respond, body, request, h, httpState(request.server).idempotency);
}

export function isRepeatable(route: Pick<RequestRoute, 'method' | 'path'>): boolean {
  return route.method === 'post' && route.path.startsWith('/api/');
}

/** A secret is stored nowhere, so its response cannot be replayed. */
function showsSecret(route: Pick<RequestRoute, 'settings'>): boolean {
  return route.settings.plugins?.civic?.secret === true;
}

async function storeOrReplay(respond: () => Lifecycle.ReturnValue, body: string, request: Request, h: ResponseToolkit, options: IdempotencyOptions): Promise<Lifecycle.ReturnValueTypes> {
  const db = options.db();
  const row = newRow(request, body, options.clock);
  const now = options.clock.now();
  const running = { since: new Date(now - ABANDONED_MS).toISOString(), until: new Date(latestEnd(now, 0)).toISOString() };
  const first = await db.write((tx) => claimAnswer(tx, row, running));
  if (first) return replay(first, row, h);
  try {
    const result = await respond();
    if (result instanceof Error) throw result;
    const response = typeof result === 'symbol' || result === undefined ? null : (h.response(result as object) as ResponseObject);
    await store(db, row, response && (showsSecret(request.route) ? { code: 'secret_shown_once', details: {} } : storedResponse(response)));
    return response ?? (result as symbol);
  } catch (error) {
    await store(db, row, storedProblem(error));
    throw error;
  }
}

/** Releases the key when there is nothing to store. */
function store(db: Database, row: AnswerRow, stored: Stored | null): Promise<void> {
  return db.write((tx) => (stored ? saveAnswer(tx, row, JSON.stringify(stored)) : dropAnswer(tx, row)));
}

function newRow(request: Request, body: string, clock: Clock): AnswerRow {
  const key = request.headers['idempotency-key'] as string;
  if (!KEY.test(key)) throw problem('invalid_header', { detail: 'Idempotency-Key must be 1 to 255 visible ASCII characters without spaces.' });
  return {
    caller: callerKey(request),
    route: request.path,
    idempotency_key: key,
    token: newId(),
    body_hash: createHash('sha256').update(request.url.search).update(body).digest('hex'),
    answer: null,
    begun_at: clock.iso(),
  };
}

/** A key belongs to an account in one workspace: the response of another workspace is not replayed. */
function callerKey(request: Request): string {
  if (!request.auth.isAuthenticated) return addressGroup(clientAddressOf(request));
  const { account_id, workspace_id } = request.auth.credentials as unknown as Caller;
  return workspace_id === null ? account_id : `${account_id} ${workspace_id}`;
}

function replay(first: AnswerRow, row: AnswerRow, h: ResponseToolkit): ResponseObject {
  if (first.body_hash !== row.body_hash) throw problem('idempotency_key_reused');
  if (first.answer === null) throw problem('idempotency_in_progress', { headers: { 'retry-after': '1' } });
  const stored = JSON.parse(first.answer) as Stored;
  if ('code' in stored) throw problem(stored.code, { ...stored.details, headers: { ...stored.details.headers, 'idempotency-replayed': 'true' } });
  const body: unknown = stored.encoding === 'json' ? JSON.parse(stored.body) : Buffer.from(stored.body, 'base64');
  const response = h.response(body as object).header('idempotency-replayed', 'true');
  if (stored.status !== null) response.code(stored.status);
  for (const [name, value] of Object.entries(stored.headers)) response.header(name, value);
  return response;
}

/** Null for a response that cannot be replayed, such as a stream. */
function storedResponse(response: ResponseObject): Stored | null {
  const { variety, source, headers } = response;
  const status = response.statusCode as number | null;
  if (status !== null && status >= 500) return null;
  // Only what the handler set: hapi and core add their headers later, to the replayed response as well.
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  if (variety === 'buffer') return { status, headers: own, body: (source as Buffer).toString('base64'), encoding: 'base64' };
  return variety === 'plain' ? { status, headers: own, body: JSON.stringify(source), encoding: 'json' } : null;
}

/** Statuses of a request that was not carried out: hapi, the gates and handlers reject alike, and none of them takes the key. */
const REJECTED = new Set([400, 401, 403, 413, 415, 429]);

/** Null where the client may send the request again with the same key, corrected or later. */
function storedProblem(error: unknown): Stored | null {
  const data = problemData(error);
  if (!data || !(error instanceof Boom) || error.isServer || REJECTED.has(error.output.statusCode)) return null;
  const { code, cause: _cause, ...details } = data;
  return { code, details };
}
