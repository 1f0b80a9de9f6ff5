import type { Check, Clock, Database } from 'civic';
import { logStatus } from './store.ts';

const LATE_MS = 60_000;

/** Says how far the log is, and when written signals wait for nobody to number them. */
export function logCheck(db: () => Database, clock: Clock): Check {
  return {
    name: 'log',
    async run() {
      const { signals, last_seq, waiting, waiting_since } = await logStatus(db().read);
      const detail = `${signals.toLocaleString('en-US')} signals, ${last_seq.toLocaleString('en-US')} entries written since the log began`;
      if (waiting === 0 || clock.now() - Date.parse(waiting_since!) < LATE_MS) return { status: 'ok', detail };
      return {
        status: 'warning',
        detail: `${detail}; ${waiting.toLocaleString('en-US')} more have waited since ${waiting_since} to be numbered`,
        fix: 'start a server on this database: it numbers them, and nothing is lost meanwhile',
      };
    },
  };
}
