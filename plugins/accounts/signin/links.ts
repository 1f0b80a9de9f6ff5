import type { Civic, Tx } from 'civic';
import type { AuditEntry } from '../audit/store.ts';
import type { AccountsConfig } from '../config.ts';
import type { PersonRow } from '../people/store.ts';
import { hashOf, newSecret } from '../secrets.ts';
import type { Doer } from '../types.ts';
import { insertLink } from './links-store.ts';

export interface SignInLink {
  /** Holds the secret: shown once, never kept. */
  url: string;
  expires_at: string;
}

export const LINK_PATH = '/sign-in/link';

type LinkContext = Pick<Civic<AccountsConfig>, 'clock' | 'config' | 'url'>;

/** Creates a link that signs an account in, once; without an account it creates the first administrator. */
export async function createLink(civic: LinkContext, tx: Tx, accountKey: number | null): Promise<SignInLink> {
  const secret = newSecret();
  const expires_at = new Date(civic.clock.now() + civic.config.link_minutes * 60_000).toISOString();
  await insertLink(tx, { secret_hash: hashOf(secret), account_key: accountKey, created_at: civic.clock.iso(), expires_at, used_at: null });
  return { url: `${civic.url(LINK_PATH)}?token=${secret}`, expires_at };
}

/** Creates a sign-in link for an account and records it in the audit log. */
export async function createAccountLink({ civic, record }: { civic: LinkContext; record(tx: Tx, entry: AuditEntry): Promise<void> }, tx: Tx, person: PersonRow, by: Doer): Promise<SignInLink> {
  const link = await createLink(civic, tx, person.key);
  await record(tx, { kind: 'link_made', by, subject: person.id, detail: { expires_at: link.expires_at } });
  return link;
}
