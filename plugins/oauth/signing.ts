import { createHash, generateKeyPair, type JsonWebKey } from 'node:crypto';
import { promisify } from 'node:util';
import type { Civic, CheckResult } from 'civic';
import type { OauthConfig } from './config.ts';
import type { InstanceSecret } from './secrets.ts';
import { deleteKeys, insertKey, lockKeys, signingKeys, type KeyRow } from './store/keys.ts';

/** A private key as a JSON Web Key. */
export interface SigningKey extends JsonWebKey {
  kid: string;
  alg: Algorithm;
}

/** OpenID Connect requires RS256, the default of clients. */
export const ALGORITHMS = ['RS256', 'ES256'] as const;
type Algorithm = (typeof ALGORITHMS)[number];

/** The keys that sign ID tokens. Access and refresh tokens are random and not signed. */
export interface SigningKeys {
  /** Returns all keys that this node can decrypt, the newest first: the first of an algorithm signs. Creates the first keys. */
  all(): Promise<SigningKey[]>;
  /** Returns the public keys, for `/oauth/jwks`. */
  published(): Promise<JsonWebKey[]>;
  /** Replaces a key that is older than `key_days`, and deletes keys that signed no ID token that is still valid. */
  rotate(): Promise<void>;
  check(): Promise<CheckResult>;
  /** Reads the keys again at the next use: another node changed them. */
  forget(): void;
}

export interface SigningContext {
  civic: Civic<OauthConfig>;
  secret: InstanceSecret;
  onChange(): void;
}

const DAY = 86_400_000;
/** How long a key is published after it was replaced. ID tokens are valid for an hour. */
const PUBLISHED_DAYS = 7;
/** How long after `key_days` the check waits for the job that replaces the key. */
const OVERDUE_DAYS = 7;

export function createSigningKeys({ civic, secret, onChange }: SigningContext): SigningKeys {
  const { clock, config } = civic;
  let cached: Promise<SigningKey[]> | null = null;

  /** Adds a key for each algorithm, unless another process has added one since `known` were the keys. */
  async function add(algorithms: Algorithm[], known: KeyRow[]): Promise<void> {
    const keys = await Promise.all(algorithms.map(newKey));
    await civic.db.write(async (tx) => {
      await lockKeys(tx);
      const added = (await signingKeys(tx)).filter(({ kid }) => known.every((row) => row.kid !== kid)).map(algorithmOf);
      for (const key of keys.filter(({ alg }) => !added.includes(alg))) {
        await insertKey(tx, { kid: key.kid, alg: key.alg, sealed: secret.encrypt(JSON.stringify(key)), created_at: clock.iso() });
        await civic.emit(tx, 'oauth.keys_changed', { kid: key.kid });
      }
    });
    forget();
  }

  function forget(): void {
    cached = null;
    onChange();
  }

  function decrypted(rows: KeyRow[]): SigningKey[] {
    return rows.map((row) => ({ alg: algorithmOf(row), text: secret.decrypt(row.sealed) })).filter(({ text }) => text !== null).map(({ alg, text }) => ({ ...JSON.parse(text!) as SigningKey, alg }));
  }

  async function load(): Promise<SigningKey[]> {
    const rows = await signingKeys(civic.db.read);
    const keys = decrypted(rows);
    const missing = ALGORITHMS.filter((algorithm) => keys.every(({ alg }) => alg !== algorithm));
    if (missing.length === 0) return keys;
    await add(missing, rows);
    return decrypted(await signingKeys(civic.db.read));
  }

  function all(): Promise<SigningKey[]> {
    cached ??= load().catch((error: unknown) => {
      cached = null;
      throw error;
    });
    return cached;
  }

  const daysOld = ({ created_at }: KeyRow): number => (clock.now() - Date.parse(created_at)) / DAY;

  async function rotate(): Promise<void> {
    // Creates the first keys. A request that creates them at the same time shares the promise.
    await all();
    const rows = await signingKeys(civic.db.read);
    const newest = newestOf(rows);
    const due = newest.filter((key) => daysOld(key) > config.key_days).map(algorithmOf);
    if (due.length > 0) await add(due, rows);
    const outdated = rows.filter((key) => !newest.includes(key) && daysOld(key) > config.key_days + PUBLISHED_DAYS).map(({ kid }) => kid);
    if (outdated.length === 0) return;
    await civic.db.write(async (tx) => {
      await deleteKeys(tx, outdated);
      for (const kid of outdated) await civic.emit(tx, 'oauth.keys_changed', { kid });
    });
    forget();
  }

  async function check(): Promise<CheckResult> {
    const rows = await signingKeys(civic.db.read);
    const [oldest] = newestOf(rows).sort((a, b) => daysOld(b) - daysOld(a));
    if (!oldest) return { status: 'ok', detail: 'the first start creates signing keys' };
    if (rows.every(({ sealed }) => secret.decrypt(sealed) === null)) {
      return {
        status: 'warning', detail: `the secret in ${secret.location} decrypts no signing key`,
        fix: 'set the same plugins.oauth.key on all nodes; after a restore on another machine the server creates a new key when an app connects, or within six hours',
      };
    }
    if (daysOld(oldest) > config.key_days + OVERDUE_DAYS) {
      return {
        status: 'warning', detail: `the signing key is ${Math.floor(daysOld(oldest))} days old and should have been replaced after ${config.key_days}`,
        fix: 'start a process that runs jobs: bin/civic serve --role worker, or all',
      };
    }
    return { status: 'ok', detail: `${rows.length} keys, the newest of ${rows[0]!.created_at.slice(0, 10)}` };
  }

  return {
    all,
    forget,
    rotate,
    check,
    published: async () => (await all()).map(({ kid, alg, ...jwk }) => ({ ...publicPart(jwk), kid, alg, use: 'sig' })),
  };
}

const algorithmOf = ({ alg }: KeyRow): Algorithm => (alg ?? 'ES256') as Algorithm;

/** Returns the newest key of each algorithm. */
function newestOf(rows: KeyRow[]): KeyRow[] {
  return ALGORITHMS.map((algorithm) => rows.find((row) => algorithmOf(row) === algorithm)).filter((row) => row !== undefined);
}

/** Returns the members that RFC 7638 names, in its order. */
function publicPart({ kty, crv, x, y, n, e }: JsonWebKey): JsonWebKey {
  return kty === 'RSA' ? { e, kty, n } : { crv, kty, x, y };
}

const RSA_BITS = 2048;
const generate = promisify(generateKeyPair);

/** Generates a key on a thread of its own: an RSA key takes some tenths of a second. */
export async function newKey(alg: Algorithm): Promise<SigningKey> {
  const { privateKey } = alg === 'RS256' ? await generate('rsa', { modulusLength: RSA_BITS }) : await generate('ec', { namedCurve: 'P-256' });
  const jwk = privateKey.export({ format: 'jwk' });
  // RFC 7638: the key id is the thumbprint of the public key.
  const kid = createHash('sha256').update(JSON.stringify(publicPart(jwk))).digest('base64url');
  return { ...jwk, kid, alg };
}
