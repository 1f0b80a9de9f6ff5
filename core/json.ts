/** How many lists and objects of JSON from outside may lie inside each other. */
export const MAX_JSON_DEPTH = 100;

export const TOO_DEEP = `is nested more than ${MAX_JSON_DEPTH} levels deep`;

const QUOTE = 34;
const BACKSLASH = 92;
const OPENING = new Set([91, 123]);
const CLOSING = new Set([93, 125]);

/** Returns whether a JSON text is nested too deep. Reads the text only, so that a deep one costs no memory. */
export function isDeepJson(text: string): boolean {
  if (text.length <= MAX_JSON_DEPTH) return false;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isInString) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (OPENING.has(code)) {
      if (++depth > MAX_JSON_DEPTH) return true;
    } else if (CLOSING.has(code)) depth--;
  }
  return false;
}

/** Returns whether a value is nested too deep for recursive code such as `JSON.stringify`. Needs no stack itself. */
export function isDeepValue(value: unknown): boolean {
  let level = [value].filter(isNested);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === MAX_JSON_DEPTH) return true;
    level = level.flatMap((outer) => Object.values(outer).filter(isNested));
  }
  return false;
}

function isNested(value: unknown): value is object {
  return value !== null && typeof value === 'object';
}
