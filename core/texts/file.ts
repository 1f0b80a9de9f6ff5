import { existsSync, readFileSync, statSync } from 'node:fs';
import { isMap, isScalar, type YAMLMap } from 'yaml';
import { keyText, parseSource, type Source } from '../config/yaml.ts';

/** Something wrong with a file of texts. */
export interface TextFault {
  file: string;
  line?: number;
  detail: string;
}

export interface TextLine {
  text: string;
  line: number;
}

/** The texts of one file, by key: `guestbook.title` is `title` below `guestbook`. */
export interface TextFile {
  file: string;
  texts: Map<string, TextLine>;
  faults: TextFault[];
}

const KEY = /^[a-z][a-z0-9_:-]*$/i;
const MOST_BYTES = 1024 * 1024;

/** The latest content of each file. Several servers in one process, as in tests, parse a file once. */
const parsed = new Map<string, { content: string; read: TextFile }>();

/** Reads a file of texts; one that does not exist has none. */
export function readTextFile(file: string): TextFile {
  const read: TextFile = { file, texts: new Map(), faults: [] };
  try {
    if (!existsSync(file)) return read;
    if (statSync(file).size > MOST_BYTES) read.faults.push({ file, detail: 'is larger than 1 MB' });
    else return parsedOnce(readFileSync(file, 'utf8'), read);
  } catch (error) {
    read.faults.push({ file, detail: `cannot be read: ${(error as Error).message}` });
  }
  return read;
}

function parsedOnce(content: string, empty: TextFile): TextFile {
  const known = parsed.get(empty.file);
  if (known?.content === content) return known.read;
  parseTexts(content, empty);
  parsed.set(empty.file, { content, read: empty });
  return empty;
}

function parseTexts(text: string, read: TextFile): void {
  const { source, errors, isUsable } = parseSource(read.file, text);
  for (const { message, hint, where } of errors) read.faults.push({ file: read.file, line: where.line, detail: hint ? `${message}: ${hint}` : message });
  const { contents } = source.document;
  if (isUsable && isMap(contents)) addTexts(source, contents, [], read);
}

function addTexts(source: Source, map: YAMLMap, path: string[], read: TextFile): void {
  for (const { key, value } of map.items) {
    const name = keyText(key);
    const line = source.lines.linePos((key as { range?: [number] }).range?.[0] ?? 0).line;
    const whole = [...path, name].join('.');
    if (!KEY.test(name)) read.faults.push({ file: read.file, line, detail: `${whole} is no key: use letters, digits, hyphens and underscores` });
    else if (isMap(value)) addTexts(source, value, [...path, name], read);
    else if (isScalar(value) && typeof value.value === 'string') read.texts.set(whole, { text: value.value, line });
    else read.faults.push({ file: read.file, line, detail: `${whole} is not a text: put it in quotes` });
  }
}
