import { generateKeyPairSync, createHash, type JsonWebKey } from 'node:crypto';
import type { Civic, CheckResult } from 'civic';
import type { OauthConfig } from './config.ts';
import type { InstanceSecret } from './secrets.ts';
import { deleteKeys, insertKey, signingKeys, type KeyRow } from './store/keys.ts';

/** A private key as a JSON Web Key. */
export interface SigningKey extends JsonWebKey {
  kid: string;
}

/** The keys that sign ID tokens. Access and refresh tokens are random and not signed. */
export interface SigningKeys {
  /** Returns all keys that this node can decrypt, the newest first: that one signs. Creates the first key. */
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

  async function add(): Promise<void> {
    const key = newKey();
    await civic.db.write(async (tx) => {
      await insertKey(tx, { kid: key.kid, sealed: secret.encrypt(JSON.stringify(key)), created_at: clock.iso() });
      await civic.emit(tx, 'oauth.keys_changed', { kid: key.kid });
    });
    forget();
  }

  function forget(): void {
    cached = null;
    onChange();
  }

  function decrypted(rows: KeyRow[]): SigningKey[] {
    return rows.map(({ sealed }) => secret.decrypt(sealed)).filter((text) => text !== null).map((text) => JSON.parse(text) as SigningKey);
  }

  async function load(): Promise<SigningKey[]> {
    const keys = decrypted(await signingKeys(civic.db.read));
    if (keys.length > 0) return keys;
    await add();
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
    // Creates the first key. A request that creates it at the same time shares the promise.
    await all();
    const [newest, ...older] = await signingKeys(civic.db.read);
    if (daysOld(newest!) > config.key_days) await add();
    const outdated = older.filter((key) => daysOld(key) > config.key_days + PUBLISHED_DAYS).map(({ kid }) => kid);
    if (outdated.length === 0) return;
    await civic.db.write(async (tx) => {
      await deleteKeys(tx, outdated);
      await civic.emit(tx, 'oauth.keys_changed', { kid: newest!.kid });
    });
    forget();
  }

  async function check(): Promise<CheckResult> {
    const rows = await signingKeys(civic.db.read);
    const [newest] = rows;
    if (!newest) return { status: 'ok', detail: 'the first start creates a signing key' };
    if (rows.every(({ sealed }) => secret.decrypt(sealed) === null)) {
      return {
        status: 'warning', detail: `the secret in ${secret.location} decrypts no signing key`,
        fix: 'set the same plugins.oauth.key on all nodes; after a restore on another machine the next start creates a new key',
      };
    }
    if (daysOld(newest) > config.key_days + OVERDUE_DAYS) {
      return {
        status: 'warning', detail: `the signing key is ${Math.floor(daysOld(newest))} days old and should have been replaced after ${config.key_days}`,
        fix: 'start a process that runs jobs: bin/civic serve --role worker, or all',
      };
    }
    return { status: 'ok', detail: `${rows.length === 1 ? 'one key' : `${rows.length} keys`}, the newest of ${newest.created_at.slice(0, 10)}` };
  }

  return {
    all,
    forget,
    rotate,
    check,
    published: async () => (await all()).map(({ kty, crv, x, y, kid }) => ({ kty, crv, x, y, kid, alg: 'ES256', use: 'sig' })),
  };
}

function newKey(): SigningKey {
  const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  // RFC 7638: the key id is the thumbprint of the public key.
  const kid = createHash('sha256').update(JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x: jwk.x, y: jwk.y })).digest('base64url');
  return { ...jwk, kid };
}
