import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { PRIVATE_FILE, PRIVATE_FOLDER } from './database/private.ts';

export interface SecretFile {
  path: string;
  /** The content, for the error message: "The key of the audit record". */
  label: string;
  /** The config option that replaces the file, for the error message: "plugins.accounts.audit.key". */
  option: string;
}

const SECRET_BYTES = 32;

/**
 * Creates a file with a random secret that only this user can read; keeps an existing file. A link to a finished draft makes the
 * file appear whole, so that other processes of the data folder read all of the secret or find no file.
 */
export function createSecretFile({ path, label, option }: SecretFile): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
    linkDraft(path);
  } catch (error) {
    if (existsSync(path)) return;
    throw new Error(`${label} cannot be stored in ${path} (${(error as Error).message}): make the data folder writable, or set ${option}`, { cause: error });
  }
}

function linkDraft(path: string): void {
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, `${randomBytes(SECRET_BYTES).toString('hex')}\n`, { mode: PRIVATE_FILE });
    // A draft that a killed process left behind keeps its mode.
    chmodSync(draft, PRIVATE_FILE);
    linkSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}
