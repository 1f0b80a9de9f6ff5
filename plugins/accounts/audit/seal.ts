import { createSecretFile } from 'civic';
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A seal is an HMAC over the hash of an audit row, with a key that is not in the database. Since each hash covers all rows
 * before it, an attacker who can rewrite the database but lacks the key can neither change nor add a row.
 */
export interface Seals {
  /** Seals a row's hash with the current key; creates the key file when there is no key. */
  seal(hash: string): string;
  /** The id of the current key; null when there is no key. Creates nothing. */
  currentKey(): string | null;
  verdict(hash: string, seal: string | null): Verdict;
  /** The location of the key, for messages. */
  location: string;
}

/** `foreign` is sealed with a key that is not known here. */
export type Verdict = 'good' | 'unsealed' | 'foreign' | 'forged';

const FILE = 'audit.key';
const OPTION = 'plugins.accounts.audit.key';
const MIN_KEY = 32;

export function createSeals({ key, dataDir }: { key: string | null; dataDir: string }): Seals {
  const file = join(dataDir, FILE);
  const location = key === null ? file : OPTION;
  let loaded: { id: string; secret: string }[] = [];

  /** The first key seals; the keys of further lines are earlier ones, which only verify. */
  function keys(): typeof loaded {
    if (loaded.length > 0) return loaded;
    const text = key ?? (existsSync(file) ? readFileSync(file, 'utf8') : '');
    loaded = text.split('\n').map((line) => line.trim()).filter((line) => line !== '').map((secret) => ({ id: keyId(secret), secret }));
    const short = loaded.find(({ secret }) => secret.length < MIN_KEY);
    if (short) throw new Error(`A key in ${location} has fewer than ${MIN_KEY} characters`);
    return loaded;
  }

  function currentOrNew(): { id: string; secret: string } {
    const [current] = keys();
    if (current) return current;
    createSecretFile({ path: file, label: 'The key of the audit record', option: OPTION });
    return keys()[0]!;
  }

  return {
    location,
    seal(hash) {
      const { id, secret } = currentOrNew();
      return `${id}.${mac(secret, hash)}`;
    },
    currentKey: () => keys()[0]?.id ?? null,
    verdict(hash, seal) {
      if (seal === null) return 'unsealed';
      const known = keys().find(({ id }) => id === sealedWith(seal));
      if (!known) return 'foreign';
      const [given, expected] = [Buffer.from(seal), Buffer.from(`${known.id}.${mac(known.secret, hash)}`)];
      return given.length === expected.length && timingSafeEqual(given, expected) ? 'good' : 'forged';
    },
  };
}

/** Returns the id of the key of a seal. */
export function sealedWith(seal: string | null): string | null {
  return seal?.split('.')[0] ?? null;
}

function keyId(secret: string): string {
  return createHash('sha256').update(`civic audit key\n${secret}`).digest('hex').slice(0, 12);
}

function mac(secret: string, hash: string): string {
  return createHmac('sha256', secret).update(`civic audit row\n${hash}`).digest('hex');
}
