import Joi, { type ObjectSchema } from 'joi';
import { membersOf } from '../contracts/schema.ts';
import { cutText, resultBytes } from './text.ts';

/** Items of a list or characters of a text that a result leaves out, because it would be too large. */
export interface Truncation {
  /** A JSON Pointer to the list or text in the result. */
  pointer: string;
  left_out: number;
}

const truncated = Joi.array().items(Joi.object<Truncation, true>({
  pointer: Joi.string().required().description('JSON Pointer to a list or text of this result'),
  left_out: Joi.number().integer().min(1).required().description('How many items or characters it lacks'),
})).description('What was left out, because the result would be too large');

/** Returns the schema of a result that may be truncated. */
export function truncatable(output: ObjectSchema): ObjectSchema {
  return membersOf(output).has('truncated') ? output : output.keys({ truncated });
}

interface Limits {
  items: number;
  characters: number;
  /** Larger items of lists are left out. */
  itemBytes: number;
}

const MOST_ITEMS = 100;
/** Shorter texts are ids, times and names of things, which schemas restrict. */
const FEWEST_CHARACTERS = 100;
const CHARACTERS_PER_ITEM = 20;
/** A part of a URL is no URL. */
const URL_TEXT = /^https?:\/\/\S+$/;

/** What each pointer grows by when the value becomes a part of a result. */
const POINTER_BYTES = 20;

export interface Truncated<Value> {
  value: Value;
  truncated: Truncation[];
  /** Of both. */
  bytes: number;
}

/** Cuts long lists and texts until the JSON has at most `maxBytes`. Returns null when it has more anyway. Ids, times and URLs stay whole. */
export function truncate<Value>(value: Value, maxBytes: number): Truncated<Value> | null {
  for (let items = MOST_ITEMS; items >= 1; items = Math.floor(items * 0.75)) {
    const limits = { items, characters: Math.max(FEWEST_CHARACTERS, items * CHARACTERS_PER_ITEM), itemBytes: maxBytes / 2 };
    const notes: Truncation[] = [];
    const shorter = cut(value, '', limits, notes) as Value;
    const bytes = bytesOf(shorter) + bytesOf(notes) + notes.length * POINTER_BYTES;
    if (bytes <= maxBytes) return { value: shorter, truncated: notes, bytes };
  }
  return null;
}

function cut(value: unknown, pointer: string, limits: Limits, notes: Truncation[]): unknown {
  if (typeof value === 'string') return cutString(value, pointer, limits, notes);
  if (Array.isArray(value)) return cutArray(value, pointer, limits, notes);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cut(inner, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, limits, notes)]));
}

function cutString(text: string, pointer: string, { characters }: Limits, notes: Truncation[]): string {
  if (text.length <= characters || URL_TEXT.test(text)) return text;
  const kept = cutText(text, characters);
  notes.push({ pointer, left_out: text.length - kept.length + 1 });
  return kept;
}

function cutArray(list: unknown[], pointer: string, limits: Limits, notes: Truncation[]): unknown[] {
  const kept: unknown[] = [];
  for (const item of list) {
    if (kept.length === limits.items) break;
    const inner: Truncation[] = [];
    const shorter = cut(item, `${pointer}/${kept.length}`, limits, inner);
    if (bytesOf(shorter) > limits.itemBytes) continue;
    kept.push(shorter);
    notes.push(...inner);
  }
  if (kept.length < list.length) notes.push({ pointer, left_out: list.length - kept.length });
  return kept;
}

function bytesOf(value: unknown): number {
  return resultBytes(JSON.stringify(value));
}
