import type { Logger } from '../log.ts';
import { databaseProblem } from './errors.ts';

/** Notices a database server that keeps its connections and does not respond, such as a stopped process or a lost route. */
export interface SilenceDetector {
  /** Starts detecting. Until then queries wait as long as they take. */
  start(): void;
  stop(): void;
  /** Runs a query or a connection attempt. Any result of it, also an error, shows that the server responds. */
  track<T>(work: () => Promise<T>): Promise<T>;
  /** Waits for a result, but not for a server that does not respond. `undo` gets a result that comes too late. */
  wait<T>(work: () => Promise<T>, undo: (result: T) => unknown): Promise<T>;
}

export interface SilenceOptions {
  log: Logger;
  /** Opens a new connection. Returns whether the server responded, also with a refusal; must end by itself when there is no response. */
  probe(): Promise<boolean>;
  /** Ends all connections, so that their queries fail. */
  disconnect(): void;
}

const TICK_MS = 500;
/** Ticks without a response before a probe is sent, and before the server counts as silent: within 5 s in all. */
const PROBE_TICKS = 2;
const SILENT_TICKS = 8;

/**
 * Counts ticks and not time: when this process itself was busy, responses that arrived meanwhile are read before the
 * next tick. A slow query alone does not count, because the server responds to the probe.
 */
export function createSilenceDetector({ log, probe, disconnect }: SilenceOptions): SilenceDetector {
  const waiting = new Set<(error: Error) => void>();
  let timer: NodeJS.Timeout | undefined;
  let pending = 0;
  let ticks = 0;
  let isProbing = false;
  let isSilent = false;

  function heard(): void {
    ticks = 0;
    if (isSilent) log.info('The database server responds again');
    isSilent = false;
  }

  function sendProbe(): void {
    if (isProbing) return;
    isProbing = true;
    void probe().then((hasResponded) => { if (hasResponded) heard(); }).finally(() => { isProbing = false; });
  }

  function tick(): void {
    if (isSilent) return sendProbe();
    if (pending === 0) {
      ticks = 0;
      return;
    }
    ticks += 1;
    if (ticks >= PROBE_TICKS) sendProbe();
    if (ticks < SILENT_TICKS) return;
    isSilent = true;
    log.warn(`The database server has not responded for ${(SILENT_TICKS * TICK_MS) / 1000} s; queries fail until it does`);
    for (const reject of waiting) reject(databaseProblem('database_unavailable'));
    waiting.clear();
    disconnect();
  }

  return {
    start() { timer ??= setInterval(tick, TICK_MS).unref(); },
    stop() { clearInterval(timer); },
    async track(work) {
      pending += 1;
      try {
        const result = await work();
        heard();
        return result;
      } catch (error) {
        if (!isSilent) heard();
        throw error;
      } finally {
        pending -= 1;
      }
    },
    async wait(work, undo) {
      if (isSilent) throw databaseProblem('database_unavailable');
      return await new Promise((resolve, reject) => {
        let isLate = false;
        const giveUp = (error: Error): void => {
          isLate = true;
          reject(error);
        };
        waiting.add(giveUp);
        work().then((result) => (isLate ? undo(result) : resolve(result)), reject).finally(() => { waiting.delete(giveUp); });
      });
    },
  };
}
