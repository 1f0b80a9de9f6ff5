import { isOpaque } from '../page/words.ts';

const LONGEST = 500;
const RECORD = /^\s{0,20}\{\s{0,20}"/;
const FIELD = /"(\w{1,60})"\s{0,20}:\s{0,20}("(?:[^"\\]|\\.){1,2000}"|-?\d[\d.eE+-]{0,30}|true|false)/g;
/** What programs use to find and compare records. */
const INTERNAL = /(?:id|guid|version)$/i;

/** Returns the fields of a passage that is a record of JSON, or several, as `EventBodyName: City Council`; none for other texts. The record may be cut off. */
export function recordFields(passage: string): string[] {
  if (!RECORD.test(passage)) return [];
  return [...passage.matchAll(FIELD)].flatMap(([, name, json]) => {
    const value = textOf(json!);
    return value === null || value.trim() === '' || INTERNAL.test(name!) || isOpaque(value) ? [] : [`${name}: ${value.slice(0, LONGEST)}`];
  });
}

function textOf(json: string): string | null {
  try {
    return String(JSON.parse(json));
  } catch {
    return null;
  }
}
