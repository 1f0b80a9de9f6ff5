import { randomInt } from 'node:crypto';

/** Letters and digits that people do not confuse: without I, L, O and U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const GROUPS = 5;
const GROUP_LENGTH = 5;

/** Returns a receipt that can be read over the telephone: `7XKQD-2M9PF-…`, 125 random bits. */
export function newReceipt(): string {
  const group = () => Array.from({ length: GROUP_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return Array.from({ length: GROUPS }, group).join('-');
}

/** Returns a typed receipt in its stored form, without regard to case, spaces and hyphens; null when the text is no receipt. */
export function readReceipt(text: string): string | null {
  const typed = text.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  if (typed.length !== GROUPS * GROUP_LENGTH || [...typed].some((letter) => !ALPHABET.includes(letter))) return null;
  return typed.match(new RegExp(`.{${GROUP_LENGTH}}`, 'g'))!.join('-');
}
