import type { Civic } from 'civic';
import type { WorkspaceName } from '../query/subscription.ts';
import type { Meter } from '../usage/meter.ts';
import type { Mode, Query } from '../types.ts';
import type { Session } from './store.ts';

/** A session as it is answered. */
export interface ToldSession extends Addresses {
  state: 'active';
  query: Query;
  delivery: { mode: Mode };
  workspace: WorkspaceName | null;
  usage: { meter: Meter | null; query_fingerprint: string };
  created_at: string;
  expires_at: string;
  last_seen_at: string;
}

export interface Addresses {
  id: string;
  snapshot_url: string;
  events_url: string;
  socket_url: string;
}

export function addressesOf({ url }: Pick<Civic, 'url'>, id: string): Addresses {
  const at = (part: string): string => url(`/api/firehose/sessions/${id}/${part}`);
  return { id, snapshot_url: at('snapshot'), events_url: at('events'), socket_url: at('socket').replace(/^http/, 'ws') };
}

export function toldSession(session: Session, addresses: Addresses, more: { workspace: WorkspaceName | null; meter: Meter | null; expires_at: string }): ToldSession {
  const { id, ...urls } = addresses;
  return {
    id, state: 'active', query: session.query, delivery: { mode: session.mode }, workspace: more.workspace,
    usage: { meter: more.meter, query_fingerprint: session.fingerprint },
    created_at: session.created_at, expires_at: more.expires_at, last_seen_at: session.last_seen_at, ...urls,
  };
}
