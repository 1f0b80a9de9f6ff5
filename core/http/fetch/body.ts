import { promisify, TextDecoder } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { charsetOf } from './charset.ts';
import { asFetchError, FetchError, shown } from './error.ts';

export function tooLarge(url: URL, maxBytes: number): FetchError {
  return new FetchError('too_large', `${shown(url)} is larger than the ${maxBytes} bytes that are accepted.`);
}

/** The body as it was sent. Leaving the loop early destroys the stream and its connection. */
export async function readBody(body: Dispatcher.ResponseData['body'], url: URL, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(url, maxBytes);
      chunks.push(chunk);
    }
  } catch (error) {
    throw asFetchError(error, url);
  }
  return Buffer.concat(chunks, size);
}

const UNPACK = {
  'gzip': promisify(gunzip),
  'x-gzip': promisify(gunzip),
  'br': promisify(brotliDecompress),
  // By that name a zlib stream is meant; some servers send the bare one.
  'deflate': (packed: Buffer, options: { maxOutputLength: number }) => promisify((packed[0]! & 0x0f) === 8 ? inflate : inflateRaw)(packed, options),
};

/** The body unpacked. It stops at the limit, so that a few bytes cannot fill the memory. */
export async function unpacked(packed: Buffer, encoding: string, url: URL, maxBytes: number): Promise<Buffer> {
  const name = encoding.trim().toLowerCase();
  if (packed.length === 0 || name === '' || name === 'identity') return packed;
  if (!Object.hasOwn(UNPACK, name)) throw new FetchError('bad_response', `${shown(url)} is packed in a way that is not known here: "${name.slice(0, 40)}".`);
  try {
    return await UNPACK[name as keyof typeof UNPACK](packed, { maxOutputLength: maxBytes });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(url, maxBytes);
    throw new FetchError('bad_response', `${shown(url)} cannot be unpacked from ${name}: the data is damaged.`, { cause });
  }
}

/** A stream is read as it comes. */
export function refusePacked(encoding: string, url: URL): void {
  if (encoding !== '' && encoding !== 'identity') throw new FetchError('bad_response', `${shown(url)} is packed as "${encoding.slice(0, 40)}", though it was asked not to be.`);
}

/** Returns the body as text, in its charset. */
export function decoded(body: Uint8Array, contentType: string): string {
  return new TextDecoder(charsetOf(body, contentType)).decode(body);
}
