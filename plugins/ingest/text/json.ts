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
  if (name in object) return object[name];
  const wanted = fold(name);
  const key = Object.keys(object).slice(0, 200).find((one) => fold(one) === wanted);
  return key === undefined ? undefined : object[key];
}

const LONGEST_PASSAGE = 600;

/** Returns the range of the record in JSON that has an id; null when the id is not found. */
export function passageAt(body: string, id: string): Passage | null {
  const at = body.indexOf(JSON.stringify(id));
  if (at < 0) return null;
  const start = Math.max(0, body.lastIndexOf('{', at));
  return { start, end: Math.min(body.length, start + LONGEST_PASSAGE) };
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_:-]/g, '');
}
