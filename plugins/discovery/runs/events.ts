import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { exceededHeaders, problem, repeat, type Caller, type Repeating } from 'civic';
import { Readable } from 'node:stream';
import type { Discovery } from '../context.ts';
import { isOpen } from '../engine/engine.ts';
import { shownRuns, type ShownRun } from './runs.ts';
import { runsByKey, type RunRow } from './store.ts';

/** Streams of the progress of runs. */
export interface RunEvents {
  /** Responds with the events of a run that the caller may read; 204 when the client has the last one. */
  open(request: Request, h: ResponseToolkit, run: RunRow, caller: Pick<Caller, 'account_id' | 'valid_until'>): Promise<ResponseObject>;
  /** Ends the streams of an account: clients that may still read connect again. */
  endOf(accountId: string): void;
  start(): void;
  /** Ends all streams. */
  stop(): Promise<void>;
}

interface Stream {
  run: RunRow;
  account_id: string;
  ends_at: number;
  /** Sends a text when the client reads. An earlier one that was not sent yet is replaced. */
  offer(text: string): void;
  /** Sends a comment, so that proxies keep the connection. */
  beat(): void;
  end(): void;
  /** The id of the last event, and when something was offered. */
  last: string;
  offered_at: number;
}

const POLL_MS = 1000;
const HEARTBEAT_MS = 15_000;
const AGE_MS = 15 * 60_000;
/** Open streams of one account, and of all, on one node. */
const MOST_OF_ACCOUNT = 20;
const MOST = 1000;
const BUSY_SECONDS = 30;

const HEADERS = { 'cache-control': 'private, no-store, no-transform', 'content-encoding': 'identity', 'x-accel-buffering': 'no', connection: 'close' };

/** All state of runs is in the database, where other nodes change it: one query a second serves all streams of this node. */
export function createRunEvents(discovery: Discovery): RunEvents {
  const { civic } = discovery;
  const streams = new Set<Stream>();
  let polling: Repeating | undefined;

  function admit(accountId: string): void {
    const now = civic.clock.now();
    if (streams.size >= MOST) throw problem('unavailable', { detail: `This server has ${MOST} open streams of runs, which is as many as it accepts.`, headers: { 'retry-after': String(BUSY_SECONDS) } });
    if ([...streams].filter(({ account_id }) => account_id === accountId).length < MOST_OF_ACCOUNT) return;
    throw problem('too_many_requests', { detail: `The account has ${MOST_OF_ACCOUNT} open streams of runs already.`, headers: exceededHeaders({ limit: MOST_OF_ACCOUNT, resetAt: now + BUSY_SECONDS * 1000, now }) });
  }

  function show(stream: Stream, run: ShownRun, now: number): void {
    const event = eventOf(run);
    if (event.id !== stream.last) {
      stream.offer(event.text);
      Object.assign(stream, { last: event.id, offered_at: now });
    } else if (now - stream.offered_at >= HEARTBEAT_MS) {
      stream.beat();
      stream.offered_at = now;
    }
    if (event.isLast || now >= stream.ends_at) stream.end();
  }

  async function poll(): Promise<void> {
    if (streams.size === 0) return;
    const keys = [...new Set([...streams].map(({ run }) => run.key))];
    const runs = new Map((await shownRuns(discovery, civic.db.read, await runsByKey(civic.db.read, keys))).map((run) => [run.id, run]));
    for (const stream of streams) {
      const run = runs.get(stream.run.id);
      if (run) show(stream, run, civic.clock.now());
      else stream.end();
    }
  }

  return {
    async open(request, h, run, { account_id, valid_until = Infinity }) {
      if (request.method === 'head') return withHeaders(h.response('').code(200));
      const [shown] = await shownRuns(discovery, civic.db.read, [run]);
      if (!isOpen(run) && request.headers['last-event-id'] === eventOf(shown!).id) return h.response().code(204);
      admit(account_id);
      const now = civic.clock.now();
      const { body, ...sending } = createBody(() => streams.delete(stream));
      const stream: Stream = { run, account_id, ends_at: Math.min(valid_until, now + AGE_MS), last: '', offered_at: now, ...sending };
      streams.add(stream);
      show(stream, shown!, now);
      return withHeaders(h.response(body));
    },
    endOf(accountId) { for (const stream of streams) if (stream.account_id === accountId) stream.end(); },
    start() { polling = repeat(POLL_MS, poll, (error) => civic.log.warn({ err: error }, 'The progress of runs could not be read')); },
    async stop() {
      for (const stream of streams) stream.end();
      await polling?.stop();
    },
  };
}

function withHeaders(response: ResponseObject): ResponseObject {
  for (const [name, value] of Object.entries(HEADERS)) response.header(name, value);
  return response.type('text/event-stream');
}

/** Returns a body that holds one event at most for a client that does not read. */
function createBody(forget: () => void): Pick<Stream, 'offer' | 'beat' | 'end'> & { body: Readable } {
  let waiting: string | null = null;
  let isWanted = false;
  let isEnded = false;
  const body = new Readable({
    highWaterMark: 1,
    read() {
      isWanted = true;
      send();
    },
    destroy(error, done) {
      forget();
      done(error);
    },
  });

  function send(): void {
    if (!isWanted) return;
    if (waiting !== null) {
      const text = waiting;
      [waiting, isWanted] = [null, false];
      body.push(text);
    } else if (isEnded) body.push(null);
  }

  function offer(text: string): void {
    waiting = text;
    send();
  }

  return {
    body,
    offer,
    beat() { if (waiting === null) offer(':\n\n'); },
    end() {
      forget();
      isEnded = true;
      send();
    },
  };
}

/** Returns a run as an event. An id that the client has already states that nothing changed. */
function eventOf(run: ShownRun): { id: string; text: string; isLast: boolean } {
  const { status, progress: { phase, done, total }, counts } = run;
  const isLast = status === 'completed' || status === 'failed';
  const id = [status, phase ?? '', done, total, counts.candidates, counts.duplicates].join('-');
  return { id, isLast, text: `id: ${id}\nevent: ${isLast ? status : 'progress'}\ndata: ${JSON.stringify(run)}\n\n` };
}
