import { Failure } from 'civic';
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** How this machine signs in at an instance. */
export type SignIn = { url: string; kind: 'key'; key: string } | { url: string; kind: 'token'; client_id: string; token_endpoint: string; access_token: string; refresh_token: string | null; expires_at: number };

function fileIn(dataDir: string): string {
  return join(dataDir, 'sign-in.json');
}

/** Returns the stored sign-in; null when there is none. */
export function readSignIn(dataDir: string): SignIn | null {
  try {
    return JSON.parse(readFileSync(fileIn(dataDir), 'utf8')) as SignIn;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Failure(`${fileIn(dataDir)} cannot be read: sign in again with bin/scout login`, { cause: error });
  }
}

/** Stores a sign-in in a file that only this user can read. Replaces it as a whole, so that a kill leaves one of the two. */
export function saveSignIn(dataDir: string, signIn: SignIn): void {
  const file = fileIn(dataDir);
  const draft = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(draft, `${JSON.stringify(signIn)}\n`, { mode: 0o600 });
  // A draft that a killed process left behind keeps its mode.
  chmodSync(draft, 0o600);
  renameSync(draft, file);
}

