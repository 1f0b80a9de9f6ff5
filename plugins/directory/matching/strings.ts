import { distance } from 'fastest-levenshtein';

/** Jaro's measure with Winkler's bonus for a common beginning: 1 for equal words, 0 for words that share nothing. */
function jaroWinkler(one: string, other: string): number {
  if (one === other) return 1;
  const reach = Math.max(0, Math.floor(Math.max(one.length, other.length) / 2) - 1);
  const taken = Array.from(other, () => false);
  const kept: number[] = [];
  for (let at = 0; at < one.length; at++) {
    for (let there = Math.max(0, at - reach); there <= Math.min(other.length - 1, at + reach); there++) {
      if (taken[there] || one[at] !== other[there]) continue;
      taken[there] = true;
      kept.push(at);
      break;
    }
  }
  if (kept.length === 0) return 0;
  const there = taken.flatMap((isTaken, at) => (isTaken ? [at] : []));
  const swapped = kept.filter((at, index) => one[at] !== other[there[index]!]).length / 2;
  const jaro = (kept.length / one.length + kept.length / other.length + (kept.length - swapped) / kept.length) / 3;
  let prefix = 0;
  while (prefix < 4 && prefix < one.length && one[prefix] === other[prefix]) prefix++;
  return jaro + prefix * 0.1 * (1 - jaro);
}

/** Whether one word is likely the other with a typing error: one in words of four letters and more, two from eight on. */
export function isTypo(one: string, other: string): boolean {
  const [short, long] = [Math.min(one.length, other.length), Math.max(one.length, other.length)];
  if (short < 4 || long - short > 2) return false;
  // People seldom miss the first letter, and "Nashville" is not "Asheville".
  if (one[0] !== other[0]) return false;
  const edits = isSwap(one, other) ? 1 : distance(one, other);
  return edits <= (short < 8 ? 1 : 2) && jaroWinkler(one, other) >= 0.85;
}

function isSwap(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  const differing = Array.from(one).flatMap((letter, at) => (letter === other[at] ? [] : [at]));
  const [first = 0, second = 0] = differing;
  return differing.length === 2 && second === first + 1 && one[first] === other[second] && one[second] === other[first];
}

/** Whether a short word abbreviates a long one: its beginning ("comm"), or its bones ("mgmt"). */
export function abbreviates(short: string, long: string): boolean {
  if (short.length < 3 || long.length <= short.length || short[0] !== long[0]) return false;
  if (long.startsWith(short)) return long.length > short.length + 1;
  if (short.length > 5 || /[aeiou]/.test(short.slice(1))) return false;
  let at = 0;
  for (const letter of long) if (letter === short[at]) at++;
  return at === short.length;
}
