import { definePlugin } from 'civic';
import { firehoseOptions, type FirehoseConfig } from './config.ts';
import { firehoseEvents } from './events.ts';
import { firehoseExamples } from './examples.ts';
import { logCheck } from './log/check.ts';
import { createFollowing } from './log/follow.ts';
import { SIGNAL_TABLES, SIGNALS_VERSION } from './log/store.ts';
import { isPublicEntry } from './page/live.ts';
import { registerPage } from './page/register.ts';
import { firehoseProblems } from './problems.ts';
import { declareRelay } from './relay/declare.ts';
import { signalFeedRoutes, writeFeed } from './feeds/routes.ts';
import { firehoseRoutes } from './routes.ts';
import { createFirehose } from './service.ts';
import { readSignals, readSignalsAbout, readSignalsById } from './snapshot/read.ts';
import type { FirehoseService } from './types.ts';
import { registerSessions } from './sessions/register.ts';
import { session } from './sessions/schemas.ts';
import { publishDirectorySignals } from './signals/directory.ts';
import { signalSchema } from './signals/schemas.ts';
import { placeSignalRoutes } from './snapshot/place-routes.ts';
import { PAGE_PATH } from './page/query.ts';
import { isUpkeep } from './query/upkeep.ts';
import { publicRowsById } from './snapshot/store.ts';
import { signalTools } from './tools.ts';

export type * from './types.ts';

export default definePlugin<FirehoseConfig>({
  name: 'firehose',
  summary: 'A live, durable log of civic signals: snapshots, event streams, sessions and sockets',
  reference: { title: 'Firehose', order: 20, sections: { firehose: 'Signals, streams and sessions', places: 'Signals of a place', signals: 'Feeds of all signals' } },
  config: firehoseOptions,
  scopes: { 'firehose:read': { label: 'Read live signals', hint: 'Meetings, votes, filings and other signals of the Firehose.', capability: 'firehose' } },
  capabilities: { firehose: { label: 'The Firehose', limit: 'streams' } },
  limits: {
    streams: { label: 'Streams', doc: 'How many Firehose streams can be open at once', plans: { individual: 5, research_pass: 10, team: 50 } },
    sessions: { label: 'Firehose sessions', doc: 'How many Firehose sessions can be kept', plans: { individual: 20, research_pass: 50, team: 500 } },
  },
  paths: { '/signals': { audience: 'people' } },
  uses: ['accounts', 'console', 'directory'],
  problems: firehoseProblems,
  events: firehoseEvents,
  migrations: `${import.meta.dirname}/migrations`,

  register(server, civic) {
    const firehose = createFirehose(civic);
    const directory = civic.serviceIfOn('directory');
    const relay = declareRelay(firehose);
    civic.examples(firehoseExamples(directory));
    civic.provide({
      ...firehose.publisher,
      signals: (query, caller) => readSignals(firehose, query, caller),
      signalsAbout: (actorIds, limit) => readSignalsAbout(civic.db.read, actorIds, limit),
      isUpkeep: (signal) => isUpkeep(signal, firehose.kinds),
      queryableTypes: firehose.kinds.queryable,
      signalSchema: () => signalSchema(firehose.kinds),
      follow: createFollowing(firehose.log),
      signalsById: readSignalsById,
      feedOf: async (reader, ids, format, { title, ...addresses }) => writeFeed(firehose, ids.length > 0 ? await publicRowsById(reader, ids) : [], format, { ...addresses, home: PAGE_PATH }, title),
      onPublicSignals: (listener) => firehose.log.onEntries((entries) => { if (entries.some(isPublicEntry)) listener(); }),
    } satisfies FirehoseService);
    civic.watch('accounts.access_changed', ({ payload }) => firehose.hub.openings.revokeAccount(payload.account_id));
    civic.check(logCheck(() => civic.db, civic.clock));
    civic.readModel({ name: 'signals', version: SIGNALS_VERSION, tables: SIGNAL_TABLES, rebuild: firehose.log.rebuild });
    publishDirectorySignals(firehose);
    civic.jobs.define({ name: 'firehose.prune', every_seconds: 3600, run: async () => { await firehose.log.prune(); } });
    civic.metric({ name: 'streams', help: 'Open streams and sockets', value: firehose.counts.total });
    civic.serviceIfOn('console')?.series({ name: 'firehose.signals', plugin: 'firehose', label: 'signals.title', total: firehose.published });
    civic.metric({ name: 'queries', help: 'Different queries that are streamed or waited for', value: () => firehose.hub.groups() });
    civic.whenComposed(() => {
      firehose.kinds.close();
      for (const tool of signalTools(firehose)) civic.tool(tool);
      server.route([...firehoseRoutes(firehose, session), ...signalFeedRoutes(firehose), ...(directory ? placeSignalRoutes(firehose, directory) : [])]);
    });
    const sessions = registerSessions(server, firehose);
    registerPage(server, firehose);
    server.ext('onPreStop', () => firehose.endStreams());
    return {
      async start() {
        await firehose.start();
        sessions.start();
        relay.start();
      },
      async stop() {
        await relay.stop();
        await sessions.stop();
        await firehose.stop();
      },
    };
  },
});
