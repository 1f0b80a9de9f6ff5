const WIDTH = 88;

/** Formats JSON, with every object and list that fits on one line, so that examples stay short. */
export function layOutJson(value: unknown, indent = '', used = 0): string {
  const short = JSON.stringify(value, null, 1)?.replaceAll(/\n\s*/g, ' ') ?? 'null';
  // A string in JSON contains no raw line break, so only white space between tokens is replaced.
  if (value === null || typeof value !== 'object' || indent.length + used + short.length <= WIDTH) return short;
  const inner = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((item) => inner + layOutJson(item, inner))
    : Object.entries(value).filter(([, item]) => item !== undefined).map(([name, item]) => `${inner}${JSON.stringify(name)}: ${layOutJson(item, inner, name.length + 4)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}

const MOST_ITEMS = 2;
const MOST_CHARACTERS = 120;

/** Returns the value with only the first items of lists and the beginnings of long strings. */
export function shortened(value: unknown): unknown {
  if (typeof value === 'string' && value.length > MOST_CHARACTERS) return `${value.slice(0, MOST_CHARACTERS)}…`;
  if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).map(shortened);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner)]));
}
