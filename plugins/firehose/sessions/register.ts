import type { Server } from '@hapi/hapi';
import type { Firehose } from '../service.ts';
import { createSessionsPart } from './part.ts';
import { sessionRoutes } from './routes.ts';
import { snapshotRoute } from './snapshot.ts';
import { sessionStreams, socketUpgrade } from './streams.ts';
import { SOCKET_PATH } from './tickets.ts';

/** Declares sessions: what is kept, read and let in by ticket. */
export function registerSessions(server: Server, firehose: Firehose): { start(): void; stop(): Promise<void> } {
  const { civic } = firehose;
  const part = createSessionsPart(firehose);
  // Without accounts there is nobody a ticket could stand for.
  if (civic.serviceIfOn('accounts')) civic.identify(part.tickets.identify);
  civic.serviceIfOn('accounts')?.workspaceHooks.whenDeleted(part.sessions.forget);
  civic.watch('firehose.session_removed', ({ payload }) => part.consumers.end(payload.id));
  civic.upgrade(SOCKET_PATH, socketUpgrade(firehose, part));
  civic.jobs.define({ name: 'firehose.prune_sessions', every_seconds: 3600, run: part.prune });
  civic.whenComposed(() => server.route([...sessionRoutes(firehose, part), snapshotRoute(firehose, part), ...sessionStreams(firehose, part)]));
  return { start: part.start, stop: part.stop };
}
