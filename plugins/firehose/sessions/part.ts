import type { Caller } from 'civic';
import type { Firehose } from '../service.ts';
import { createConsumers, type Consumers } from './consumers.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createSockets, type Sockets } from './socket.ts';
import type { Session } from './store.ts';
import { createTickets, type Tickets } from './tickets.ts';
import { addressesOf, toldSession, type ToldSession } from './told.ts';

/** All that the routes of sessions share. */
export interface SessionsPart {
  sessions: Sessions;
  tickets: Tickets;
  sockets: Sockets;
  consumers: Consumers;
  /** Sessions as their workspace is told of them. */
  toldTo(caller: Caller, sessions: Session[]): Promise<ToldSession[]>;
  prune(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

const SILENCE_MS = 30_000;

export function createSessionsPart({ civic, log, workspaceName, meter }: Firehose): SessionsPart {
  const sessions = createSessions({ civic, position: () => ({ epoch: log.epoch(), seq: log.position() }) });
  const tickets = createTickets(civic);
  const sockets = createSockets({ headers: (request) => civic.headers(request), silence_ms: SILENCE_MS });
  const consumers = createConsumers();
  return {
    sessions, tickets, sockets, consumers,
    async toldTo(caller, given) {
      const workspace = caller.workspace_id === null ? null : { id: caller.workspace_id, name: await workspaceName(civic.db.read, caller) };
      if (workspace) await meter.load(workspace.id);
      return given.map((session) => toldSession(session, addressesOf(civic, session.id), { workspace, meter: workspace && meter.of(workspace.id), expires_at: sessions.expiresAt(session) }));
    },
    async prune() {
      await sessions.prune();
      await tickets.prune();
    },
    start: sockets.start,
    async stop() {
      sockets.stop();
      await sessions.settled();
    },
  };
}
