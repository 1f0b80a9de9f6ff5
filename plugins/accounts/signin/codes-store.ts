import type { Reader, Tx } from 'civic';

/** Takes the place of all codes the account had. */
export async function replaceCodes(tx: Tx, accountKey: number, hashes: string[], at: string): Promise<void> {
  await tx('accounts_recovery_codes').where({ account_key: accountKey }).delete();
  await tx('accounts_recovery_codes').insert(hashes.map((secret_hash) => ({ secret_hash, account_key: accountKey, created_at: at, used_at: null })));
}

/** Uses a code up; answers whose it was. */
export async function takeCode(tx: Tx, secretHash: string, at: string): Promise<number | null> {
  const [row] = (await tx('accounts_recovery_codes').where({ secret_hash: secretHash, used_at: null }).update({ used_at: at }).returning('account_key')) as { account_key: number }[];
  return row ? Number(row.account_key) : null;
}

/** Returns the account of an unused code. */
export async function codeOwner(reader: Reader, secretHash: string): Promise<number | null> {
  const row = (await reader('accounts_recovery_codes').where({ secret_hash: secretHash, used_at: null }).first('account_key')) as { account_key: number } | undefined;
  return row ? Number(row.account_key) : null;
}

export async function codesLeft(reader: Reader, accountKey: number): Promise<{ left: number; made_at: string | null }> {
  const rows = (await reader('accounts_recovery_codes').where({ account_key: accountKey })) as { used_at: string | null; created_at: string }[];
  return { left: rows.filter(({ used_at }) => used_at === null).length, made_at: rows[0]?.created_at ?? null };
}
