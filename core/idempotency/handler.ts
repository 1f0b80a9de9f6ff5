import { Boom } from '@hapi/boom';
import type { Lifecycle, Request, RequestRoute, ResponseObject, ResponseToolkit, Server } from '@hapi/hapi';
import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/types.ts';
import { addressGroup } from '../http/client-address.ts';
import { clientAddressOf } from '../http/state.ts';
import { newId } from '../ids.ts';
import { problem, problemData, type ProblemDetails } from '../problems.ts';
import { claimAnswer, dropAnswer, saveAnswer, type AnswerRow } from './store.ts';

export interface IdempotencyOptions {
  /** Asked when first needed: routes are declared before the database is open. */
  db: () => Database;
  clock: Clock;
}

/** What is kept of an answer: a value that was returned, or a problem that was thrown. */
type Kept =
  | { status: number; headers: Record<string, string>; body: unknown }
  | { code: string; details: ProblemDetails };

const KEY = /^[!-~]{1,255}$/;
const KEPT_HEADERS = ['content-location', 'etag', 'link', 'location', 'retry-after'];
// An attempt whose process died answers nobody any more; after this long another may try.
const ABANDONED_MS = 60_000;
export const KEPT_MS = 24 * 3600_000;

/**
 * Honours `Idempotency-Key` on every POST under `/api`: the first answer is kept for a day and given again.
 * Handlers are wrapped as they are registered, so that no other route pays for it.
 */
export function addIdempotency(server: Server, options: IdempotencyOptions): void {
  server.events.on('route', (route) => {
    // A body that is streamed cannot be compared with another.
    if (!isRepeatable(route) || route.settings.payload?.output === 'stream') return;
    const handler = route.settings.handler as Lifecycle.Method;
    route.settings.handler = (request, h) => (request.headers['idempotency-key'] === undefined ? call(handler, request, h) : answerOnce(handler, request, h, options));
  });
}

export function isRepeatable(route: Pick<RequestRoute, 'method' | 'path'>): boolean {
  return route.method === 'post' && route.path.startsWith('/api/');
}

/** What is told once and kept nowhere cannot be told again. */
function showsSecret(route: Pick<RequestRoute, 'settings'>): boolean {
  return route.settings.plugins?.civic?.secret === true;
}

function call(handler: Lifecycle.Method, request: Request, h: ResponseToolkit): Lifecycle.ReturnValue {
  return handler.call(h.context, request, h);
}

async function answerOnce(handler: Lifecycle.Method, request: Request, h: ResponseToolkit, options: IdempotencyOptions): Promise<Lifecycle.ReturnValueTypes> {
  const db = options.db();
  const row = newRow(request, options.clock);
  const abandonedBefore = new Date(options.clock.now() - ABANDONED_MS).toISOString();
  const first = await db.write((tx) => claimAnswer(tx, row, abandonedBefore));
  if (first) return again(first, row, h);
  try {
    const result = await call(handler, request, h);
    const response = typeof result === 'symbol' ? null : (h.response(result as object) as ResponseObject);
    await keep(db, row, response && (showsSecret(request.route) ? { code: 'secret_shown_once', details: {} } : keptResponse(response)));
    return response ?? (result as symbol);
  } catch (error) {
    await keep(db, row, keptProblem(error));
    throw error;
  }
}

/** Without an answer to keep the key is free again. */
function keep(db: Database, row: AnswerRow, kept: Kept | null): Promise<void> {
  return db.write((tx) => (kept ? saveAnswer(tx, row, JSON.stringify(kept)) : dropAnswer(tx, row)));
}

function newRow(request: Request, clock: Clock): AnswerRow {
  const key = request.headers['idempotency-key'] as string;
  if (!KEY.test(key)) throw problem('invalid_header', { detail: 'Idempotency-Key must be 1 to 255 visible ASCII characters without spaces.' });
  return {
    caller: (request.auth.credentials?.account_id as string | undefined) ?? addressGroup(clientAddressOf(request)),
    route: request.path,
    idempotency_key: key,
    token: newId(),
    body_hash: createHash('sha256').update(JSON.stringify(request.payload) ?? '').digest('hex'),
    answer: null,
    begun_at: clock.iso(),
  };
}

function again(first: AnswerRow, row: AnswerRow, h: ResponseToolkit): ResponseObject {
  if (first.body_hash !== row.body_hash) throw problem('idempotency_key_reused');
  if (first.answer === null) throw problem('idempotency_in_progress', { headers: { 'retry-after': '1' } });
  const kept = JSON.parse(first.answer) as Kept;
  if ('code' in kept) throw problem(kept.code, { ...kept.details, headers: { ...kept.details.headers, 'idempotency-replayed': 'true' } });
  const response = h.response(kept.body as object).code(kept.status).header('idempotency-replayed', 'true');
  for (const [name, value] of Object.entries(kept.headers)) response.header(name, value);
  return response;
}

/** Null for what cannot be given again, such as a stream. */
function keptResponse(response: ResponseObject): Kept | null {
  if (response.variety !== 'plain' || response.statusCode >= 500) return null;
  const headers = Object.fromEntries(Object.entries(response.headers).filter(([name]) => KEPT_HEADERS.includes(name)).map(([name, value]) => [name, String(value)]));
  return { status: response.statusCode, headers, body: response.source };
}

/** A failure of ours is not an answer: the caller may try again under the same key. */
function keptProblem(error: unknown): Kept | null {
  const data = problemData(error);
  if (!data || !(error instanceof Boom) || error.isServer) return null;
  const { code, cause: _cause, ...details } = data;
  return { code, details };
}
