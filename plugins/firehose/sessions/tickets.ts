import type { Request } from '@hapi/hapi';
import { exceededHeaders, problem, type Caller, type Civic } from 'civic';
import { createHash, randomBytes } from 'node:crypto';
import type { Session } from './store.ts';
import { bindTicket, countTickets, insertTicket, pruneTickets, spendTicket, ticketByHash, type KnownTicket } from './tickets-store.ts';

export const EVENTS_PATH = '/api/firehose/sessions/{id}/events';
export const SOCKET_PATH = '/api/firehose/sessions/{id}/socket';

export interface Tickets {
  make(session: Session, caller: Caller): Promise<{ ticket: string; expires_at: string }>;
  /** Who made the ticket that a request brings; null where none is looked for. */
  identify(request: Request): Promise<Caller | null> | null;
  /** Whether the caller is known by a ticket and not by a key. Both at once are refused. */
  isBrought(request: Request): boolean;
  /** Uses it up on a socket, binds it to the session's streams on events. Nothing happens to a request without one. */
  take(request: Request): Promise<void>;
  prune(): Promise<void>;
}

const USED_WITHIN_MS = 60_000;
const BOUND_MS = 12 * 3_600_000;
/** The most valid tickets of one session, used or not. */
const MOST_TICKETS = 1000;
const SCOPE = 'firehose:read';

/** Browsers cannot send an API key or a token with a stream or a socket. A ticket stands for one, on one session. */
export function createTickets(civic: Civic): Tickets {
  const { clock } = civic;
  const accounts = civic.serviceIfOn('accounts');
  const brought = new WeakMap<Request, KnownTicket>();
  const after = (milliseconds: number): string => new Date(clock.now() + milliseconds).toISOString();

  const tooMany = (): Error => problem('too_many_requests', {
    detail: `${MOST_TICKETS} tickets of this session are valid already. One that is not used ends after a minute.`,
    headers: exceededHeaders({ limit: MOST_TICKETS, resetAt: clock.now() + USED_WITHIN_MS, now: clock.now() }),
  });

  async function caller(request: Request, ticket: string): Promise<Caller> {
    const known = await ticketByHash(civic.db.read, hashOf(ticket), clock.iso());
    const isForHere = known?.session_id === request.params['id'] && (known?.bound_at === null || request.route.path === EVENTS_PATH);
    if (!known || !isForHere) throw refused();
    const owner = await accounts!.callerOf(civic.db.read, known);
    if (!owner) throw refused();
    brought.set(request, known);
    const scoped = { ...owner, scope: owner.scope.filter((scope) => scope === SCOPE) };
    return known.ends_at === null ? scoped : { ...scoped, valid_until: Math.min(owner.valid_until ?? Infinity, Date.parse(known.ends_at)) };
  }

  return {
    async make(session, { account_id, credential_id, workspace_id, via, valid_until }) {
      if (!accounts || via === 'session' || credential_id === undefined || workspace_id === null) throw problem('forbidden', { detail: 'Tickets are made with an API key or an access token.' });
      const ticket = `fht_${randomBytes(32).toString('base64url')}`;
      const ends_at = via === 'token' ? new Date(valid_until!).toISOString() : null;
      const expires_at = firstOf(after(USED_WITHIN_MS), ends_at);
      await civic.db.write(async (tx) => {
        if (await countTickets(tx, session.key, clock.iso()) >= MOST_TICKETS) throw tooMany();
        await insertTicket(tx, { secret_hash: hashOf(ticket), session_key: session.key, account_id, credential_id, workspace_id, expires_at, bound_at: null, ends_at });
      });
      return { ticket, expires_at };
    },
    identify(request) {
      const { path } = request.route;
      if (!accounts || (path !== EVENTS_PATH && path !== SOCKET_PATH)) return null;
      const ticket = request.query['ticket'] as unknown;
      return typeof ticket === 'string' ? caller(request, ticket) : null;
    },
    isBrought(request) {
      const isKnown = brought.has(request);
      if (!isKnown && request.query['ticket'] !== undefined) throw problem('two_credentials', { detail: 'Send either `X-API-Key` or a ticket, not both.' });
      return isKnown;
    },
    async take(request) {
      const known = brought.get(request);
      if (!known || known.bound_at !== null) return;
      const isSocket = request.route.path === SOCKET_PATH;
      const isGood = await civic.db.write((tx) => (isSocket ? spendTicket(tx, known.secret_hash) : bindTicket(tx, known.secret_hash, clock.iso(), firstOf(after(BOUND_MS), known.ends_at))));
      if (!isGood) throw refused();
    },
    prune: () => civic.db.write((tx) => pruneTickets(tx, clock.iso())),
  };
}

function firstOf(time: string, end: string | null): string {
  return end !== null && end < time ? end : time;
}

function refused(): Error {
  return problem('invalid_credentials', { detail: 'This ticket is not valid here: it is used up, too old or for another session, or its key or token is no longer valid. Make another one.' });
}

function hashOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('hex');
}
