import type { Document } from 'civic/reader';
import type { Passage } from '../adapters/types.ts';

export type JsonObject = Record<string, unknown>;

const MOST_LINES = 20_000;
const LONGEST = 8_000_000;
const MOST_OBJECTS = 5000;

/** Returns the objects of JSON: those of an array, of lines, or of the first array inside that has objects a test accepts. */
export function objectsOf(document: Pick<Document, 'body' | 'text' | 'kind'>, accepts: (object: JsonObject) => boolean): JsonObject[] {
  const value = jsonOf(document);
  return value === undefined ? lines(textOf(document)).filter(accepts) : find(value, accepts, 4);
}

/** The values of documents: each adapter looks at a document that is to be recognised, and parsing a large one takes time. */
const values = new WeakMap<object, unknown>();

/** Returns the value of JSON; undefined for other texts, broken ones, and those that are too long. */
export function jsonOf(document: Pick<Document, 'body' | 'text' | 'kind'>): unknown {
  if (!values.has(document)) values.set(document, parse(textOf(document)));
  return values.get(document);
}

/** Returns the text of a document that can be JSON; an empty one for others. */
function textOf({ kind, body, text: plain }: Pick<Document, 'body' | 'text' | 'kind'>): string {
  if (kind !== 'json' && kind !== 'text') return '';
  const text = (body ?? plain).trimStart();
  return /^[[{]/.test(text) && text.length <= LONGEST ? text : '';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function lines(text: string): JsonObject[] {
  return text.split('\n').slice(0, MOST_LINES).map((line) => line.trim() === '' ? null : parse(line)).filter(isObject);
}

function find(value: unknown, accepts: (object: JsonObject) => boolean, depth: number): JsonObject[] {
  if (Array.isArray(value)) {
    const objects = value.slice(0, MOST_OBJECTS).filter(isObject).filter(accepts);
    if (objects.length > 0) return objects;
  }
  if (isObject(value) && accepts(value)) return [value];
  if (depth === 0 || typeof value !== 'object' || value === null) return [];
  for (const inner of Object.values(value).slice(0, 100)) {
    const objects = find(inner, accepts, depth - 1);
    if (objects.length > 0) return objects;
  }
  return [];
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the first field that has a text, also `{ label }`, `{ name }` and `{ rendered }`. Names are compared without case, spaces and underscores. */
export function textField(object: JsonObject, names: string[]): string | null {
  for (const name of names) {
    const value = fieldOf(object, name);
    const text = isObject(value) ? value.label ?? value.name ?? value.rendered ?? value.title ?? value.dateTime ?? value.date : value;
    if (typeof text === 'string' && text.trim()) return text;
    if (typeof text === 'number') return String(text);
  }
  return null;
}

export function fieldOf(object: JsonObject, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name];
  const key = foldedKeys(object).get(fold(name));
  return key === undefined ? undefined : object[key];
}

const MOST_KEYS = 200;
const LONGEST_KEY = 100;

/** The keys of objects by their folded names: an object is asked for dozens of fields. */
const keys = new WeakMap<JsonObject, Map<string, string>>();

function foldedKeys(object: JsonObject): Map<string, string> {
  const known = keys.get(object);
  if (known) return known;
  const some = Object.keys(object).slice(0, MOST_KEYS).filter((key) => key.length <= LONGEST_KEY);
  // The first of several keys counts.
  const folded = new Map(some.toReversed().map((key) => [fold(key), key]));
  keys.set(object, folded);
  return folded;
}

const SCALAR = /"((?:[^"\\]|\\.){1,60})"\s{0,20}:\s{0,20}("(?:[^"\\]|\\.){0,300}"|-?\d[\d.eE+-]{0,30})/g;

/** Returns a function that returns the range of the record in JSON that has an id in one of these fields; null when the id is not found. Reads the text once. */
export function passagesOf(body: string, names: string[]): (id: string) => Passage | null {
  const wanted = new Set(names.map(fold));
  const positions = new Map<string, number>();
  for (const { 1: name, 2: value, index } of body.matchAll(SCALAR)) {
    if (!wanted.has(fold(name!))) continue;
    const id = String(parse(value!));
    if (!positions.has(id)) positions.set(id, index);
  }
  const objects = objectsAround(body, [...positions.values()].toSorted((a, b) => a - b));
  return (id) => objects.get(positions.get(id) ?? -1) ?? null;
}

/** Returns the range of the innermost object around each of these positions of JSON, which are in ascending order. Reads the text once. */
export function objectsAround(text: string, positions: number[]): Map<number, Passage> {
  const ranges = new Map<number, Passage>();
  const opened: number[] = [];
  const passed: number[] = [];
  for (let at = 0, next = 0; at < text.length && ranges.size < positions.length; at++) {
    const character = text[at];
    if (character === '"') at = stringEnd(text, at);
    for (; next < positions.length && positions[next]! <= at; next++) passed.push(positions[next]!);
    if (character === '{') opened.push(at);
    if (character !== '}') continue;
    const start = opened.pop() ?? 0;
    while (passed.length > 0 && passed.at(-1)! >= start) ranges.set(passed.pop()!, { start, end: at + 1 });
  }
  return ranges;
}

/** Returns where a string of JSON ends: its first quotation mark that is not escaped. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_:-]/g, '');
}
