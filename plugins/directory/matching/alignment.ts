import { ALIKE, nameWordLikeness, type NameWord } from './name-words.ts';
import { isGivenName } from './nicknames.ts';

/** All words of a name of a person, in their order, without titles. */
export interface NameLine {
  words: NameWord[];
  /** Whether the order is known: "Griffith, David" has its family name first. */
  isOrdered: boolean;
}

/** Words that are left out by many who write a name. */
const PARTICLES = new Set('van von der den de da di del della dei degli la le lo el al ul ur ud as bin ibn bint mc mac dos das do du ter ten te zu zur af av y e'.split(' '));
/** Titles of other languages, before a name. */
const TITLES = new Set('sheikh shaikh shaykh sheik ayatollah haji hajji hajj alhaji mullah maulavi mawlawi hojjatoleslam sayyid herr frau mme mlle madame monsieur m senor senora sra don dona shri sri smt prince princess king queen count baron he hrh eng engineer ing dipl adv advocate comrade signor signora pan pani'.split(' '));
const PATRONYMIC = /(?:[oe]vi[ct]+h?|[oe]vych|[oe]vitch|yevich|[ie]ch|[oeiy]vna|[iy]chna|ovyc|evic|oglu|ogly|qizi|kyzy)$/;

interface Pair {
  left: number[];
  right: number[];
  quality: number;
}

/** How alike two names are whose words may have another order, be initials, or be left out: 0 where a word of each is not in the other. */
export function alignedLikeness(one: NameLine, other: NameLine): number {
  const [left, right] = text(one) <= text(other) ? [one, other] : [other, one];
  const found = likenesses(left.words, right.words);
  const single = best(left.words, right.words, found);
  const pairs = isComplete(left, right, single) ? single : best(left.words, right.words, [...found, ...joinedPairs(left.words, right.words)]);
  const full = pairs.filter(({ quality, left: at }) => quality !== ALIKE.initial || left.words[at[0]!]!.text.length > 1);
  const [restLeft, restRight] = [rest(left.words, pairs, 'left'), rest(right.words, pairs, 'right')];
  if (full.length === 0 || (restLeft.length > 0 && restRight.length > 0)) return 0;
  const paired = pairedLikeness(pairs) - (isTurned(pairs) ? turning(left, right) : 0);
  const more = restLeft.length > 0 ? restLeft : restRight;
  if (more.length === 0) return pairs.length > 1 || isWholeName(left, right) ? paired : 0;
  return Math.min(paired, withMore(restLeft.length > 0 ? left : right, more, pairs));
}

/** Many are known by one word, which then must be long to have a wrong letter. */
function isWholeName(left: NameLine, right: NameLine): boolean {
  const [one, other] = [left.words[0]!.text, right.words[0]!.text];
  return left.words.length === 1 && right.words.length === 1 && (one === other || Math.min(one.length, other.length) > 6);
}

const text = ({ words }: NameLine): string => words.map((word) => word.text).join(' ');
const isParticle = ({ text: word }: NameWord): boolean => PARTICLES.has(word);

/** Returns the words without particles, of which a name may have any. */
export function tellingWords({ words }: NameLine): NameWord[] {
  const telling = words.filter((word) => !isParticle(word));
  return telling.length > 0 ? telling : words;
}

/** Returns the positions of the words that count and have no counterpart. */
function rest(words: NameWord[], pairs: Pair[], side: 'left' | 'right'): number[] {
  const paired = new Set(pairs.flatMap((found) => found[side]));
  return [...words.keys()].filter((at) => !paired.has(at) && !isParticle(words[at]!) && !(at < 2 && words.length > 2 && TITLES.has(words[at]!.text)));
}

/** One word that differs a little is a slip; each further one makes it less likely. */
function pairedLikeness(pairs: Pair[]): number {
  const [worst = 1, ...others] = pairs.map(({ quality }) => quality).sort((a, b) => a - b);
  return others.reduce((product, quality) => (quality >= ALIKE.sound || quality === ALIKE.initial || quality === ALIKE.bare ? product : product * quality), Math.min(worst, 0.98));
}

function isTurned(pairs: Pair[]): boolean {
  const order = [...pairs].sort((a, b) => a.left[0]! - b.left[0]!).map(({ right }) => right[0]!);
  return order.some((at, index) => index > 0 && at < order[index - 1]!);
}

/** "Thomas James" and "James Thomas" are two people, where each word could be the first name. */
function turning(left: NameLine, right: NameLine): number {
  const isAmbiguous = !left.isOrdered && !right.isOrdered && left.words.length === 2 && [...left.words, ...right.words].every((word) => isGivenName(word.text));
  return isAmbiguous ? 0.3 : 0.02;
}

/** How far a name can be the other one with words left out. */
function withMore(line: NameLine, more: number[], pairs: Pair[]): number {
  const counted = more.filter((at) => !PATRONYMIC.test(line.words[at]!.text) || line.words.length < 3);
  if (counted.length === 0) return pairs.filter(({ quality }) => quality > ALIKE.initial).length < 2 ? 0 : 0.95;
  // With words left out, the others must agree without a slip.
  const whole = pairs.filter(({ quality }) => quality > ALIKE.typo).length;
  if (whole < 2) return 0;
  // Without the first word it may be the name of a relative.
  if (counted[0] === 0 && line.words[0]!.text.length > 1 && whole < 3) return 0.7;
  return [0.9, 0.85, 0.82][counted.length - 1] ?? 0.6;
}

const isComplete = (left: NameLine, right: NameLine, pairs: Pair[]): boolean => pairs.length === left.words.length && pairs.length === right.words.length;

/** Pairs one word with two that are written apart. */
function joinedPairs(left: NameWord[], right: NameWord[]): Pair[] {
  return [...joined(left, right), ...joined(right, left).map(({ left: r, right: l, quality }) => ({ left: l, right: r, quality }))];
}

function likenesses(left: NameWord[], right: NameWord[]): Pair[] {
  const found: Pair[] = [];
  for (const [l, one] of left.entries()) for (const [r, other] of right.entries()) {
    const quality = nameWordLikeness(one, other);
    if (quality > 0) found.push({ left: [l], right: [r], quality });
  }
  return found;
}

/** Takes the best agreements first, and each word once. */
function best(left: NameWord[], right: NameWord[], found: Pair[]): Pair[] {
  if (found.length < 2) return found;
  const near = ({ left: [l], right: [r] }: Pair) => Math.abs(l! - r!);
  found.sort((a, b) => b.quality - a.quality || b.left.length + b.right.length - a.left.length - a.right.length || near(a) - near(b) || a.left[0]! - b.left[0]!);
  const [freeLeft, freeRight] = [new Set(left.keys()), new Set(right.keys())];
  return found.filter((one) => {
    if (!one.left.every((at) => freeLeft.has(at)) || !one.right.every((at) => freeRight.has(at))) return false;
    for (const at of one.left) freeLeft.delete(at);
    for (const at of one.right) freeRight.delete(at);
    return true;
  });
}

function joined(left: NameWord[], right: NameWord[]): Pair[] {
  const found: Pair[] = [];
  for (let l = 0; l + 1 < left.length; l++) {
    const [first, second] = [left[l]!, left[l + 1]!];
    if (first.text.length === 1 || second.text.length === 1) continue;
    const both = { text: first.text + second.text, isBare: first.isBare };
    for (const [r, other] of right.entries()) {
      if (Math.abs(other.text.length - both.text.length) > (both.isBare === other.isBare ? 2 : 6)) continue;
      const quality = nameWordLikeness(both, other);
      if (quality > 0) found.push({ left: [l, l + 1], right: [r], quality: Math.min(quality, ALIKE.sound) });
    }
  }
  return found;
}
