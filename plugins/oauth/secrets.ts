import { createSecretFile } from 'civic';
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the form in which codes, tokens and client secrets are stored. They are random, so a hash without salt cannot be guessed. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** The secret of this installation, which is not in the database. Keys for each purpose are derived from it. */
export interface InstanceSecret {
  encrypt(text: string): string;
  /** Returns null when the text was encrypted with another secret. */
  decrypt(encrypted: string): string | null;
  deriveKey(purpose: string): Buffer;
  /** Reads the secret, or creates it. Throws when the file has none. */
  load(): void;
  /** The file or the option that has the secret, for messages. */
  location: string;
}

const FILE = 'oauth.key';
const OPTION = 'plugins.oauth.key';
const CIPHER = 'aes-256-gcm';
/** Part of the key derivation: another text makes stored signing keys unreadable. */
const ENCRYPTION = 'signing keys';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
/** As in the option. */
export const LEAST_CHARACTERS = 32;

/** Creates the secret from the option `key`, or else from a file in the data folder, which the first use creates. */
export function createInstanceSecret({ key, dataDir }: { key: string | null; dataDir: string }): InstanceSecret {
  const file = join(dataDir, FILE);
  let secret: string | undefined;

  const load = (): string => (secret ??= key ?? readSecret(file));

  function deriveKey(purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', load(), '', `civic oauth ${purpose}`, KEY_BYTES));
  }

  return {
    location: key === null ? file : OPTION,
    deriveKey,
    load,
    encrypt(text) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, deriveKey(ENCRYPTION), iv);
      return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64');
    },
    decrypt(encrypted) {
      const bytes = Buffer.from(encrypted, 'base64');
      const decipher = createDecipheriv(CIPHER, deriveKey(ENCRYPTION), bytes.subarray(0, IV_BYTES));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8');
      } catch {
        return null;
      }
    },
  };
}

function readSecret(file: string): string {
  if (!existsSync(file)) createSecretFile({ path: file, label: 'The secret of the authorization server', option: OPTION });
  const secret = readFileSync(file, 'utf8').trim();
  if (secret.length >= LEAST_CHARACTERS) return secret;
  throw new Error(`${file} has ${secret.length === 0 ? 'no secret' : `a secret of ${secret.length} characters`}, not one of ${LEAST_CHARACTERS} or more: restore the file from a copy, or delete it, and the next start creates a new secret and new signing keys`);
}
