import { blockNumber, emailBlock, LONGEST_BLOCK, phoneBlock } from '../matching/block.ts';
import { normalizeEmail, normalizePhone } from '../matching/contact.ts';
import type { ClaimRow } from './rows.ts';

/** Returns a text that claims of the same e-mail address or telephone number share, however they are written. */
export function contactKey({ property, value }: Pick<ClaimRow, 'property' | 'value'>): string {
  const given = JSON.parse(value) as string;
  return property === 'email' ? emailBlock(normalizeEmail(given)?.address ?? given) : phoneBlock(normalizePhone(given) ?? given);
}

/** Returns a text that claims of the same statement share: of contacts however they are written, of composed values by the part that people read. */
export function valueKey({ property, value }: Pick<ClaimRow, 'property' | 'value'>): string {
  if (property === 'email' || property === 'phone') return contactKey({ property, value });
  if (property === 'social') return `social ${(JSON.parse(value) as { url: string }).url}`;
  if (property === 'affiliation') return `affiliation ${(JSON.parse(value) as { name: string }).name}`;
  return `${property} ${value}`;
}

/** Returns the blocking key by which actors with a contact are found. */
export function blockOfContact(contact: string): number {
  return blockNumber(contact.slice(0, LONGEST_BLOCK));
}
