import { createSecretFile } from 'civic';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The secret key of the register. Without it a hash cannot be computed, so a copy of the database cannot be searched for names. */
export interface RegisterKey {
  /** Returns the id of the key; null when there is none. Creates nothing. */
  id(): string | null;
  /** Creates the key file when there is no key. */
  create(): void;
  /** Returns the keyed hash of a text. While there is no key, the hashes hold in this process only: call `create` before one is stored. */
  hash(text: string): string;
  /** The location of the key, for messages. */
  location: string;
}

const FILE = 'unlisted.key';
const OPTION = 'plugins.directory.unlisted_key';

export function createRegisterKey({ key, dataDir }: { key: string | null; dataDir: string }): RegisterKey {
  const file = join(dataDir, FILE);
  let loaded: string | null = null;
  const unstored = randomBytes(32);
  const secret = (): string | null => (loaded ??= key ?? (existsSync(file) ? readFileSync(file, 'utf8').trim() : null));
  return {
    location: key === null ? file : OPTION,
    id() {
      const known = secret();
      return known === null ? null : createHash('sha256').update(`civic register key\n${known}`).digest('hex').slice(0, 12);
    },
    create() {
      if (secret() === null) createSecretFile({ path: file, label: 'The key of the register of people who are not listed', option: OPTION });
    },
    hash: (text) => createHmac('sha256', secret() ?? unstored).update(text).digest('base64url'),
  };
}
