import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { Page } from './digest.ts';
import { PRIVATE_FILE } from './private.ts';

const NEWLINE = 10;

/** Writes pages of lines to a gzip file. */
export async function writePages(file: string, pages: AsyncIterable<Page>): Promise<void> {
  async function* texts(): AsyncGenerator<string | Buffer> {
    for await (const page of pages) yield page.text;
  }
  await pipeline(Readable.from(texts(), { objectMode: false }), createGzip(), createWriteStream(file, { mode: PRIVATE_FILE }));
}

/** Makes a file or folder survive a power cut. */
export async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Reads a gzip file of lines in blocks; a block may end inside a line. Rejects on a damaged or cut file. */
export async function* readBlocks(file: string): AsyncGenerator<Page & { text: Buffer }> {
  const source = createReadStream(file);
  const unzipped = createGunzip({ chunkSize: 65_536 });
  source.on('error', (error) => unzipped.destroy(error));
  source.pipe(unzipped);
  for await (const text of unzipped as AsyncIterable<Buffer>) {
    let rows = 0;
    for (let at = text.indexOf(NEWLINE); at !== -1; at = text.indexOf(NEWLINE, at + 1)) rows++;
    yield { rows, text };
  }
}

/** Reads the lines of a gzip file. */
export async function* readLines(file: string): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  for await (const { text } of readBlocks(file)) {
    let start = 0;
    for (let at = text.indexOf(NEWLINE); at !== -1; at = text.indexOf(NEWLINE, start)) {
      parts.push(text.subarray(start, at));
      yield Buffer.concat(parts).toString();
      parts = [];
      start = at + 1;
    }
    if (start < text.length) parts.push(text.subarray(start));
  }
}
