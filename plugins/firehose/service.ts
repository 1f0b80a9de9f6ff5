import type { Civic } from 'civic';
import type { FirehoseConfig } from './config.ts';
import { createLog, type Log } from './log/log.ts';
import { createTerms, type Terms } from './query/terms.ts';
import { createPublisher, type Publisher } from './signals/publish.ts';

/** All that the plugin's parts share. */
export interface Firehose {
  civic: Civic<FirehoseConfig>;
  log: Log;
  terms: Terms;
  publisher: Publisher;
  start(): Promise<void>;
  stop(): Promise<void>;
  rebuild(reason: 'restored' | 'missed_events'): Promise<void>;
}

export function createFirehose(civic: Civic<FirehoseConfig>): Firehose {
  const log = createLog(civic);
  const terms = createTerms(() => null);
  const publisher = createPublisher({ clock: civic.clock, log, terms });
  return {
    civic, log, terms, publisher,
    start: log.start,
    stop: log.stop,
    async rebuild(reason) { if (reason === 'restored') await log.restore(); },
  };
}
