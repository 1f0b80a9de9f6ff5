import { createWaker, exceededHeaders, problem, type Caller, type Civic, type Page, type Tx } from 'civic';
import { randomBytes } from 'node:crypto';
import type { FirehoseConfig } from '../config.ts';
import type { Subscription } from '../query/subscription.ts';
import type { Mode } from '../types.ts';
import { countSessions, deleteSession, deleteSessionsOf, insertSession, lockSessionsOf, noteUses, pruneSessions, sessionById, sessionsPage, type Position, type Session, type Use } from './store.ts';

export interface SessionsContext {
  civic: Civic<FirehoseConfig>;
  /** Where the log is now. */
  position(): Position;
}

export interface Sessions {
  create(caller: Caller, subscription: Subscription, mode: Mode): Promise<Session>;
  /** Throws for one that is unknown, foreign or expired. */
  find(caller: Caller, id: string): Promise<Session>;
  page(caller: Caller, page: Page): Promise<{ sessions: Session[]; total: number }>;
  remove(caller: Caller, id: string): Promise<void>;
  /** Deletes the sessions of a workspace, in the transaction that deletes the workspace. */
  forget(tx: Tx, workspaceId: string): Promise<void>;
  expiresAt(session: Session): string;
  /** Records that a session is used, and what its consumer has read. Stored within a second, and at most once a minute without a position. */
  note(session: Session, position?: Position | null): void;
  /** Stores the recorded use of a session at once. */
  writeNow(): void;
  prune(): Promise<void>;
  /** Stores the recorded use of all sessions. */
  settled(): Promise<void>;
}

const DAY = 86_400_000;
/** The time of the next free session is unknown, so clients retry once a minute. */
const RETRY_MS = 60_000;
const SEEN_EVERY_MS = 60_000;
/** Clients may acknowledge every signal; the newest position of each session is stored this often. */
const WRITE_EVERY_MS = 1000;
const WRITTEN_AT_ONCE = 200;

export function createSessions({ civic, position }: SessionsContext): Sessions {
  const { clock, config } = civic;
  const accounts = civic.serviceIfOn('accounts');
  /** By the id of their session. */
  const uses = new Map<string, Use>();
  const writer = createWaker(writeUses, (error) => civic.log.warn({ err: error }, 'The positions of sessions could not be stored'));
  const isoAt = (time: number): string => new Date(time).toISOString();
  const lastDay = (): string => isoAt(clock.now() - config.session_days * DAY);

  /** Writes the uses that are recorded now. Later ones wait for the next interval, also while a slow database writes these. */
  async function writeUses(): Promise<void> {
    const waiting = [...uses];
    for (let from = 0; from < waiting.length; from += WRITTEN_AT_ONCE) {
      const batch = waiting.slice(from, from + WRITTEN_AT_ONCE);
      await civic.db.write((tx) => noteUses(tx, batch.map(([, use]) => use), clock.iso()));
      for (const [id, use] of batch) if (uses.get(id) === use) uses.delete(id);
    }
  }

  let timer: NodeJS.Timeout | undefined;

  function writeNow(): void {
    clearTimeout(timer);
    timer = undefined;
    if (uses.size > 0) writer.wake();
  }

  const recordedPosition = (id: string): Position | null => uses.get(id)?.position ?? null;

  return {
    async create(caller, { query, fingerprint }, mode) {
      const most = accounts?.limitOf(caller.plan, 'sessions') ?? Infinity;
      const session = {
        id: `fhs_${randomBytes(16).toString('hex')}`, owner_id: ownerOf(caller), account_id: caller.account_id, query, fingerprint, mode,
        // A stream with a lower bound begins there until its client acknowledges a position.
        position: query.since === null ? position() : null, said: false,
        created_at: clock.iso(), last_seen_at: clock.iso(),
      };
      const key = await civic.db.write(async (tx) => {
        await lockSessionsOf(tx, caller.account_id);
        const used = await countSessions(tx, { account_id: caller.account_id }, lastDay());
        if (used >= most) throw problem('too_many_sessions', { detail: `The plan ${caller.plan} has ${most === 1 ? 'one session, and it is' : `${most} sessions, and all are`} in use.`, headers: exceededHeaders({ limit: most, resetAt: clock.now() + RETRY_MS, now: clock.now() }) });
        await accounts?.workspaceHooks.use(tx, caller, 'stream_sessions');
        return insertSession(tx, session);
      });
      return { key, ...session };
    },
    async find(caller, id) {
      // Read first: a position that is stored during the query may be missing from both its result and the records after it.
      const recorded = recordedPosition(id);
      const session = await sessionById(civic.db.read, ownerOf(caller), id, lastDay());
      if (!session) throw unknownSession(id);
      const stored = session.said ? session.position : null;
      return { ...session, position: later(later(stored, recorded), recordedPosition(id)) ?? session.position };
    },
    page: (caller, { limit, after }) => civic.db.snapshot(async (tx) => ({
      sessions: await sessionsPage(tx, ownerOf(caller), lastDay(), after === null ? null : Number(after[0]), limit + 1),
      total: await countSessions(tx, { owner_id: ownerOf(caller) }, lastDay()),
    })),
    async remove(caller, id) {
      await civic.db.write(async (tx) => {
        if (!(await deleteSession(tx, ownerOf(caller), id))) throw unknownSession(id);
        await civic.emit(tx, 'firehose.session_removed', { id });
      });
    },
    async forget(tx, workspaceId) {
      for (const id of await deleteSessionsOf(tx, workspaceId)) await civic.emit(tx, 'firehose.session_removed', { id });
    },
    expiresAt: ({ last_seen_at }) => isoAt(Date.parse(last_seen_at) + config.session_days * DAY),
    note(session, read = null) {
      if (!read && clock.now() - Date.parse(session.last_seen_at) < SEEN_EVERY_MS) return;
      session.last_seen_at = clock.iso();
      uses.set(session.id, { key: session.key, position: later(recordedPosition(session.id), read) });
      timer ??= setTimeout(writeNow, WRITE_EVERY_MS).unref();
    },
    writeNow,
    prune: () => civic.db.write(async (tx) => { await pruneSessions(tx, lastDay()); }),
    settled() {
      writeNow();
      return writer.idle();
    },
  };
}

/** Returns the owner of a session: the workspace of the caller, or else the account. */
function ownerOf({ workspace_id, account_id }: Caller): string {
  return workspace_id ?? account_id;
}

function later(known: Position | null, read: Position | null): Position | null {
  if (!known || !read) return read ?? known;
  return known.epoch === read.epoch && known.seq >= read.seq ? known : read;
}

function unknownSession(id: string): Error {
  return problem('unknown_session', { detail: `No session of your workspace has the id ${id}.` });
}
