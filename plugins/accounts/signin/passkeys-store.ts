import type { Reader, Tx } from 'civic';

export interface PasskeyRow {
  key: number;
  /** The credential's own id, base64url. */
  id: string;
  account_key: number;
  public_key: Buffer;
  counter: number;
  /** A JSON list. */
  transports: string;
  name: string;
  created_at: string;
  used_at: string | null;
}

export async function insertPasskey(tx: Tx, passkey: Omit<PasskeyRow, 'key'>): Promise<void> {
  await tx('accounts_passkeys').insert(passkey);
}

export async function passkeyById(reader: Reader, id: string): Promise<PasskeyRow | null> {
  return passkeyRow(await reader('accounts_passkeys').where({ id }).first());
}

export async function passkeysOf(reader: Reader, accountKey: number): Promise<PasskeyRow[]> {
  const rows = await reader('accounts_passkeys').where({ account_key: accountKey }).orderBy('key');
  return rows.map((row) => passkeyRow(row)!);
}

/** A counter only rises; one that stands still belongs to a copy. Authenticators that do not count say 0 always. */
export async function markPasskeyUsed(tx: Tx, { key, counter }: PasskeyRow, newCounter: number, at: string): Promise<boolean> {
  return (await tx('accounts_passkeys').where({ key, counter }).update({ counter: newCounter, used_at: at })) === 1;
}

export async function renamePasskey(tx: Tx, accountKey: number, id: string, name: string): Promise<void> {
  await tx('accounts_passkeys').where({ account_key: accountKey, id }).update({ name });
}

export async function deletePasskey(tx: Tx, accountKey: number, id: string): Promise<boolean> {
  return (await tx('accounts_passkeys').where({ account_key: accountKey, id }).delete()) === 1;
}

function passkeyRow(row: unknown): PasskeyRow | null {
  const found = row as PasskeyRow | undefined;
  return found ? { ...found, counter: Number(found.counter) } : null;
}

export interface CeremonyRow {
  id: string;
  kind: 'register' | 'sign_in' | 'confirm';
  account_key: number | null;
  challenge: string;
  expires_at: string;
}

export async function insertCeremony(tx: Tx, ceremony: CeremonyRow): Promise<void> {
  await tx('accounts_ceremonies').insert(ceremony);
}

/** A challenge is answered once, rightly or wrongly. */
export async function takeCeremony(tx: Tx, id: string, kind: CeremonyRow['kind'], now: string): Promise<CeremonyRow | null> {
  const row = (await tx('accounts_ceremonies').where({ id, kind }).first()) as CeremonyRow | undefined;
  const isTaken = await tx('accounts_ceremonies').where({ id, kind }).delete() === 1;
  return row && isTaken && row.expires_at > now ? row : null;
}

export async function pruneCeremonies(tx: Tx, before: string): Promise<void> {
  await tx('accounts_ceremonies').where('expires_at', '<', before).delete();
}
