import { randomInt } from 'node:crypto';
import { hashOf } from '../secrets.ts';

// Crockford's digits: none looks like another.
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const GROUPS = 4;
const GROUP = 5;
export const CODES = 10;

/** Codes to be written down: 100 random bits each, in groups. */
export function newCodes(): string[] {
  return Array.from({ length: CODES }, () => Array.from({ length: GROUPS }, () => Array.from({ length: GROUP }, () => DIGITS[randomInt(DIGITS.length)]).join('')).join('-'));
}

/** Read as it was typed: small letters, spaces, an O for a 0. */
export function hashOfCode(typed: string): string {
  return hashOf(typed.toUpperCase().replace(/[^0-9A-Z]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1'));
}
