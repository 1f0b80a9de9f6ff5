import { Failure, jsonTextFault } from 'civic';
import { LONGEST_ITEM, LONGEST_ROW, MOST_VALUES } from './lines.ts';

/** An item of a JSON file, still as text: one that cannot be parsed does not spoil the rest. */
export interface JsonItem {
  number: number;
  /** The member of the outer object whose list it is in; null for what stands by itself. */
  section: string | null;
  text: string;
}

const NEWLINE = 10;
const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/**
 * Cuts a JSON text of any length into its items: those of a list, those of the lists `sections` names in an outer object
 * (its other members follow as one object), or several values one after another.
 */
export async function* jsonItems(text: AsyncIterable<string>, sections: readonly string[] = []): AsyncIterable<JsonItem> {
  const cutter = createCutter(sections);
  let isChecked = false;
  for await (const piece of text) {
    if (!isChecked && piece.trim()) isChecked = refuseOther(piece.trim());
    yield* cutter.take(piece);
  }
  yield* cutter.end();
}

function refuseOther(text: string): true {
  if (text.startsWith('{') || text.startsWith('[')) return true;
  throw new Failure(`This is not JSON: it begins with ${JSON.stringify(text.slice(0, 40))}`);
}

/** Parses a row: an object, or why the text is none. */
export function parseItem(text: string): { value: object } | { fault: string } {
  const fault = jsonTextFault(text, MOST_VALUES);
  if (fault) return { fault };
  try {
    const value = JSON.parse(text.includes('\\u0000') ? text.replaceAll('\\u0000', '') : text) as unknown;
    return value !== null && typeof value === 'object' ? { value } : { fault: 'is not a JSON object' };
  } catch (error) {
    return { fault: `is not valid JSON: ${(error as Error).message}` };
  }
}

/** Parses a JSON value inside a field of a row. Throws a SyntaxError when the text is no JSON, and another error when it is nested too deep or too large. */
export function parseField(text: string): unknown {
  const fault = jsonTextFault(text, MOST_VALUES);
  if (fault) throw new Error(fault);
  return JSON.parse(text);
}

/** Where the text is: before a value, in an outer list or object, or in a list that is a section of it. */
type Level = 'top' | 'list' | 'object' | 'section';

function createCutter(sections: readonly string[]) {
  let level: Level = 'top';
  let number = 0;
  // The item that is being read, and how deep in it the text is; a string is skipped as a whole.
  let item = '';
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  // Of an outer object: the member being read, and those that are no section.
  let key: string | null = null;
  let isKey = false;
  let members: string[] = [];
  let membersLength = 0;
  let isPlainObject = false;

  function* take(piece: string): Iterable<JsonItem> {
    let start = 0;
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (code === BACKSLASH) isEscaped = true;
        else if (code === QUOTE) isInString = false;
        else if (code === NEWLINE && level === 'top') {
          // No string goes over the end of a line: this one breaks off, and the next line is another value.
          item += piece.slice(start, at);
          start = at;
          yield* finish();
          isInString = false;
          depth = 0;
        }
        continue;
      }
      if (code === QUOTE) isInString = true;
      else if (depth === 0 && isBoundary(code)) {
        item += piece.slice(start, at);
        yield* boundary(code);
        // A bracket that opens an item is part of it.
        start = at + 1 - depth;
      } else if (code === OPEN_LIST || code === OPEN_OBJECT) depth++;
      else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
        depth--;
        if (depth === 0 && level === 'top') {
          item += piece.slice(start, at + 1);
          start = at + 1;
          yield* finish();
        }
      }
    }
    item += piece.slice(start);
    // A member of the outer object that is no section is no row.
    checkLength(item.length, level === 'object' ? LONGEST_ITEM : LONGEST_ROW);
  }

  function checkLength(length: number, longest: number): void {
    if (length > longest) throw new Failure(`Item ${number + 1} is longer than ${longest / 1024 / 1024} MB`);
  }

  function isBoundary(code: number): boolean {
    return code === COMMA || code === COLON || code === OPEN_LIST || code === CLOSE_LIST || code === OPEN_OBJECT || code === CLOSE_OBJECT;
  }

  function* boundary(code: number): Iterable<JsonItem> {
    if (code === OPEN_LIST || code === OPEN_OBJECT) return open(code);
    if (code === COLON) {
      if (level === 'object' && isKey) {
        key = stringOf(item);
        item = '';
        isKey = false;
      }
      return;
    }
    yield* finish();
    if (code === COMMA) {
      if (level === 'object') isKey = true;
    } else if (level === 'section') {
      level = 'object';
      key = null;
    } else {
      if (level === 'object') yield* wholeObject();
      level = 'top';
    }
  }

  function open(code: number): void {
    if (level === 'top' && code === OPEN_LIST) level = 'list';
    else if (level === 'top' && sections.length > 0) {
      level = 'object';
      isKey = true;
      isPlainObject = true;
    } else if (level === 'object' && code === OPEN_LIST && key !== null && sections.includes(key)) {
      level = 'section';
      isPlainObject = false;
    } else depth++;
    if (depth === 0) item = '';
  }

  function* finish(): Iterable<JsonItem> {
    const text = item.trim();
    item = '';
    if (!text) return;
    if (level === 'object') {
      if (key !== null) membersLength += text.length;
      if (key !== null && membersLength <= LONGEST_ROW) members.push(`${JSON.stringify(key)}:${text}`);
      key = null;
    } else {
      checkLength(text.length, LONGEST_ROW);
      yield { number: ++number, section: level === 'section' ? key : null, text };
    }
  }

  function* wholeObject(): Iterable<JsonItem> {
    if (isPlainObject) checkLength(membersLength, LONGEST_ROW);
    if (members.length > 0 || isPlainObject) yield { number: ++number, section: null, text: `{${members.join(',')}}` };
    members = [];
    membersLength = 0;
  }

  function* end(): Iterable<JsonItem> {
    if (level !== 'top' || depth > 0 || isInString) throw new Failure(`The file breaks off in the middle, after ${number} whole items`);
    yield* finish();
  }

  return { take, end };
}

function stringOf(text: string): string {
  try {
    return String(JSON.parse(text.trim()));
  } catch {
    return text.trim();
  }
}
