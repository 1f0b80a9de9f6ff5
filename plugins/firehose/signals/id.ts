import { createHash } from 'node:crypto';

/** Returns an id derived from the name: a signal that is published again keeps its id. */
export function namedId(name: string): string {
  const hex = createHash('sha256').update(`civic signal ${name}`).digest('hex');
  const variant = (0x8 | (parseInt(hex[16]!, 16) & 0x3)).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
