/** How many lists and objects of JSON from outside may lie inside each other. */
export const MAX_JSON_DEPTH = 100;
/** How many members of objects and items of lists a body or a signal may have in total: twice as many as the largest valid body. */
export const MAX_JSON_VALUES = 20_000;

export const TOO_DEEP = `is nested more than ${MAX_JSON_DEPTH} levels deep`;

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPENING = new Set([91, 123]);
const CLOSING = new Set([93, 125]);

/**
 * Returns why a JSON text is refused; null if it can be parsed. Reads the text only, so that a deep one costs no memory. Counts an
 * empty list or object twice.
 */
export function jsonTextFault(text: string, mostValues: number): string | null {
  let depth = 0;
  let values = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isInString) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === COMMA) values++;
    else if (OPENING.has(code)) {
      values++;
      if (++depth > MAX_JSON_DEPTH) return TOO_DEEP;
    } else if (CLOSING.has(code)) depth--;
    if (values > mostValues) return tooMany(mostValues);
  }
  return null;
}

/**
 * Returns why a value from outside is refused; null if it is accepted. Recursive code such as `JSON.stringify` overflows the stack on a
 * deep value, and validation takes microseconds for each member of a large one. Needs no stack itself.
 */
export function jsonValueFault(value: unknown): string | null {
  let values = 0;
  let level = [value].filter(isNested);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === MAX_JSON_DEPTH) return TOO_DEEP;
    for (const outer of level) {
      values += Array.isArray(outer) ? outer.length : Object.keys(outer).length;
      if (values > MAX_JSON_VALUES) return tooMany(MAX_JSON_VALUES);
    }
    level = level.flatMap((outer) => Object.values(outer).filter(isNested));
  }
  return null;
}

function tooMany(most: number): string {
  return `has more than ${most} members and items in total`;
}

function isNested(value: unknown): value is object {
  return value !== null && typeof value === 'object';
}
