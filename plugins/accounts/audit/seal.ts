import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
  place: string;
}

/** `foreign` is sealed with a key that is not known here. */
export type Verdict = 'good' | 'unsealed' | 'foreign' | 'forged';

const FILE = 'audit.key';
const MIN_KEY = 32;

export function createSeals({ key, dataDir }: { key: string | null; dataDir: string }): Seals {
  const file = join(dataDir, FILE);
  let loaded: { id: string; secret: string }[] = [];

  /** The first key seals; the keys of further lines are earlier ones, which only verify. */
  function keys(): typeof loaded {
    if (loaded.length > 0) return loaded;
    const text = key ?? (existsSync(file) ? readFileSync(file, 'utf8') : '');
    loaded = text.split('\n').map((line) => line.trim()).filter((line) => line !== '').map((secret) => ({ id: keyId(secret), secret }));
    const short = loaded.find(({ secret }) => secret.length < MIN_KEY);
    if (short) throw new Error(`A key in ${key === null ? file : 'plugins.accounts.audit.key'} has fewer than ${MIN_KEY} characters`);
    return loaded;
  }

  function currentOrNew(): { id: string; secret: string } {
    const [current] = keys();
    if (current) return current;
    createKeyFile(dataDir, file);
    return keys()[0]!;
  }

  return {
    place: key === null ? file : 'plugins.accounts.audit.key',
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

/** Creates the key file whole, so that another process of this data folder reads all of it or nothing. */
function createKeyFile(folder: string, file: string): void {
  const draft = `${file}.${process.pid}`;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
    chmodSync(draft, 0o600);
    linkSync(draft, file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw new Error(`The key of the audit record cannot be stored in ${file} (${message}): make the data folder writable, or set plugins.accounts.audit.key`, { cause: error });
  } finally {
    rmSync(draft, { force: true });
  }
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
