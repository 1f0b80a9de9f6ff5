/** Shorter words are too near to too many others. */
const SHORTEST = 4;
const LONGEST = 24;

/** The word with each one of its letters left out; none for what is not corrected: short words, numbers, tags. */
export function deletionsOf(word: string): string[] {
  if (!/^\p{L}+$/u.test(word)) return [];
  const letters = Array.from(word);
  if (letters.length < SHORTEST || letters.length > LONGEST) return [];
  return [...new Set(letters.map((_, index) => letters.slice(0, index).concat(letters.slice(index + 1)).join('')))];
}

/** Whether one letter more, less or other, or two neighbours changed, makes one word of the other. */
export function isOneApart(left: string, right: string): boolean {
  const a = Array.from(left);
  const b = Array.from(right);
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const left1 = a.slice(start, a.length - end);
  const right1 = b.slice(start, b.length - end);
  if (left1.length <= 1 && right1.length <= 1) return true;
  return left1.length === 2 && right1.length === 2 && left1[0] === right1[1] && left1[1] === right1[0];
}
