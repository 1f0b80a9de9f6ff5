import { createReadStream, existsSync } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Failure } from '../cli/command.ts';
import { backupNamed, filesOf } from './backups.ts';
import { readManifest } from './manifest.ts';
import { PRIVATE_FOLDER } from './private.ts';

/** A backup as one file. */
export interface Archive {
  fileName: string;
  bytes: number;
  open(): Readable;
}

const BLOCK = 512;
/** Two empty blocks end the file. */
const END = 2 * BLOCK;
const CONTENT = /^[^/]+\/(manifest\.json|config\.yaml|tables\/[a-z][a-z0-9_]*\.ndjson\.gz)$/;

/** Returns a backup as one tar file, with its folder inside; null when there is no whole backup of that name. Its tables are compressed already. */
export async function archiveOf(folder: string, name: string): Promise<Archive | null> {
  if (!await backupNamed(folder, name)) return null;
  const path = join(folder, name);
  const files = filesOf(await readManifest(path)).filter((file) => existsSync(join(path, file)));
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(path, file))).size));
  return {
    fileName: `${name}.tar`,
    bytes: sizes.reduce((total, size) => total + BLOCK + Math.ceil(size / BLOCK) * BLOCK, END),
    open: () => Readable.from(packed(path, name, files), { objectMode: false }),
  };
}

/** Yields a tar file. One file is open at a time, and is closed when the client stops reading: `create` of the library leaves its files open then. */
async function* packed(folder: string, name: string, files: string[]): AsyncGenerator<Buffer> {
  const { Header } = await import('tar');
  for (const file of files) {
    const { size, mtime } = await stat(join(folder, file));
    // One block each, so the size of the whole is known before.
    const header = new Header({ path: `${name}/${file}`, mode: 0o600, size, mtime, type: 'File' });
    header.encode();
    yield header.block!;
    yield* createReadStream(join(folder, file)) as AsyncIterable<Buffer>;
    if (size % BLOCK > 0) yield Buffer.alloc(BLOCK - size % BLOCK);
  }
  yield Buffer.alloc(END);
}

/** Unpacks a backup from a tar file into a new folder, and rejects a file that holds anything else. */
export async function unpackArchive(file: string, into: string): Promise<void> {
  const { extract } = await import('tar');
  const foreign: string[] = [];
  await mkdir(into, { recursive: true, mode: PRIVATE_FOLDER });
  try {
    await extract({
      file, cwd: into, strip: 1, strict: true, preserveOwner: false,
      filter: (path, entry) => {
        const isOurs = 'type' in entry && (entry.type === 'File' || entry.type === 'OldFile') && CONTENT.test(path);
        if (!isOurs && !('type' in entry && entry.type === 'Directory')) foreign.push(path);
        return isOurs;
      },
    });
    if (foreign.length > 0) throw new Failure(`${file} is not a backup: it holds ${foreign[0]}.`);
  } catch (error) {
    await rm(into, { recursive: true, force: true });
    throw error instanceof Failure ? error : new Failure(`${file} cannot be read as a tar file of a backup: ${(error as Error).message}.`, { cause: error });
  }
}
