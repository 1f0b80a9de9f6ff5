import { normalizeEmail, normalizePhone } from '../matching/contact.ts';
import type { ClaimRow } from './rows.ts';

/** Returns a text that claims of the same e-mail address or telephone number share, however they are written. */
export function contactKey({ property, value }: Pick<ClaimRow, 'property' | 'value'>): string {
  const given = JSON.parse(value) as string;
  return `${property} ${(property === 'email' ? normalizeEmail(given)?.address : normalizePhone(given)) ?? given}`;
}
