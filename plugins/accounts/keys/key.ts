import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { base62, newSecret } from '../secrets.ts';

const FORM = /^civic_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/;
const CHECKSUM = 6;

/** The prefix of every API key, by which a misplaced one is recognized. */
export const KEY_START = 'civic_';

const ANYWHERE = /civic_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}/;

/** Returns whether a text contains something with the form of a key. */
export function holdsKey(text: unknown): boolean {
  return typeof text === 'string' && ANYWHERE.test(text);
}

/** Creates a key: `civic_<id>_<secret><checksum>`. */
export function newKey(): { id: string; key: string } {
  const id = base62(BigInt(`0x${randomBytes(8).toString('hex')}`), 8);
  const body = `${KEY_START}${id}_${newSecret()}`;
  return { id, key: body + checksumOf(body) };
}

/** Returns the id in a key, or null when the form or the checksum is wrong: most wrong keys need no query. */
export function idOf(key: string): string | null {
  if (!FORM.test(key)) return null;
  const body = key.slice(0, -CHECKSUM);
  return checksumOf(body) === key.slice(-CHECKSUM) ? key.slice(KEY_START.length, KEY_START.length + 8) : null;
}

function checksumOf(body: string): string {
  return base62(BigInt(crc32(body)), CHECKSUM);
}
