import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { cursorAfter, matchesNone, problem, textAnswer, weakEtag, type Caller, type Civic, type Page } from 'civic';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Subscription } from '../query/subscription.ts';
import type { Access } from '../stream/access.ts';
import { eventId } from '../stream/frames.ts';
import type { Hub } from '../stream/hub.ts';
import type { Metering } from '../usage/meter.ts';
import { readPreferences } from './prefer.ts';
import { currentTally, readSnapshot, type Snapshot, type SnapshotContext } from './snapshot.ts';
import type { Tally } from './store.ts';

export interface AnswerContext extends SnapshotContext {
  civic: Pick<Civic, 'url' | 'clock'>;
  hub: Hub;
  meter: Metering;
  /** Returns whether an admitted caller still has access. */
  stillMay(caller: Caller): Promise<boolean>;
}

/** One question for a snapshot, by its own address or through a session. */
export interface Asked {
  subscription: Subscription;
  page: Page<any>;
  access: Access;
  /** Paths with their parameters. */
  self: string;
  nextPage(cursor: string): string;
  events(lastEventId: string): string;
  session: object | null;
}

export const VARY = 'Accept, Accept-Encoding, Authorization, X-API-Key, Prefer, Last-Event-ID';
/** Part of every ETag: raised when an answer is put together in another way. */
const FORM = 1;

/** The snapshot, 304 when the client has it already, or the wait for a newer one. */
export async function answerSnapshot(context: AnswerContext, request: Request, h: ResponseToolkit, asked: Asked): Promise<ResponseObject> {
  const { wait } = readPreferences(request.headers['prefer'] as string | undefined);
  // hapi would compare it with Last-Modified, which stays when an older signal comes, changes or goes.
  delete request.headers['if-modified-since'];
  if (request.method === 'head') return answerHead(context, request, h, asked);
  const tally = await currentTally(context, asked.subscription);
  if (!isHad(request, etagOf(context, asked, tally))) return answerWhole(context, request, h, asked);
  if (wait === null) return unmodified(context, h, asked, tally);
  await waitForChange(context, request, asked, wait);
  // Retention may have taken something away, for which nobody is woken.
  const now = await currentTally(context, asked.subscription);
  const answer = isHad(request, etagOf(context, asked, now)) ? unmodified(context, h, asked, now) : await answerWhole(context, request, h, asked);
  return answer.header('preference-applied', `wait=${wait}`);
}

/** Parked first and looked at afterwards, so that nothing that comes in between is missed. */
async function waitForChange(context: AnswerContext, request: Request, asked: Asked, seconds: number): Promise<void> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const parked = context.hub.park(asked.subscription, asked.access, Math.max(0, end - performance.now()));
    const cancel = () => parked.cancel();
    request.raw.res.once('close', cancel);
    try {
      if (!isHad(request, etagOf(context, asked, await currentTally(context, asked.subscription)))) return;
      // The event of a key that was revoked before the wait was registered does not end the wait, so check again.
      if (asked.access.caller && !await context.stillMay(asked.access.caller)) throw accessEnded();
      const result = await parked.result;
      if (result === 'revoked') throw accessEnded();
      if (result !== 'matched') return;
    } finally {
      request.raw.res.removeListener('close', cancel);
      parked.cancel();
    }
  }
}

function accessEnded(): Error {
  return problem('invalid_credentials', { detail: 'Access ended while this request waited.' });
}

function isHad(request: Request, etag: string): boolean {
  return matchesNone(request.headers['if-none-match'] as string | undefined, etag);
}

/** Of the result alone: the same until a signal in it comes, changes or goes. */
function etagOf({ log }: AnswerContext, { subscription, page }: Asked, { total, last_seq }: Tally): string {
  const which = createHash('sha256').update(JSON.stringify([FORM, subscription.key, page.limit, page.after])).digest('base64url').slice(0, 16);
  return weakEtag(log.epoch(), which, last_seq, total);
}

function headersOf(context: AnswerContext, { self, subscription }: Asked, tally: Tally): Record<string, string> {
  return {
    'content-location': context.civic.url(self),
    vary: VARY,
    'cache-control': subscription.workspace ? 'private, no-cache' : 'public, no-cache',
    ...(tally.latest !== null && { 'last-modified': new Date(tally.latest).toUTCString() }),
  };
}

async function answerHead(context: AnswerContext, request: Request, h: ResponseToolkit, asked: Asked): Promise<ResponseObject> {
  const current = await currentTally(context, asked.subscription);
  if (isHad(request, etagOf(context, asked, current))) return unmodified(context, h, asked, current);
  const { tally, link } = await headPage(context, request, asked, current);
  const { etag, cacheControl, headers } = known(context, asked, tally);
  Object.assign(headers, link);
  // A body whose length nobody knows: the page is not made, so none is told.
  const response = h.response(Readable.from([], { objectMode: false })).type('application/json');
  Object.assign(response.headers, { etag, 'cache-control': cacheControl, ...headers });
  return response;
}

/** Reads the page only where another may follow, for its cursor. */
async function headPage(context: AnswerContext, request: Request, asked: Asked, tally: Tally): Promise<{ tally: Tally; link: Link }> {
  if (tally.total <= asked.page.limit) return { tally, link: {} };
  const snapshot = await readSnapshot(context, asked.subscription, asked.page);
  return { tally: snapshot.tally, link: linkTo(context, asked, nextCursor(request, asked, snapshot)) };
}

type Link = { link?: string };

function nextCursor(request: Request, { page }: Asked, { next }: Snapshot): string | null {
  return next && cursorAfter(request, page, next);
}

function linkTo({ civic }: AnswerContext, { nextPage }: Asked, cursor: string | null): Link {
  return cursor === null ? {} : { link: `<${civic.url(nextPage(cursor))}>; rel="next"` };
}

function unmodified(context: AnswerContext, h: ResponseToolkit, asked: Asked, tally: Tally): ResponseObject {
  const { etag, cacheControl, headers } = known(context, asked, tally);
  const response = h.response().code(304);
  Object.assign(response.headers, { etag, 'cache-control': cacheControl, ...headers });
  return response;
}

function known(context: AnswerContext, asked: Asked, tally: Tally): { etag: string; cacheControl: string; headers: Record<string, string> } {
  const { 'cache-control': cacheControl, ...headers } = headersOf(context, asked, tally);
  return { etag: etagOf(context, asked, tally), cacheControl: cacheControl!, headers };
}

async function answerWhole(context: AnswerContext, request: Request, h: ResponseToolkit, asked: Asked): Promise<ResponseObject> {
  const snapshot = await readSnapshot(context, asked.subscription, asked.page);
  await meterUse(context, asked.subscription, snapshot.rows.length);
  const cursor = nextCursor(request, asked, snapshot);
  const answer = known(context, asked, snapshot.tally);
  Object.assign(answer.headers, linkTo(context, asked, cursor));
  return textAnswer(request, h, { ...answer, body: bodyOf(context, asked, snapshot, cursor) });
}

/** Counts the signals that a workspace received. */
export async function meterUse({ meter }: Pick<AnswerContext, 'meter'>, { workspace }: Subscription, signals: number): Promise<void> {
  if (!workspace) return;
  await meter.load(workspace.id);
  meter.add(workspace.id, signals);
}

/** Signals are copied as they were written. */
function bodyOf({ civic, log, meter }: AnswerContext, asked: Asked, { tally, head, rows }: Snapshot, cursor: string | null): string {
  const { query, workspace, fingerprint } = asked.subscription;
  const lastEventId = eventId(log.epoch(), head);
  const before = JSON.stringify({
    query,
    workspace,
    usage: { meter: workspace && meter.of(workspace.id), query_fingerprint: fingerprint },
    generated_at: civic.clock.iso(),
    last_event_id: lastEventId,
    summary: { total_signals: tally.total, latest_detected_at: tally.latest === null ? null : new Date(tally.latest).toISOString() },
  });
  const after = JSON.stringify({
    cursor: query.cursor,
    next_cursor: cursor,
    links: { self: civic.url(asked.self), next: cursor && civic.url(asked.nextPage(cursor)), events: civic.url(asked.events(lastEventId)) },
    session: asked.session,
  });
  return `${before.slice(0, -1)},"signals":[${rows.map(({ signal }) => signal).join(',')}],${after.slice(1)}`;
}
