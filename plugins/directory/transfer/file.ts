import { Failure } from 'civic';
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { TextDecoder } from 'node:util';

/** A file, or a folder of files, that was looked through once and can be read as text. */
export interface TextFile {
  path: string;
  isFolder: boolean;
  bytes: number;
  /** Of all its content: the same file again is the same import. */
  fingerprint: string;
  /** Said in the report: guessed encodings. */
  notes: string[];
  /** Its text in pieces, without byte order mark and NUL bytes. */
  text(): AsyncIterable<string>;
  /** The files of a folder that end so, in the order of their paths; a file itself otherwise. */
  files(extensions: string[]): TextFile[];
  /** How much of it was read since it was opened. */
  bytesRead(): number;
  /** Of a folder: the path of the file that is being read, from there; else null. */
  reading(): string | null;
}

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

interface Looked {
  path: string;
  bytes: number;
  encoding: Encoding;
}

interface Counter {
  bytes: number;
  path: string | null;
}

/** Of a pipe. A file is read twice, and again by the import that goes on after this one was cut short. */
export const SAVE_FIRST = 'Save it as a file first, as in: … > actors.ndjson';

const CHUNK = 256 * 1024;
// A few NUL bytes occur in real text files; more than one in a hundred bytes does not.
const MOST_NULS = 0.01;
const BINARY: [string, string][] = [
  ['504b0304', 'a ZIP archive or a spreadsheet: unpack it, or save it as CSV'],
  ['1f8b', 'compressed with gzip: unpack it with gunzip'],
  ['25504446', 'a PDF'],
  ['53514c69', 'a SQLite database'],
  ['89504e47', 'a picture'],
  ['ffd8ff', 'a picture'],
];

/** Looks through the whole file once: what it is, how it is encoded, and its fingerprint. */
export async function openTextFile(path: string): Promise<TextFile> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => { throw unreadable(path, error); });
  const isFolder = found.isDirectory();
  if (!isFolder && !found.isFile() && path !== '/dev/null') throw new Failure(`${path} is not a file but a pipe or a device. ${SAVE_FIRST}`);
  const hash = createHash('sha256');
  const looked: Looked[] = [];
  for (const each of isFolder ? await filesUnder(path) : [path]) looked.push(await look(each, hash, isFolder));
  const bytes = looked.reduce((sum, each) => sum + each.bytes, 0);
  if (bytes === 0) throw new Failure(`${path} is empty`);
  return textFile({ path, isFolder, looked, fingerprint: hash.digest('hex'), counter: { bytes: 0, path: null } });
}

function textFile({ path, isFolder, looked, fingerprint, counter }: { path: string; isFolder: boolean; looked: Looked[]; fingerprint: string; counter: Counter }): TextFile {
  const guessed = looked.filter((each) => each.encoding !== 'utf-8');
  return {
    path,
    isFolder,
    bytes: looked.reduce((sum, each) => sum + each.bytes, 0),
    fingerprint,
    notes: guessed.slice(0, 5).map((each) => `${basename(each.path)} is not UTF-8 and was read as ${each.encoding}`),
    bytesRead: () => counter.bytes,
    reading: () => (isFolder && counter.path !== null ? relative(path, counter.path) : null),
    async *text() {
      for (const each of looked) yield* decoded(each, counter);
    },
    files(extensions) {
      if (!isFolder) return [this];
      return looked
        .filter((each) => extensions.some((extension) => each.path.endsWith(extension)))
        .map((each) => textFile({ path: each.path, isFolder: false, looked: [each], fingerprint: '', counter }));
    },
  };
}

async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.')).map((entry) => join(entry.parentPath, entry.name)).sort();
}

async function look(path: string, hash: Hash, isInFolder: boolean): Promise<Looked> {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  let head: Buffer | null = null;
  let isUtf8 = true;
  let bytes = 0;
  let nuls = 0;
  hash.update(isInFolder ? basename(path) : '');
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK }) as AsyncIterable<Buffer>) {
    head ??= chunk.subarray(0, 4);
    bytes += chunk.length;
    hash.update(chunk);
    for (let at = chunk.indexOf(0); at >= 0; at = chunk.indexOf(0, at + 1)) nuls++;
    isUtf8 &&= decodes(utf8, chunk);
  }
  isUtf8 &&= decodes(utf8, null);
  const start = head?.toString('hex') ?? '';
  if (start.startsWith('fffe')) return { path, bytes, encoding: 'utf-16le' };
  if (start.startsWith('feff')) return { path, bytes, encoding: 'utf-16be' };
  const binary = BINARY.find(([magic]) => start.startsWith(magic))?.[1] ?? (nuls > bytes * MOST_NULS ? 'not a text file' : null);
  if (binary && !isInFolder) throw new Failure(`${path} is ${binary}`);
  return { path, bytes, encoding: isUtf8 ? 'utf-8' : 'windows-1252' };
}

function decodes(decoder: TextDecoder, chunk: Buffer | null): boolean {
  try {
    decoder.decode(chunk ?? undefined, { stream: chunk !== null });
    return true;
  } catch {
    return false;
  }
}

async function* decoded({ path, encoding }: Looked, counter: Counter): AsyncIterable<string> {
  const decoder = new TextDecoder(encoding);
  counter.path = path;
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK }) as AsyncIterable<Buffer>) {
    counter.bytes += chunk.length;
    const text = decoder.decode(chunk, { stream: true });
    if (text) yield withoutNuls(text);
  }
  const rest = decoder.decode();
  if (rest) yield rest;
}

// Postgres cannot store them, and no text means them.
function withoutNuls(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '') : text;
}

function unreadable(path: string, error: NodeJS.ErrnoException): Failure {
  return new Failure(error.code === 'ENOENT' ? `There is no file ${path}` : `${path} cannot be read: ${error.message}`);
}
