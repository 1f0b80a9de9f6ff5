import { createWaker } from '../background.ts';
import { latestEnd, type Clock } from '../clock.ts';
import type { OpenDatabase } from '../database/connect.ts';
import type { Tx } from '../database/types.ts';
import type { Logger } from '../log.ts';
import type { EventRecord } from '../plugin.ts';
import { problemData } from '../problems.ts';
import type { Sequence } from '../sequence.ts';
import { freePosition, movePosition, saveFailure, type Position } from './positions.ts';

/** An event as stored. */
export interface EventRow {
  name: string;
  version: number;
  at: string;
  payload: string;
}

export type Handler = (tx: Tx, event: EventRecord<any>) => Promise<void>;

export interface Patience {
  /** The wait after the first failure; it doubles with each further one. */
  firstMs: number;
  mostMs: number;
  /** After this many failures the plugin's delivery stops. */
  attempts: number;
}

/** A time that was stored while the clock was ahead does not count. */
export function isRetryDue({ retry_at }: Position, { mostMs }: Patience, clock: Clock): boolean {
  const at = retry_at === null ? 0 : Date.parse(retry_at);
  return at <= clock.now() || at > latestEnd(clock.now(), mostMs);
}

export interface DeliveryOptions {
  plugin: string;
  handlers: Map<string, Handler[]>;
  db: OpenDatabase;
  sequence: Sequence<EventRow>;
  clock: Clock;
  log: Logger;
  patience: Patience;
}

export interface Delivery {
  readonly plugin: string;
  hears(name: string): boolean;
  /** There may be something to deliver. */
  wake(): void;
  stop(): Promise<void>;
}

// A batch is one transaction: large enough to deliver thousands a second, short enough to let other writes pass.
const BATCH = 100;
const BATCH_MS = 50;

export function toRecord(row: EventRow & { seq: number }): EventRecord<any> {
  return { seq: row.seq, name: row.name, version: row.version, at: row.at, payload: JSON.parse(row.payload) };
}

/** Delivers to one plugin, in order. The lock on its position keeps other nodes away; what a handler wrote and the position commit together. */
export function createDelivery(options: DeliveryOptions): Delivery {
  const { plugin, handlers, db, sequence, clock, log, patience } = options;
  const names = [...handlers.keys()];
  let limit = BATCH;
  let isStopped = false;
  const waker = createWaker(deliverAll, (error) => log.warn({ err: error, plugin }, `Delivering events to ${plugin} is delayed`));

  async function deliverAll(): Promise<void> {
    while (!isStopped && (await deliverBatch()));
  }

  /** Answers whether there may be more at once. */
  async function deliverBatch(): Promise<boolean> {
    let tried: EventRecord[] = [];
    try {
      const isMore = await db.write(async (tx) => {
        tried = [];
        const position = await freePosition(db, tx, plugin);
        if (!position || isWaiting(position)) return false;
        // The head is read first: what is at or below it is visible to the next statement.
        const head = await sequence.head(tx);
        const most = position.attempts > 0 ? 1 : limit;
        const rows = await pending(tx, position.seq, head.last_seq, most);
        const deadline = performance.now() + BATCH_MS;
        for (const row of rows) {
          const event = toRecord(row);
          tried.push(event);
          for (const handler of handlers.get(row.name)!) await handler(tx, event);
          if (performance.now() > deadline) break;
        }
        const isMore = tried.length < rows.length || rows.length === most;
        const seq = isMore ? tried.at(-1)!.seq : head.last_seq;
        if (seq > position.seq) await movePosition(tx, plugin, seq);
        return isMore;
      });
      limit = BATCH;
      return isMore;
    } catch (error) {
      // Without the database nothing can be said of the handler.
      if (tried.length === 0 || isDatabaseProblem(error)) throw error;
      // What came before the failing event was rolled back with it: those are delivered again, up to it.
      limit = tried.length - 1;
      if (limit > 0) return true;
      limit = BATCH;
      await recordFailure(tried[0]!, error);
      return false;
    }
  }

  function isWaiting(position: Position): boolean {
    return position.stopped_at !== null || !isRetryDue(position, patience, clock);
  }

  async function pending(tx: Tx, from: number, to: number, most: number): Promise<(EventRow & { seq: number })[]> {
    return tx('core_event_log').select('seq', 'name', 'version', 'at', 'payload')
      .where('seq', '>', from).where('seq', '<=', to).whereIn('name', names).orderBy('seq').limit(most);
  }

  async function recordFailure(event: EventRecord, error: unknown): Promise<void> {
    const message = (error instanceof Error ? error.message : String(error)).slice(0, 1000);
    const attempts = await db.write(async (tx) => {
      const position = await freePosition(db, tx, plugin);
      // Another node has it, or has already got past it.
      if (!position || position.seq >= event.seq) return 0;
      const attempts = position.failed_seq === event.seq ? position.attempts + 1 : 1;
      const isOver = attempts >= patience.attempts;
      const wait = Math.min(patience.firstMs * 2 ** (attempts - 1), patience.mostMs);
      await saveFailure(tx, plugin, {
        attempts,
        failed_seq: event.seq,
        error: message,
        retry_at: isOver ? null : new Date(clock.now() + wait).toISOString(),
        stopped_at: isOver ? clock.iso() : null,
      });
      return attempts;
    });
    const about = { err: error, plugin, event: event.name, seq: event.seq, attempts };
    if (attempts >= patience.attempts) log.error(about, `Events for ${plugin} are stopped: run bin/civic events retry ${plugin} or bin/civic events skip ${plugin}`);
    else if (attempts > 0) log.warn(about, `${plugin} failed on an event, which is tried again`);
  }

  return {
    plugin,
    hears: (name) => handlers.has(name),
    wake: waker.wake,
    async stop() {
      isStopped = true;
      await waker.idle();
    },
  };
}

function isDatabaseProblem(error: unknown): boolean {
  const code = problemData(error)?.code ?? '';
  return code.startsWith('database_') || code.startsWith('storage_');
}
