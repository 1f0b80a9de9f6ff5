import type { Reader, Tx } from 'civic';

export interface TicketRow {
  secret_hash: string;
  session_key: number;
  account_id: string;
  credential_id: string;
  workspace_id: string;
  expires_at: string;
  bound_at: string | null;
  /** When the token that it was made with expires; null for a key. */
  ends_at: string | null;
}

/** A ticket with the session it lets in to. */
export interface KnownTicket extends TicketRow {
  session_id: string;
}

const TICKETS = 'firehose_tickets';

export async function insertTicket(tx: Tx, ticket: TicketRow): Promise<void> {
  await tx(TICKETS).insert(ticket);
}

/** How many tickets of a session are valid. */
export async function countTickets(reader: Reader, sessionKey: number, now: string): Promise<number> {
  const row = await reader(TICKETS).where({ session_key: sessionKey }).where('expires_at', '>', now).count({ total: '*' }).first() as { total: number | string };
  return Number(row.total);
}

export async function ticketByHash(reader: Reader, secretHash: string, now: string): Promise<KnownTicket | null> {
  const row = await reader(TICKETS).join('firehose_sessions', 'firehose_sessions.key', 'firehose_tickets.session_key')
    .where('firehose_tickets.secret_hash', secretHash).where('firehose_tickets.expires_at', '>', now)
    .first('firehose_tickets.*', 'firehose_sessions.id as session_id');
  return (row as KnownTicket | undefined) ?? null;
}

/** Takes a ticket that nobody used yet out of use. False when somebody was faster. */
export async function spendTicket(tx: Tx, secretHash: string): Promise<boolean> {
  return await tx(TICKETS).where({ secret_hash: secretHash, bound_at: null }).delete() === 1;
}

/** Keeps a ticket for the streams of its session; one that is bound already stays so. False when it was spent. */
export async function bindTicket(tx: Tx, secretHash: string, at: string, until: string): Promise<boolean> {
  if (await tx(TICKETS).where({ secret_hash: secretHash, bound_at: null }).update({ bound_at: at, expires_at: until }) === 1) return true;
  return (await tx(TICKETS).where({ secret_hash: secretHash }).whereNotNull('bound_at').first('key')) !== undefined;
}

export async function pruneTickets(tx: Tx, now: string): Promise<void> {
  await tx(TICKETS).where('expires_at', '<=', now).delete();
}
