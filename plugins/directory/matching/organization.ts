import { foldText } from 'civic';
import { isBareFormOf } from './bare.ts';
import { isBareText } from './latin.ts';
import { withoutLegalForms } from './legal-forms.ts';
import { isBeginningAlike, looksAlike, romanized, unscanned } from './romanized.ts';
import { abbreviates, isTypo } from './strings.ts';
import { latinOrganization } from './translations.ts';
import { ABBREVIATIONS, CHANGERS, COMMON, LEGAL_FORMS, NUMBER_WORDS, NUMBERED, OPTIONAL, PAIRS, ROMAN, STATES, stem, STOP_WORDS, TRANSLATED, WEAK } from './words.ts';

/** A name of an organization, cut into what can be compared. */
export interface OrganizationName {
  /** The words that count, in their order. */
  words: string[];
  /** Numbers in it: which local, ward, district, troop. */
  numbers: string[];
  /** The first letters of all words and of those that count: what people make an acronym of. */
  acronyms: string[];
  /** Whether the words are written without short vowels. */
  isBare: boolean;
}

const LETTERS = new Map([['ø', 'o'], ['ł', 'l'], ['đ', 'd'], ['æ', 'ae'], ['œ', 'oe'], ['ð', 'd'], ['þ', 'th'], ['ı', 'i']]);

/** Text as names are compared: folded, without marks inside words. */
export function plain(text: string): string {
  return foldText(text).replace(/[øłđæœðþı]/g, (letter) => LETTERS.get(letter) ?? letter).replace(/['’‘`´]/g, '');
}

/** The name in one form: abbreviations written out, no article, no legal form, numbers as digits. Stable when applied again. */
export function normalizeOrganization(name: string): string {
  let text = wordsOf(plain(name)).join(' ');
  for (let round = 0; round < 6; round++) {
    const next = wordsOf(plain(text)).join(' ');
    if (next === text) break;
    text = next;
  }
  return text;
}

function wordsOf(text: string): string[] {
  const dotted = text.replace(/\b(?:\p{L}\.){2,}(?:\p{L}\b)?/gu, (letters) => letters.replaceAll('.', ''));
  const raw = dotted.replace(/&|\+/g, ' and ').match(/[\p{L}\p{N}]+/gu) ?? [];
  const cut = raw.flatMap((word) => word.match(/^\d+(?=st$|nd$|rd$|th$)|^\d+[a-z]?\d*[a-z]?$|[^]+/)![0]);
  const named = withoutLegalForms(cut.map(unscanned));
  const written = named.map((word, at) => writtenOut(word, named[at - 1]));
  const joined = joinPairs(written);
  while (joined.length > 1 && LEGAL_FORMS.has(joined.at(-1)!)) joined.pop();
  const kept = joined.filter((word) => !STOP_WORDS.has(word));
  return kept.length > 0 ? kept : joined;
}

function writtenOut(word: string, before: string | undefined): string {
  if (/^\d+$/.test(word)) return word.replace(/^0+(?=\d)/, '');
  const isNumbered = before !== undefined && (NUMBERED.has(stem(before)) || /^(?:[iv]{2,}|[ix]{2,}|xi[iv]+)$/.test(word));
  const number = NUMBER_WORDS.get(word) ?? (isNumbered ? ROMAN.get(word) : undefined);
  if (number !== undefined) return number;
  const stemmed = stem(word);
  const short = STATES.get(stemmed) ?? ABBREVIATIONS.get(word) ?? ABBREVIATIONS.get(stemmed) ?? stemmed;
  return TRANSLATED.get(short) ?? short;
}

function joinPairs(words: string[]): string[] {
  const joined: string[] = [];
  for (const word of words) {
    const before = joined.at(-1);
    if (before !== undefined && PAIRS.has(`${before} ${word}`)) joined[joined.length - 1] = `${before}${word}`;
    else joined.push(word);
  }
  return joined;
}

/** The ways to read a name: what stands after "dba" and "formerly" is a further one. */
export function organizationNames(name: string): OrganizationName[] {
  const read = readNames(latinOrganization(name));
  return isBareText(name) ? read.map((one) => ({ ...one, isBare: true })) : read;
}

function readNames(name: string): OrganizationName[] {
  const parts = name.split(/\b(?:d\/?b\/?a|doing business as|a\/?k\/?a|also known as|formerly(?: known as)?)\b[:.]?/i).filter((part) => /[\p{L}\p{N}]/u.test(part));
  return (parts.length > 0 ? parts : [name]).flatMap((part) => {
    const [, before = '', inside = '', after = ''] = /^(.*\S)\s*[([]\s*([^)\]]+)[)\]](.*)$/u.exec(part) ?? [];
    const short = plain(inside).replace(/[^a-z0-9]/g, '');
    // An acronym says nothing new; "(Local 12)" and "(Missouri)" say which one it is.
    return short.length > 1 && (read(before).acronyms.includes(short) || isShortName(inside, before)) ? [read(before + after)] : [read(part)];
  });
}

/** Capitals out of the name before them: "Banco de Desarrollo Económico y Social (BANDES)". */
function isShortName(inside: string, before: string): boolean {
  if (!/^[A-Z]{3,8}$/.test(inside.trim()) || !before.includes(' ')) return false;
  const letters = plain(inside.trim());
  let at = 0;
  for (const letter of plain(before)) if (letter === letters[at]) at++;
  return at === letters.length && plain(before)[0] === letters[0];
}

function read(name: string): OrganizationName {
  const words = normalizeOrganization(name).split(' ').filter(Boolean);
  const all = (plain(name).match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => word !== 'the');
  const counting = all.filter((word) => !STOP_WORDS.has(word));
  const acronyms = [all, counting, counting.filter((word) => !LEGAL_FORMS.has(word))].map((from) => from.map((word) => word[0]).join('')).filter((text) => text.length >= 3);
  return { words: words.filter((word) => !isNumber(word)), numbers: words.filter(isNumber), acronyms: [...new Set(acronyms)], isBare: false };
}

const isNumber = (word: string): boolean => /\d/.test(word) || word.length === 1;

/** How much it says that two names share a word. */
export function rarity(word: string): number {
  if (WEAK.has(word)) return 0.15;
  return COMMON.has(word) ? 0.5 : 1;
}

/** How much a whole name says: below 1.5 many organizations bear it. */
export function information({ words, numbers }: OrganizationName): number {
  return words.reduce((sum, word) => sum + rarity(word), 0) + numbers.length * 0.5;
}

interface Pairing {
  /** Positions on both sides, and how well they agree. */
  left: number[];
  right: number[];
  quality: number;
}

/** How alike two names are: 1 the same, from 0.85 on probably the same, below 0.6 different. */
export function organizationLikeness(one: OrganizationName, other: OrganizationName): number {
  // Words are paired greedily: in one order, whichever name was given first.
  const [left, right] = one.words.join(' ') <= other.words.join(' ') ? [one, other] : [other, one];
  if (left.words.length + left.numbers.length === 0 || right.words.length + right.numbers.length === 0) return 0;
  const numbers = numberCap(left.numbers, right.numbers);
  const initials = acronymLikeness(left, right);
  const pairings = pair(left.words, right.words, { left: left.isBare, right: right.isBare });
  const weight = (words: string[], at: number[]) => at.reduce((sum, index) => sum + rarity(words[index]!), 0);
  const rest = (words: string[], side: 'left' | 'right') => words.filter((_, at) => !pairings.some((pairing) => pairing[side].includes(at)));
  const restLeft = rest(left.words, 'left');
  const restRight = rest(right.words, 'right');
  const lost = (words: string[]) => words.reduce((sum, word) => sum + rarity(word), 0);
  const found = pairings.reduce((sum, { left: l, right: r, quality }) => sum + quality * (weight(left.words, l) + weight(right.words, r)), 0);
  const total = found + lost(restLeft) + lost(restRight)
    + pairings.reduce((sum, { left: l, right: r, quality }) => sum + (1 - quality) * (weight(left.words, l) + weight(right.words, r)), 0);
  const said = pairings.reduce((sum, { left: l, quality }) => (quality > 0.94 ? sum + weight(left.words, l) : sum), 0);
  const cap = restCap(restLeft, restRight, said);
  // Words that come and go lower it to their cap and no further.
  const likeness = cap > 0.82 && cap < 1 ? Math.min(cap, pairedLikeness(pairings)) : Math.min(total === 0 ? 1 : found / total, cap);
  return Math.min(numbers, Math.max(likeness, initials));
}

const pairedLikeness = (pairings: Pairing[]): number => (pairings.length === 0 ? 0 : pairings.reduce((sum, { quality }) => sum + quality, 0) / pairings.length);

/** Other numbers are other branches; a number on one side only may be one. */
function numberCap(left: string[], right: string[]): number {
  const [one, other] = [new Set(left), new Set(right)];
  const differs = left.some((number) => !other.has(number)) || right.some((number) => !one.has(number));
  if (!differs) return 1;
  return left.length === 0 || right.length === 0 ? 0.7 : 0.3;
}

/** `said` is how much the words say that both have. */
function restCap(left: string[], right: string[], said: number): number {
  const strong = (words: string[]) => words.filter((word) => !WEAK.has(word) && ![...WEAK].some((weak) => isTypo(word, weak)));
  const [one, other] = [strong(left), strong(right)];
  if (left.length === 0 && right.length === 0) return 1;
  // A word in the place of another makes another name; a word more may be the long form of it.
  if (one.length > 0 && other.length > 0) return 0.55;
  const more = [...one, ...other];
  if (more.length === 0) return 0.97;
  if (more.every((word) => OPTIONAL.has(word))) return 0.83;
  if (more.some(isChanger)) return 0.58;
  // A long name that has one word more.
  return more.length === 1 && said >= (COMMON.has(more[0]!) ? LONG_NAME : LONG_NAME + 1) ? 0.83 : 0.8;
}

/** From here on a name says so much that a word more makes no other one. */
const LONG_NAME = 2.5;

function isChanger(word: string): boolean {
  return CHANGERS.has(word) || (!COMMON.has(word) && [...CHANGERS].some((changer) => isTypo(word, changer) || abbreviates(word, changer)));
}

function acronymLikeness(left: OrganizationName, right: OrganizationName): number {
  const of = (short: OrganizationName, long: OrganizationName) => {
    const text = short.words.length === 1 && short.numbers.length === 0 ? short.words[0]! : '';
    return long.words.length > 1 && text.length >= 3 && long.acronyms.some((acronym) => acronym === text || stem(acronym) === text) ? (text.length > 3 ? 0.9 : 0.86) : 0;
  };
  return Math.max(of(left, right), of(right, left));
}

/** Pairs words, the best agreements first, wherever they stand in the name. */
function pair(left: string[], right: string[], isBare: { left: boolean; right: boolean }): Pairing[] {
  const free = { left: new Set(left.keys()), right: new Set(right.keys()) };
  const pairings: Pairing[] = [];
  const take = (l: number[], r: number[], quality: number) => {
    if (!l.every((at) => free.left.has(at)) || !r.every((at) => free.right.has(at))) return;
    pairings.push({ left: l, right: r, quality });
    for (const at of l) free.left.delete(at);
    for (const at of r) free.right.delete(at);
  };
  for (const l of left.keys()) {
    const r = right.findIndex((word, at) => word === left[l] && free.right.has(at));
    if (r >= 0) take([l], [r], 1);
  }
  if (free.left.size === 0 && free.right.size === 0) return pairings;
  const isOne = wordsAlike(isBare);
  for (const [l, r] of runs(left, right, isOne)) take(l, r, 0.95);
  for (const [r, l] of runs(right, left, (one, other) => isOne(other, one))) take(l, r, 0.95);
  for (const l of free.left) {
    for (const r of free.right) {
      const quality = isBare.left !== isBare.right ? Number(isOne(left[l]!, right[r]!)) * 0.95 : wordLikeness(left[l]!, right[r]!);
      if (quality > 0 && free.left.has(l)) take([l], [r], quality);
    }
  }
  return pairings;
}

/** One word that stands for several on the other side: "healthcare", "WVU", "KC". */
function runs(left: string[], right: string[], isOne: (word: string, joined: string) => boolean): [number[], number[]][] {
  return left.flatMap((word, l): [number[], number[]][] => {
    if (word.length < 2) return [];
    for (let start = 0; start < right.length - 1; start++) {
      if (!isBeginningAlike(right[start]!, word)) continue;
      for (let end = start + 2; end <= Math.min(right.length, start + 6); end++) {
        const run = right.slice(start, end);
        const isAcronym = !COMMON.has(word) && run.length === word.length && run.map((part) => part[0]).join('') === word;
        if (isAcronym || (run.length < 4 && isOne(word, run.join('')))) return [[[l], Array.from(run, (_, at) => start + at)]];
      }
    }
    return [];
  });
}

/** Returns whether two words are one in two spellings, each with or without short vowels. */
function wordsAlike(isBare: { left: boolean; right: boolean }): (left: string, right: string) => boolean {
  if (isBare.left === isBare.right) return (left, right) => left === right || (left.length > 5 && romanized(left) === romanized(right));
  return isBare.left ? isBareFormOf : (left, right) => isBareFormOf(right, left);
}

/** Romanizations differ in vowels most: "Hizballah" and "Hezbollah". */
function haveSameConsonants(sound: string, otherSound: string): boolean {
  const [one, other] = [sound, otherSound].map((text) => text.replace(/[aeiou]+/g, '')) as [string, string];
  return one === other && one.length > 3 && sound.length === otherSound.length;
}

/** Short words with another consonant in one place are two names: "Vega" and "Vela". */
function isOtherShortWord(one: string, other: string): boolean {
  if (one.length !== other.length || one.length > 5) return false;
  const differing = [...one].flatMap((letter, at) => (letter === other[at] ? [] : [letter + other[at]!]));
  return differing.length === 1 && /[^aeiouy]{2}/.test(differing[0]!);
}

function wordLikeness(one: string, other: string): number {
  // Two words that both exist are two words, however near: "mental" and "dental".
  if (COMMON.has(one) && COMMON.has(other)) return 0;
  const [sound, otherSound] = [romanized(one), romanized(other)];
  if (sound === otherSound && sound.length > 2) return 0.96;
  if (looksAlike(one, other)) return 0.92;
  if (!COMMON.has(one) && !COMMON.has(other) && isOtherShortWord(one, other)) return 0;
  if (isTypo(one, other) || (Math.min(sound.length, otherSound.length) > 7 && isBeginningAlike(one, other) && isTypo(sound, otherSound))) return 0.9;
  if (haveSameConsonants(sound, otherSound)) return 0.9;
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return COMMON.has(long) && !COMMON.has(short) && abbreviates(short, long) ? 0.9 : 0;
}
