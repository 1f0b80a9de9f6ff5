import type { Caller, Civic, Reader } from 'civic';
import type { FirehoseConfig } from './config.ts';
import { createLog } from './log/log.ts';
import { createNames } from './query/names.ts';
import { createSubscribe } from './query/subscription.ts';
import { createTerms, type Terms } from './query/terms.ts';
import type { RouteContext } from './routes.ts';
import { createSignalKinds } from './signals/kinds.ts';
import { createPublisher, type Publisher } from './signals/publish.ts';
import { createSharedSnapshots } from './snapshot/shared.ts';
import { createTallies } from './snapshot/tallies.ts';
import { createCounts } from './stream/counts.ts';
import { createHub } from './stream/hub.ts';
import { createMeter } from './usage/meter.ts';

/** All that the plugin's parts share. */
export interface Firehose extends RouteContext {
  civic: Civic<FirehoseConfig>;
  terms: Terms;
  publisher: Publisher;
  /** How many versions of signals this node published. */
  published(): number;
  /** The name of the workspace that a caller speaks for. */
  workspaceName(reader: Reader, caller: Caller): Promise<string>;
  start(): Promise<void>;
  /** Ends all streams, sockets and waits. */
  endStreams(): void;
  stop(): Promise<void>;
}

export function createFirehose(civic: Civic<FirehoseConfig>): Firehose {
  const db = () => civic.db;
  const log = createLog(civic);
  const accounts = civic.serviceIfOn('accounts');
  const terms = createTerms(() => civic.serviceIfOn('directory'));
  const kinds = createSignalKinds();
  let published = 0;
  const publisher = createPublisher({ clock: civic.clock, log, terms, kinds, onPublished: (count) => { published += count; } });
  const meter = createMeter({ db, clock: civic.clock, log: civic.log });
  const counts = createCounts({
    db, now: () => civic.clock.now(), log: civic.log, most: civic.config.max_streams, mostAnonymous: civic.config.anonymous_streams,
    allowedStreams: ({ plan }) => accounts?.limitOf(plan, 'streams') ?? Infinity,
  });
  const hub = createHub({ log, meter, counts, clock: civic.clock, logger: civic.log });
  const workspaceName = createNames(async (reader, { account_id, workspace_id }) => (await accounts?.membership(reader, account_id, workspace_id!))?.name ?? '', civic.clock);
  return {
    civic, db, log, terms, kinds, publisher, meter, counts, hub, workspaceName,
    published: () => published,
    tallies: createTallies(log),
    async stillMay({ account_id, credential_id, workspace_id, via }) {
      if (!accounts || via === 'session' || credential_id === undefined || workspace_id === null) return true;
      return await accounts.callerOf(civic.db.read, { account_id, credential_id, workspace_id }) !== null;
    },
    shared: createSharedSnapshots(log),
    subscribe: createSubscribe({ terms, partners: new Set(civic.config.partners), workspaceName }),
    async start() {
      await log.start();
      meter.start();
      counts.start();
      hub.start();
    },
    endStreams: hub.close,
    async stop() {
      hub.close();
      await log.stop();
      await counts.stop();
      await meter.stop();
    },
  };
}
