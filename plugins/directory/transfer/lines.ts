import { Failure } from 'civic';

/** No line and no item of a list may be longer: what is longer is not of the format it is said to be. */
export const LONGEST_ITEM = 8 * 1024 * 1024;

/** The lines of a text with their numbers from 1, without their ends; empty ones are left out unless asked for. */
export async function* linesOf(text: AsyncIterable<string>, { keepEmpty = false } = {}): AsyncIterable<{ number: number; line: string }> {
  let rest = '';
  let number = 0;
  for await (const piece of text) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      number++;
      if (keepEmpty || line.trim()) yield { number, line: line.endsWith('\r') ? line.slice(0, -1) : line };
    }
    if (rest.length > LONGEST_ITEM) throw new Failure(`Line ${number + 1} is longer than ${LONGEST_ITEM / 1024 / 1024} MB: this is not a file of lines`);
  }
  if (rest.trim()) yield { number: number + 1, line: rest };
}
