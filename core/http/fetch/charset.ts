import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

/** How much of a document may come before its declaration. */
const DECLARED_WITHIN = 4096;

/**
 * Returns the charset of a document: of its byte order mark, of the header `content-type`, or as its `<meta>` or XML declaration states. A document that
 * declares none, or UTF-8 without having one character of it beyond ASCII, is UTF-8 when it can be, else windows-1252. The result is always one that
 * `TextDecoder` has.
 */
export function charsetOf(body: Uint8Array, contentType: string): string {
  const candidates = [markOf(body), /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(contentType)?.[1], ...(/json/i.test(contentType) ? [] : [declaredIn(body)])];
  for (const candidate of candidates) {
    const known = candidate === undefined ? null : knownCharset(candidate);
    if (known && !(known === 'utf-8' && isOtherThanUtf8(body))) return known;
  }
  return isUtf8(body) || isCutUtf8(body) ? 'utf-8' : 'windows-1252';
}

function markOf(body: Uint8Array): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8';
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
  return body[0] === 0xfe && body[1] === 0xff ? 'utf-16be' : undefined;
}

function declaredIn(body: Uint8Array): string | undefined {
  const head = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, DECLARED_WITHIN)).toString('latin1').replace(/<!--[\s\S]*?(-->|$)/g, '');
  const declared = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"']+)/i.exec(head)?.[1] ?? /<meta\s[^>]*?charset\s*=\s*["']?\s*([^\s"'/>;]+)/i.exec(head)?.[1];
  // A declaration that is readable byte by byte is not in UTF-16, as the HTML standard says.
  return declared && /^utf-?16/i.test(declared) ? 'utf-8' : declared;
}

function knownCharset(label: string): string | null {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}

/** Whether no character beyond ASCII is one of UTF-8: many servers declare UTF-8 for files of another charset. */
function isOtherThanUtf8(body: Uint8Array): boolean {
  return !isUtf8(body) && !isCutUtf8(body) && /^[\p{ASCII}\ufffd]*$/u.test(new TextDecoder('utf-8').decode(body));
}

/** Whether a body was cut inside a character of UTF-8. Other characters before it show the charset: a single one may be the é of windows-1252. */
function isCutUtf8(body: Uint8Array): boolean {
  for (let back = 1; back <= Math.min(3, body.length); back++) {
    const rest = body.subarray(0, body.length - back);
    if (body[body.length - back]! >= 0xc0) return isUtf8(rest) && !isAscii(rest);
  }
  return false;
}
