import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The form in which codes, tokens and client secrets are stored. They are random, so a plain hash cannot be guessed. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** The secret of this installation that is not in the database. */
export interface Vault {
  seal(text: string): string;
  /** Null when the text was sealed with another secret. */
  open(sealed: string): string | null;
  /** Derives a key for one purpose. */
  derive(purpose: string): Buffer;
  /** Where the secret is, for messages. */
  place: string;
}

const FILE = 'oauth.key';
const IV_BYTES = 12;
const TAG_BYTES = 16;

export function createVault({ key, dataDir }: { key: string | null; dataDir: string }): Vault {
  const file = join(dataDir, FILE);
  let secret: string | undefined;
  const derive = (purpose: string): Buffer => {
    secret ??= key ?? secretIn(dataDir, file);
    return Buffer.from(hkdfSync('sha256', secret, '', `civic oauth ${purpose}`, 32));
  };
  return {
    place: key === null ? file : 'plugins.oauth.key',
    derive,
    seal(text) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', derive('signing keys'), iv);
      return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64');
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64');
      const decipher = createDecipheriv('aes-256-gcm', derive('signing keys'), bytes.subarray(0, IV_BYTES));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8');
      } catch {
        return null;
      }
    },
  };
}

/** Reads the secret of the data folder; creates it whole, so that another process reads all of it or nothing. */
function secretIn(folder: string, file: string): string {
  if (!existsSync(file)) createFile(folder, file);
  return readFileSync(file, 'utf8').trim();
}

function createFile(folder: string, file: string): void {
  const draft = `${file}.${process.pid}`;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
    chmodSync(draft, 0o600);
    linkSync(draft, file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw new Error(`The secret of the authorization server cannot be stored in ${file} (${message}): make the data folder writable, or set plugins.oauth.key`, { cause: error });
  } finally {
    rmSync(draft, { force: true });
  }
}
