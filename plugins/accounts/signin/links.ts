import type { Civic, Tx } from 'civic';
import type { AccountsConfig } from '../config.ts';
import { hashOf, newSecret } from '../secrets.ts';
import { insertLink } from './links-store.ts';

export interface SignInLink {
  /** Holds the secret: shown once, never kept. */
  url: string;
  expires_at: string;
}

export const LINK_PATH = '/sign-in/link';

/** A link that signs an account in, once; without an account it makes the first administrator. */
export async function createLink(civic: Pick<Civic<AccountsConfig>, 'clock' | 'config' | 'url'>, tx: Tx, accountKey: number | null): Promise<SignInLink> {
  const secret = newSecret();
  const expires_at = new Date(civic.clock.now() + civic.config.link_minutes * 60_000).toISOString();
  await insertLink(tx, { secret_hash: hashOf(secret), account_key: accountKey, created_at: civic.clock.iso(), expires_at, used_at: null });
  return { url: `${civic.url(LINK_PATH)}?token=${secret}`, expires_at };
}
