import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';

/** Writes lines to a gzip file and onto the disk. */
export async function writeLines(file: string, pages: AsyncIterable<string[]>): Promise<void> {
  async function* texts(): AsyncGenerator<string> {
    for await (const lines of pages) yield `${lines.join('\n')}\n`;
  }
  await pipeline(Readable.from(texts(), { objectMode: false, highWaterMark: 1 }), createGzip({ level: 6 }), createWriteStream(file));
  await flush(file);
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

/** Reads the lines of a gzip file, as many at a time as one block holds. Rejects on a damaged or cut file. */
export async function* readLines(file: string): AsyncGenerator<string[]> {
  const source = createReadStream(file);
  const text = createGunzip();
  source.on('error', (error) => text.destroy(error));
  source.pipe(text);
  text.setEncoding('utf8');
  let rest = '';
  for await (const block of text) {
    // A row may be many blocks long: they are put together before they are split.
    if (!block.includes('\n')) {
      rest += block;
      continue;
    }
    const lines = (rest + block).split('\n');
    rest = lines.pop()!;
    yield lines;
  }
  if (rest !== '') yield [rest];
}
