import { generateKeyPairSync, createHash, type JsonWebKey } from 'node:crypto';
import type { Civic, CheckResult } from 'civic';
import type { OauthConfig } from './config.ts';
import type { Vault } from './secrets.ts';
import { deleteKeys, insertKey, signingKeys, type KeyRow } from './store/keys.ts';

/** A private key as a JSON Web Key. */
export interface SigningKey extends JsonWebKey {
  kid: string;
}

/** The keys that sign ID tokens. Access and refresh tokens are random and need none. */
export interface SigningKeys {
  /** All that can be opened, the one that signs first. Creates the first key. */
  all(): Promise<SigningKey[]>;
  /** The public halves, for `/oauth/jwks`. */
  published(): Promise<JsonWebKey[]>;
  /** Replaces a key that is older than `key_days`, and deletes those that no valid ID token was signed with. */
  rotate(): Promise<void>;
  check(): Promise<CheckResult>;
  /** The keys changed on another node. */
  forget(): void;
}

const DAY = 86_400_000;
/** How long a key is published after it was replaced; ID tokens live an hour. */
const PUBLISHED_MS = 7 * DAY;

export function createSigningKeys({ civic, vault, onChange }: { civic: Civic<OauthConfig>; vault: Vault; onChange(): void }): SigningKeys {
  const { clock, config } = civic;
  let known: Promise<SigningKey[]> | null = null;

  async function add(): Promise<void> {
    const key = newKey();
    await civic.db.write(async (tx) => {
      await insertKey(tx, { kid: key.kid, sealed: vault.seal(JSON.stringify(key)), created_at: clock.iso() });
      await civic.emit(tx, 'oauth.keys_changed', { kid: key.kid });
    });
    forget();
  }

  function forget(): void {
    known = null;
    onChange();
  }

  const opened = (rows: KeyRow[]): SigningKey[] => rows.map(({ sealed }) => vault.open(sealed)).filter((text) => text !== null).map((text) => JSON.parse(text) as SigningKey);

  async function load(): Promise<SigningKey[]> {
    const keys = opened(await signingKeys(civic.db.read));
    if (keys.length > 0) return keys;
    await add();
    return opened(await signingKeys(civic.db.read));
  }

  const all = (): Promise<SigningKey[]> => (known ??= load().catch((error: unknown) => {
    known = null;
    throw error;
  }));

  const age = ({ created_at }: KeyRow): number => clock.now() - Date.parse(created_at);

  return {
    all,
    forget,
    published: async () => (await all()).map(({ kty, crv, x, y, kid }) => ({ kty, crv, x, y, kid, alg: 'ES256', use: 'sig' })),
    async rotate() {
      // Creates the first key, unless a request is just doing so.
      await all();
      const [newest, ...older] = await signingKeys(civic.db.read);
      if (age(newest!) > config.key_days * DAY) await add();
      const outdated = older.filter((key) => age(key) > config.key_days * DAY + PUBLISHED_MS).map(({ kid }) => kid);
      if (outdated.length === 0) return;
      await civic.db.write(async (tx) => {
        await deleteKeys(tx, outdated);
        await civic.emit(tx, 'oauth.keys_changed', { kid: newest!.kid });
      });
      forget();
    },
    async check() {
      const rows = await signingKeys(civic.db.read);
      const closed = rows.filter(({ sealed }) => vault.open(sealed) === null);
      if (closed.length > 0 && closed.length === rows.length) return { status: 'warning', detail: `no signing key can be opened with the secret of ${vault.place}`, fix: 'several nodes need the same plugins.oauth.key; after a restore elsewhere the next start creates a new key' };
      if (rows.length === 0) return { status: 'ok', detail: 'the first start creates a signing key' };
      const late = age(rows[0]!) > (config.key_days + 7) * DAY;
      return late
        ? { status: 'warning', detail: `the signing key is ${Math.floor(age(rows[0]!) / DAY)} days old and was to be replaced after ${config.key_days}`, fix: 'start a process that does background work: bin/civic serve --role worker, or all' }
        : { status: 'ok', detail: `${rows.length === 1 ? 'one key' : `${rows.length} keys`}, the newest of ${rows[0]!.created_at.slice(0, 10)}` };
    },
  };
}

function newKey(): SigningKey {
  const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  // RFC 7638: the thumbprint of the public key names it.
  const kid = createHash('sha256').update(JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x: jwk.x, y: jwk.y })).digest('base64url');
  return { ...jwk, kid };
}
