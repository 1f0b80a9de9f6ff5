import { Failure } from 'civic';

/** No row of another format may be longer, in characters: as much as a body of the API. */
export const LONGEST_ROW = 1024 * 1024;
/** No line of our own formats may be longer: an actor has up to 2000 claims with excerpts, and what was exported must be importable. */
export const LONGEST_ITEM = 8 * 1024 * 1024;
/** No row may have more members and items in total: such an actor has some 60,000. */
export const MOST_VALUES = 100_000;

/** The lines of a text with their numbers from 1, without their ends; empty ones are left out unless asked for. */
export async function* linesOf(text: AsyncIterable<string>, { keepEmpty = false, longest = LONGEST_ITEM } = {}): AsyncIterable<{ number: number; line: string }> {
  let rest = '';
  let number = 0;
  for await (const piece of text) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      number++;
      if (keepEmpty || line.trim()) yield { number, line: line.endsWith('\r') ? line.slice(0, -1) : line };
    }
    if (rest.length > longest) throw new Failure(`Line ${number + 1} is longer than ${longest / 1024 / 1024} MB: this is not a file of lines`);
  }
  if (rest.trim()) yield { number: number + 1, line: rest };
}
