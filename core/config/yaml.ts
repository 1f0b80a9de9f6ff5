import { isAlias, isMap, isPair, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import type { Document, Node, ParsedNode, YAMLMap, YAMLParseError, YAMLWarning } from 'yaml';
import { optionsPage } from '../program.ts';
import type { ConfigError } from './types.ts';

export type Step = string | number;
export type Place = Pick<ConfigError, 'where' | 'frame'>;

/** A parsed file that knows the line of everything in it. */
export interface Source {
  /** As errors name it. */
  name: string;
  text: string;
  lines: LineCounter;
  document: Document;
}

interface Entry {
  key: Node | null;
  value: Node | null;
}

/** The words for what the parser found; its own messages may repeat what stands in the file. */
const SYNTAX: Record<string, [message: string, hint: string]> = {
  TAB_AS_INDENT: ['A tab cannot indent a line', 'use spaces, two for each level'],
  MULTILINE_IMPLICIT_KEY: ['This line and the next do not read as "key: value"', 'put a space behind the colon, and indent keys of one section alike'],
  BLOCK_AS_IMPLICIT_KEY: ['Another "key: value" begins inside this value', 'put a text that holds a colon in quotes, and indent keys of one section alike'],
  BAD_INDENT: ['The line before is not closed, or this one is not indented like its neighbours', 'close each [ and {, and indent keys of one section alike'],
  MISSING_CHAR: ['A key has no colon behind it', 'write "key: value"'],
  MISSING_QUOTE: ['A quote is opened here and never closed', 'close it on the same line'],
  UNEXPECTED_TOKEN: ['Something stands behind a value that is already complete', 'put the whole value in double quotes'],
  BAD_SCALAR_START: ['A value that begins with this character must be in quotes', 'put the whole value in double quotes'],
  BAD_DQ_ESCAPE: ['A backslash in double quotes begins an escape, and this one is not known', 'use single quotes, or write the backslash twice'],
  MULTIPLE_DOCS: ['The file holds several YAML documents', 'remove the line of dashes and what follows it'],
  RESOURCE_EXHAUSTION: ['The file is nested too deeply to be read', 'take out levels of brackets or indentation'],
  TAG_RESOLVE_FAILED: ['Tags, which begin with an exclamation mark, are not understood', 'write ${NAME} to take a value from the environment'],
};
const BARE_VARIABLE: [string, string] = ['Between { and } or [ and ] a ${NAME} must be in quotes', 'write "${NAME}"'];
const UNKNOWN_SYNTAX: [string, string] = ['This is not valid YAML', 'check the quotes, colons and indentation of this line and the one before'];

/** Replaces what a terminal would act upon: control characters, and those that turn the direction of text. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, ' ');

export function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}

/** Shows a line up to its colon: what follows may be a secret. */
function syntaxFrame(line: string, column: number): ConfigError['frame'] {
  const key = /^[\s-]*[\w.-]+\s*:/.exec(line)?.[0];
  return key && key.length < 80 ? { text: `${printable(key)} …`, caret: Math.min(column - 1, key.length + 1), length: 1 } : undefined;
}

function syntaxError(source: Source, error: YAMLParseError | YAMLWarning): ConfigError {
  let [offset] = error.pos;
  let code: string = error.code;
  if (code === 'MISSING_CHAR' && error.message.includes('quote')) {
    code = 'MISSING_QUOTE';
    visit(source.document, { Scalar: (_, node) => void (node.type?.startsWith('QUOTE') && node.range && (offset = node.range[0])) });
  }
  const { line, col } = source.lines.linePos(offset);
  const lineText = source.text.split('\n')[line - 1] ?? '';
  const isBareVariable = code === 'UNEXPECTED_TOKEN' && lineText.includes('${');
  const [message, hint] = isBareVariable ? BARE_VARIABLE : (SYNTAX[code] ?? UNKNOWN_SYNTAX);
  const frame = syntaxFrame(lineText, col);
  return { where: { file: source.name, line, column: col }, path: '', message, hint, read: optionsPage('the-file'), frame };
}

/** What the parser lets pass and we do not: a key given twice, an alias of nothing. */
function structureErrors(source: Source): ConfigError[] {
  const errors: ConfigError[] = [];
  visit(source.document, {
    Map(_, map, ancestors) {
      const parents = ancestors.filter(isPair).map((pair) => keyText(pair.key));
      errors.push(...repeatedKeys(source, map.items as Entry[], parents));
    },
    Alias(_, alias, ancestors) {
      if (alias.resolve(source.document)) return;
      const pair = ancestors.at(-1);
      const key = isPair(pair) && pair.value === alias ? (pair.key as Node) : null;
      const message = 'A value that begins with * stands for an anchor, and there is none of that name before it';
      errors.push({ ...placeOf(source, { key, value: alias }, 'key'), path: '', message, hint: 'put a text that begins with * in quotes', read: optionsPage('the-file') });
    },
  });
  return errors;
}

function repeatedKeys(source: Source, entries: Entry[], parents: string[]): ConfigError[] {
  const errors: ConfigError[] = [];
  const seen = new Map<string, number>();
  for (const entry of entries) {
    const name = keyText(entry.key);
    const path = [...parents, name].join('.');
    const at = placeOf(source, entry, 'key');
    const first = seen.get(name);
    if (first) errors.push({ ...at, path, message: `${printable(path)} is given twice, first on line ${first}`, hint: 'keep one of the two', read: optionsPage('the-file') });
    else seen.set(name, at.where.line!);
  }
  return errors;
}

/** Parses a file. What is wrong with its syntax makes it unusable; what is merely forbidden does not. */
export function parseSource(name: string, text: string): { source: Source; errors: ConfigError[]; isUsable: boolean } {
  const lines = new LineCounter();
  const whole: Place = { where: { file: name } };
  let source: Source = { name, text, lines, document: parseDocument('') };
  try {
    source = { ...source, document: parseDocument<ParsedNode>(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false, schema: 'core' }) };
    const { document } = source;
    // One slip of syntax makes everything behind it look wrong, so only the first is told.
    const errors = [...document.errors.slice(0, 1), ...document.warnings].map((error) => syntaxError(source, error));
    const isUsable = document.errors.length === 0;
    if (isUsable) errors.push(...structureErrors(source));
    const { contents } = document;
    if (!isUsable || contents === null || isMap(contents) || (isScalar(contents) && contents.value === null)) return { source, errors, isUsable };
    const message = `${name} must be a map of options, but it is ${isSeq(contents) ? 'a list' : 'a text'}`;
    errors.push({ ...whole, path: '', message, hint: 'write options as "key: value", such as "name: Civic"', read: optionsPage('the-file') });
    return { source, errors, isUsable: false };
  } catch {
    // The parser and the visitor recurse, so a file of nothing but brackets exhausts the stack.
    return { source, errors: [{ ...whole, path: '', message: `${name} is nested too deeply to be read`, read: optionsPage('the-file') }], isUsable: false };
  }
}

export function resolved(source: Source, node: unknown): Node | null {
  const target = isAlias(node) ? node.resolve(source.document) : node;
  return (target as Node | undefined) ?? null;
}

export function mapAt(source: Source, path: Step[]): YAMLMap | undefined {
  const node = path.length === 0 ? source.document.contents : entryAt(source, path)?.value;
  const target = resolved(source, node);
  return isMap(target) ? target : undefined;
}

/** What the file says at a path, with the key it says it under. */
export function entryAt(source: Source, path: Step[]): Entry | undefined {
  let entry: Entry | undefined = { key: null, value: source.document.contents };
  for (const step of path) {
    const node: Node | null = resolved(source, entry?.value);
    if (isMap(node)) entry = node.items.find((pair) => keyText(pair.key) === step) as Entry | undefined;
    else entry = isSeq(node) && typeof step === 'number' && step < node.items.length ? { key: null, value: node.items[step] as Node } : undefined;
    if (!entry) return undefined;
  }
  return entry;
}

/** The line and column of an entry, and what may be shown of it. Only `value` shows the value. */
export function placeOf(source: Source, { key, value }: Entry, part: 'key' | 'value'): Place {
  const { text, lines } = source;
  const from = (key ?? value)?.range?.[0] ?? 0;
  const [start, end] = value?.range && value.range[1] > value.range[0] ? value.range : [from, from];
  const isShown = part === 'value' && end > start && !text.slice(from, start).includes('\n');
  const before = text.slice(text.lastIndexOf('\n', from - 1) + 1, from);
  const indent = /^[\s-]*$/.test(before) ? before : '';
  const name = key?.range ? text.slice(from, key.range[1]) : '';
  const masked = [name && `${name}:`, end > start && '…'].filter(Boolean).join(' ');
  const shown = (isShown ? text.slice(from, end) : masked).split('\n')[0]!;
  const caret = indent.length + (isShown ? start - from : 0);
  const length = Math.max(1, Math.min(isShown ? shown.length - (start - from) : name.length, 100 - caret));
  const { line, col: column } = lines.linePos(part === 'value' ? start : from);
  const frame = caret < 100 ? { text: printable(indent + shown).trimEnd().slice(0, 100), caret, length } : undefined;
  return { where: { file: source.name, line, column }, frame };
}

/** A value that was already reported as not understood. */
export class Unreadable extends Error {}

export type TextReader = (value: string, path: Step[]) => unknown;

/** The value of a node as plain data; `text` reads each string. Throws when aliases make it endless. */
export function plainValue(source: Source, node: Node | null, text: TextReader, path: Step[] = [], budget = { left: 10_000 }): unknown {
  if (budget.left-- <= 0 || path.length > 100) throw new RangeError('endless');
  const target = resolved(source, node);
  if ((node && !target) || (target?.tag && !target.tag.startsWith('tag:yaml.org,2002:'))) throw new Unreadable();
  const inner = (value: unknown, step: Step) => plainValue(source, value as Node | null, text, [...path, step], budget);
  if (isMap(target)) return Object.fromEntries(target.items.map(({ key, value }) => [keyText(key), inner(value, keyText(key))]));
  if (isSeq(target)) return target.items.map(inner);
  if (!isScalar(target)) return null;
  return typeof target.value === 'string' ? text(target.value, path) : target.value;
}
