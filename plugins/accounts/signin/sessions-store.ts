import type { Reader, Tx } from 'civic';

export type MadeBy = 'passkey' | 'link' | 'code';

export interface SessionRow {
  key: number;
  id: string;
  account_key: number;
  secret_hash: string;
  made_by: MadeBy;
  created_at: string;
  seen_at: string;
  expires_at: string;
  ended_at: string | null;
  address: string | null;
  agent: string | null;
  workspace_key: number | null;
  /** When the account last proved who it is in this session. */
  confirmed_at: string | null;
}

export async function insertSession(tx: Tx, session: Omit<SessionRow, 'key'>): Promise<void> {
  await tx('accounts_sessions').insert(session);
}

/** The session of a secret, if it can still be used. */
export async function openSession(reader: Reader, secretHash: string, now: string, seenAfter: string): Promise<SessionRow | null> {
  const row = await reader('accounts_sessions').where({ secret_hash: secretHash, ended_at: null }).where('expires_at', '>', now).where('seen_at', '>', seenAfter).first();
  return (row as SessionRow | undefined) ?? null;
}

/** The sessions of an account that can still be used, the latest used first. */
export async function openSessionsOf(reader: Reader, accountKey: number, now: string, seenAfter: string): Promise<SessionRow[]> {
  return reader('accounts_sessions').where({ account_key: accountKey, ended_at: null }).where('expires_at', '>', now).where('seen_at', '>', seenAfter)
    .orderBy('seen_at', 'desc').orderBy('key', 'desc');
}

export async function markSeen(tx: Tx, key: number, at: string): Promise<void> {
  await tx('accounts_sessions').where({ key }).update({ seen_at: at });
}

export async function markConfirmed(tx: Tx, key: number, at: string): Promise<void> {
  await tx('accounts_sessions').where({ key }).update({ confirmed_at: at });
}

/** The devices that an account signed in from lately, ended sessions included. */
export async function devicesOf(reader: Reader, accountKey: number): Promise<Pick<SessionRow, 'agent' | 'address'>[]> {
  return reader('accounts_sessions').where({ account_key: accountKey }).distinct('agent', 'address');
}

export async function chooseWorkspace(tx: Tx, key: number, workspaceKey: number): Promise<void> {
  await tx('accounts_sessions').where({ key }).update({ workspace_key: workspaceKey });
}

/** Ends one session of an account, or all; answers the ids of those that were open. */
export async function endSessions(tx: Tx, accountKey: number, at: string, id?: string): Promise<string[]> {
  const open = tx('accounts_sessions').where({ account_key: accountKey, ended_at: null });
  const rows = (await (id === undefined ? open : open.where({ id })).update({ ended_at: at }).returning('id')) as { id: string }[];
  return rows.map((row) => row.id);
}

/** Nobody can use these any more, nor should addresses be kept for longer than they are of use. */
export async function pruneSessions(tx: Tx, before: string): Promise<void> {
  await tx('accounts_sessions').where('expires_at', '<', before).orWhere('ended_at', '<', before).orWhere('seen_at', '<', before).delete();
}
