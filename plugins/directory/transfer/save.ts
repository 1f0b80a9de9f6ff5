import { isBoom } from '@hapi/boom';
import { problem } from 'civic';
import { createHash } from 'node:crypto';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { storageCode } from './uploads.ts';

export const MOST_BYTES = 32 * 1024 * 1024;

/**
 * Writes the body of a request to a file. A body that cannot be stored is still read to its end, up to the time that a request
 * may take: a closed connection would take the response with it.
 */
export async function saveBody(body: Readable | null, path: string): Promise<{ bytes: number; hash: string }> {
  if (!body) return { bytes: 0, hash: '' };
  let file: FileHandle | null = null;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    file = await open(path, 'wx', 0o600);
    return await copy(body, file);
  } catch (error) {
    body.resume();
    throw explained(error);
  } finally {
    await file?.close();
  }
}

async function copy(body: Readable, file: FileHandle): Promise<{ bytes: number; hash: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw problem('body_too_large', { detail: `A file may have up to ${MOST_BYTES / 1024 / 1024} MB: import larger ones with bin/civic import.` });
    hash.update(chunk);
    await file.writeFile(chunk);
  }
  return { bytes, hash: hash.digest('hex') };
}

function explained(error: unknown): unknown {
  const code = storageCode(error);
  if (code) return problem(code, { detail: 'The file could not be stored on the disk of the server.', headers: { 'retry-after': '60' }, cause: error });
  const fault = (isBoom(error) ? error.data : error) as NodeJS.ErrnoException | null;
  const isCompression = fault?.code?.startsWith('Z_');
  return isCompression ? problem('malformed_body', { detail: 'The body is not compressed as its Content-Encoding says.' }) : error;
}
