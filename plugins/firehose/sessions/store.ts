import { dialectOf, type Reader, type Tx } from 'civic';
import type { Mode, Query } from '../types.ts';

/** A place in the log. */
export interface Position {
  epoch: string;
  seq: number;
}

/** A durable observed query. */
export interface Session {
  key: number;
  id: string;
  owner_id: string;
  account_id: string;
  query: Query;
  fingerprint: string;
  mode: Mode;
  /** What consumers that bring no id continue after. */
  position: Position | null;
  /** Whether a consumer said so; else it is where the session began. */
  said: boolean;
  created_at: string;
  last_seen_at: string;
}

/** That a session was used, and what its consumer has read when it said so. */
export interface Use {
  key: number;
  position: Position | null;
}

interface SessionRow extends Omit<Session, 'query' | 'position' | 'said'> {
  query: string;
  epoch: string | null;
  seq: number | null;
  said: 0 | 1;
}

const SESSIONS = 'firehose_sessions';

export async function insertSession(tx: Tx, { query, position, ...session }: Omit<Session, 'key'>): Promise<number> {
  const row = { ...session, query: JSON.stringify(query), epoch: position?.epoch ?? null, seq: position?.seq ?? null };
  const [made] = (await tx(SESSIONS).insert(row).returning('key')) as { key: number }[];
  return made!.key;
}

export async function sessionById(reader: Reader, ownerId: string, id: string, seenAfter: string): Promise<Session | null> {
  const row = (await reader(SESSIONS).where({ id, owner_id: ownerId }).where('last_seen_at', '>', seenAfter).first()) as SessionRow | undefined;
  return row ? sessionOf(row) : null;
}

/** The newest first. */
export async function sessionsPage(reader: Reader, ownerId: string, seenAfter: string, before: number | null, limit: number): Promise<Session[]> {
  const page = reader(SESSIONS).where({ owner_id: ownerId }).where('last_seen_at', '>', seenAfter).orderBy('key', 'desc').limit(limit);
  return ((await (before === null ? page : page.where('key', '<', before))) as SessionRow[]).map(sessionOf);
}

export async function countSessions(reader: Reader, whose: { owner_id: string } | { account_id: string }, seenAfter: string): Promise<number> {
  const row = await reader(SESSIONS).where(whose).where('last_seen_at', '>', seenAfter).count({ total: '*' }).first() as { total: number | string };
  return Number(row.total);
}

/** Who counts an account's sessions before adding one keeps others from doing the same; SQLite has one writer anyway. */
export async function lockSessionsOf(tx: Tx, accountId: string): Promise<void> {
  if (dialectOf(tx) === 'postgres') await tx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`firehose sessions ${accountId}`]);
}

export async function deleteSession(tx: Tx, ownerId: string, id: string): Promise<boolean> {
  return await tx(SESSIONS).where({ id, owner_id: ownerId }).delete() === 1;
}

/** Deletes all sessions of a workspace and returns their ids. */
export async function deleteSessionsOf(tx: Tx, ownerId: string): Promise<string[]> {
  const ids = (await tx(SESSIONS).where({ owner_id: ownerId }).pluck('id')) as string[];
  await tx(SESSIONS).where({ owner_id: ownerId }).delete();
  return ids;
}

/** The first that says what it has read is believed, then a position only moves forward: of several consumers the one that has read furthest speaks for the session. */
export async function noteUses(tx: Tx, uses: Use[], at: string): Promise<void> {
  await tx(SESSIONS).whereIn('key', uses.map(({ key }) => key)).update({ last_seen_at: at });
  for (const { key, position } of uses) {
    if (!position) continue;
    await tx(SESSIONS).where({ key }).where((either) => either.whereNull('epoch').orWhereNot('epoch', position.epoch).orWhere('seq', '<', position.seq).orWhere('said', false)).update({ ...position, said: true });
  }
}

export async function pruneSessions(tx: Tx, seenBefore: string): Promise<number> {
  return tx(SESSIONS).where('last_seen_at', '<=', seenBefore).delete();
}

function sessionOf({ query, epoch, seq, said, ...row }: SessionRow): Session {
  return { ...row, said: said === 1, query: JSON.parse(query) as Query, position: epoch === null || seq === null ? null : { epoch, seq } };
}
