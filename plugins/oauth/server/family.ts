import { createHmac, timingSafeEqual } from 'node:crypto';
import type { InstanceSecret } from '../secrets.ts';

/**
 * Marks refresh tokens with their connection and the time of issue. The rows of used tokens are deleted after a while; the mark of a token
 * without a row proves that this instance issued it, so that its replay still ends the connection.
 */
export interface TokenFamilies {
  /** Returns the value of a token: its random characters and the mark. */
  mark(random: string, grantId: string, issued: number): string;
  /** Returns the connection of a token and when it was issued; null for text that this instance did not issue. */
  read(token: string): { grantId: string; issued: number } | null;
}

const ID_BYTES = 16;
const TIME_BYTES = 6;
const SIGNATURE_BYTES = 16;
const FORM = /^([\w-]{43,})\.([\w-]{51})$/;

export function createTokenFamilies(secret: InstanceSecret): TokenFamilies {
  const sign = (random: string, content: Buffer): Buffer => createHmac('sha256', secret.deriveKey('refresh tokens')).update(random).update(content).digest().subarray(0, SIGNATURE_BYTES);
  return {
    mark(random, grantId, issued) {
      const content = Buffer.alloc(ID_BYTES + TIME_BYTES);
      content.write(grantId.replaceAll('-', ''), 'hex');
      content.writeUIntBE(issued, ID_BYTES, TIME_BYTES);
      return `${random}.${Buffer.concat([content, sign(random, content)]).toString('base64url')}`;
    },
    read(token) {
      const [, random, mark] = FORM.exec(token) ?? [];
      if (random === undefined) return null;
      const bytes = Buffer.from(mark!, 'base64url');
      // The last character has bits that carry nothing: only the text that `mark` writes is a token.
      if (bytes.toString('base64url') !== mark) return null;
      const content = bytes.subarray(0, ID_BYTES + TIME_BYTES);
      if (!timingSafeEqual(bytes.subarray(content.length), sign(random, content))) return null;
      const grantId = content.toString('hex', 0, ID_BYTES).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
      return { grantId, issued: content.readUIntBE(ID_BYTES, TIME_BYTES) };
    },
  };
}
