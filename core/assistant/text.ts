import type { Truncation } from './truncate.ts';

/** Texts of results, for clients that pass only text to the assistant. */

/** The largest text of a result, as `resultBytes` measures it. The structured result has the rest. */
export const MAX_TEXT_BYTES = 8000;

const LINE_LENGTH = 160;
const MOST_NAMED = 5;
const LONGEST_CURSOR = 1000;
const PLAIN = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;
/** Marks that reorder the text around them or that no reader sees, such as tags, in which text can be hidden from users. */
const HIDDEN = /[\p{Bidi_Control}\u{200B}\u{2060}\u{FEFF}\u{E0000}-\u{E007F}]/gu;
const BREAKS = /[\p{Cc}\p{Zs}\p{Zl}\p{Zp}]+/gu;

/**
 * Returns the size of a text in a result: its bytes, of which those outside ASCII count more. Clients truncate results above 25,000 tokens.
 * JSON with many ids has at least 2.2 ASCII characters in a token; other characters have at most one token a byte. Data of 44,000
 * and a text of 8,000 have therefore at most 23,700 tokens, in any script.
 */
export function resultBytes(text: string): number {
  return Math.ceil(text.length + 3.5 * (Buffer.byteLength(text) - text.length));
}

/** Returns the first characters of a text, at most `most`, and never a half of a surrogate pair, which Postgres rejects. */
export function startOfText(text: string, most: number): string {
  const isHalved = text.length > most && /[\uD800-\uDBFF]/.test(text.charAt(most - 1));
  return text.slice(0, isHalved ? most - 1 : most);
}

/** Cuts a text to at most `most` characters, with an ellipsis as the last one. */
export function cutText(text: string, most: number): string {
  return text.length <= most ? text : `${startOfText(text, most - 1).trimEnd()}…`;
}

/** Returns a text in one line of at most `most` characters. Control characters, line breaks and white space become one space, and hidden marks are removed. */
export function singleLine(text: string, most = LINE_LENGTH): string {
  const line = PLAIN.test(text) ? text : text.replaceAll(HIDDEN, '').replaceAll(/\p{Surrogate}/gu, '\u{FFFD}').replaceAll(BREAKS, ' ').trim();
  return cutText(line, most);
}

/** Returns stored text as one quoted line, in the syntax of JSON strings: it cannot end its quotation, and cannot add a line to the summary. */
export function quoteText(text: string, most = LINE_LENGTH): string {
  return JSON.stringify(singleLine(text, most));
}

/** Returns a text of as many lines as a result may have, the number of the others, and the lines of `tail`. */
export function fitText(lines: string[], tail: string[] = []): string {
  const rest = (count: number) => `- and ${count} more, in the structured result`;
  let left = MAX_TEXT_BYTES - resultBytes([rest(lines.length), ...tail].join('\n'));
  const shown = lines.filter((line) => {
    const bytes = resultBytes(line) + 1;
    if (bytes > left) return false;
    left -= bytes;
    return true;
  });
  return [...shown, ...(shown.length < lines.length ? [rest(lines.length - shown.length)] : []), ...tail].join('\n');
}

export interface SummarizedList {
  data: unknown[];
  total: number;
  next_cursor: string | null;
  truncated?: Truncation[];
}

/** Returns the text of a list: the number of items, their lines, what was left out, and how to get the next page. */
export function summarizeList([one, many]: [one: string, many: string], list: SummarizedList, lines: string[]): string {
  const { data, total } = list;
  if (total === 0) return `No ${many}.`;
  const count = `${total} ${total === 1 ? one : many}`;
  const head = data.length === total ? `${count}:` : `${count}, of which ${data.length} ${data.length === 1 ? 'is' : 'are'} here:`;
  return fitText([head, ...lines], summaryTail(list));
}

/** Returns the lines about what a result left out, and about the next page. */
export function summaryTail({ truncated = [], next_cursor: cursor }: Pick<SummarizedList, 'truncated' | 'next_cursor'>): string[] {
  const named = truncated.slice(0, MOST_NAMED).map(({ pointer, left_out: count }) => `${count} of ${singleLine(pointer)}`).join(', ');
  const others = truncated.length > MOST_NAMED ? ` and ${truncated.length - MOST_NAMED} more` : '';
  const next = cursor && cursor.length > LONGEST_CURSOR ? 'next_cursor of the structured result as cursor' : `cursor "${cursor}"`;
  return [
    ...(named ? [`The result would be too large, so it leaves out ${named}${others}. The API returns everything.`] : []),
    ...(cursor === null ? [] : [`There are more: call the tool again with ${next}.`]),
  ];
}
