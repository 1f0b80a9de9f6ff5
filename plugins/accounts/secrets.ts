import { createHash, randomBytes } from 'node:crypto';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A number in base 62, with leading zeros. */
export function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = DIGITS[Number(rest % 62n)]! + text;
  return text;
}

/** 32 random bytes as 43 letters and digits. */
export function newSecret(): string {
  return base62(BigInt(`0x${randomBytes(32).toString('hex')}`), 43);
}

/** What is kept of a secret. It has 256 random bits, so a slow hash would protect nothing. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
