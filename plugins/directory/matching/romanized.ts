import { kept } from './kept.ts';

/** How languages write one sound, in the order in which the rules apply. */
const RULES: [RegExp, string][] = [
  [/shtch|schtsch|shch|sch|sh|sz|ş/g, 'S'],
  [/dzh|dsch|dj|dž/g, 'J'],
  [/tsch|tch|ch(?=[aeiouy]|$)|cz/g, 'C'],
  [/zh/g, 'Z'],
  [/kh|ch/g, 'h'],
  [/x/g, 'ks'],
  [/ph/g, 'f'],
  [/th|dt/g, 't'],
  [/ck|q|gh/g, 'k'],
  [/ts|tz|c(?=[eiy])/g, 's'],
  [/c/g, 'k'],
  [/off$|ow$|ov$/, 'ov'],
  [/eff$|ew$|ev$/, 'ev'],
  [/w/g, 'v'],
  [/eo/g, 'o'],
  [/ou|oo|eu/g, 'u'],
  [/ee|ey$|ei$/g, 'i'],
  [/yo/g, 'e'],
  [/[yj]/g, 'i'],
  [/^i(?=e)/, ''],
  [/ae/g, 'a'],
  [/oe/g, 'o'],
  [/ue/g, 'u'],
  [/ie/g, 'e'],
  [/rn/g, 'm'],
  [/z/g, 's'],
  [/(.)\1+/g, '$1'],
];

/** Returns a form that the spellings of a word in other languages and romanizations share: Chodorkowski, Khodorkovskiy. */
export const romanized = kept((word: string): string => RULES.reduce((text, [sound, letter]) => text.replace(sound, letter), word));

const CLASSES: [RegExp, string][] = [[/[aeiouyhC]/g, ''], [/[bp]/g, 'p'], [/[vf]/g, 'v'], [/[gkqJ]/g, 'k'], [/[szSZ]/g, 's'], [/[dt]/g, 't'], [/(.)\1+/g, '$1']];

/** Returns the consonants of a word by their sound, the same for its spellings in other languages and without vowels. */
export const consonants = kept((word: string): string => {
  const sound = romanized(word);
  const first = /^[aeiouy]/.test(sound) ? 'a' : /^[hkC]/.test(sound) ? 'k' : '';
  return first + CLASSES.reduce((text, [letters, kind]) => text.replace(letters, kind), first ? sound.slice(1) : sound);
});

const BEGINNINGS = ['ckqhxg', 'vwfp', 'yijeudz', 'szctx', 'aeiouy', 'bp', 'td'];
const classOf = new Map([...'abcdefghijklmnopqrstuvwxyz'].map((letter) => [letter, new Set([letter, ...BEGINNINGS.filter((letters) => letters.includes(letter)).join('')])]));

/** Whether two words begin with letters that one word can begin with in two languages. */
export const isBeginningAlike = (one: string, other: string): boolean => classOf.get(one[0]!)?.has(other[0]!) ?? one[0] === other[0];

/** Letters and digits that a scan confuses, between letters. */
const SCANNED: Record<string, string> = { 0: 'o', 1: 'l', 5: 's', 8: 'b' };

/** Returns a word as it was printed: a digit between letters is a letter that a scan misread. */
export function unscanned(word: string): string {
  if (!/\d/.test(word) || !/[a-z]{3}|[a-z]\d+[a-z]{2}/.test(word)) return word;
  return word.replace(/(?<=\p{L})[0158]+(?=\p{L}|$)/gu, (digits) => Array.from(digits, (digit) => SCANNED[digit]!).join(''));
}

const LOOKS: [RegExp, string][] = [[/rn/g, 'm'], [/vv/g, 'w'], [/cl/g, 'd'], [/[l1]/g, 'i'], [/0/g, 'o'], [/5/g, 's'], [/8/g, 'b']];
const look = kept((word: string): string => LOOKS.reduce((text, [letters, shown]) => text.replace(letters, shown), word));

/** Whether a scan can have read one long word as the other. */
export const looksAlike = (one: string, other: string): boolean => one.length > 4 && Math.abs(one.length - other.length) < 2 && look(one) === look(other);
