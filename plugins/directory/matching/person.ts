import { alignedLikeness, type NameLine } from './alignment.ts';
import { isOfSyllables } from './chinese.ts';
import { cutPerson, isBareText, latin } from './latin.ts';
import { FEMININE, isSlip, type NameWord } from './name-words.ts';
import { areVariants, COMMON_SURNAMES, formalNames, isGivenName } from './nicknames.ts';
import { plain } from './organization.ts';
import { romanized, unscanned } from './romanized.ts';
import { abbreviates } from './strings.ts';

/** A name of a person, cut into what can be compared. */
export interface PersonName {
  /** The first name, and a nickname given in quotes. May be an initial. */
  given: string[];
  middle: string[];
  /** The parts of the family name: two when it is double. */
  family: string[];
  /** Jr, Sr, II …: other generations are other people. */
  generation: string | null;
  /** The same words uncut, for names of other languages, whose parts have other places. */
  line: NameLine;
}

const words = (text: string): Set<string> => new Set(text.trim().split(/\s+/));
const TITLES = words(`
  mr mrs ms miss mx dr prof professor hon honorable the rep representative sen senator gov governor lt lieutenant mayor vice deputy councilman councilwoman
  councilmember councilor councillor alderman alderwoman alderperson ald commissioner supervisor trustee judge justice sheriff rev reverend fr father sr sister
  pastor rabbi imam bishop deacon capt captain col colonel maj major sgt sergeant gen general chief officer secretary treasurer president chair chairman chairwoman
  chairperson director state former acting congressman congresswoman delegate assemblyman assemblywoman assemblymember sir dame
`);
/** Titles people are also called: "Bishop Davidson" has a first name. */
const GIVEN_TITLES = words('bishop deacon judge justice major maj chief gen father sister sir rev col');
const CREDENTIALS = words('md phd esq jd mba cpa rn dds dvm cfp cmfo pe aicp mpa mph msw lcsw edd od do cfa ret retd pharmd psyd aia llm ma bs ba ms dmin thd usaf usn usmc');
const GENERATIONS = new Map([['jr', '2'], ['junior', '2'], ['ii', '2'], ['2nd', '2'], ['sr', '1'], ['senior', '1'], ['iii', '3'], ['3rd', '3'], ['iv', '4'], ['4th', '4'], ['v', '5']]);
const PARTICLES = words('van von der den de da di del della la le el al bin ibn mc mac st saint san santa dos das du ter ten');

/** Returns the name in Latin letters, cut into its parts. */
export function latinPersonName(name: string): PersonName {
  const cut = personName(latin(name, cutPerson));
  return isBareText(name) ? { ...cut, line: { ...cut.line, words: cut.line.words.map(({ text }) => ({ text, isBare: true })) } } : cut;
}

/** Reads "Griffith, David E., Jr.", "Hon. Bill Falkner III", 'William "Bill" Owen'. */
export function personName(name: string): PersonName {
  const nicknames: string[] = [];
  const bare = name.replace(/["“”(]([^"“”()]+)["“”)]|(?<=\s)['‘]([^'’]+)['’](?=\s)/gu, (_, one: string | undefined, other: string | undefined) => {
    nicknames.push(plain(one ?? other ?? '').replace(/[^\p{L}\p{N}]/gu, ''));
    return ' ';
  });
  let generation: string | null = null;
  const parts = bare.split(',').map((part) => split(part).filter((word) => {
    const found = GENERATIONS.get(word);
    if (found && generation === null && word.length > 1 && split(bare)[0] !== word) generation = found;
    return !(found && word.length > 1 && split(bare)[0] !== word);
  })).map((part, at) => (at === 0 ? part : part.filter((word) => !CREDENTIALS.has(word)))).filter((part) => part.length > 0);
  const [first = [], ...rest] = parts;
  const after = rest.flat();
  const line = untitled(after.length > 0 ? after : withoutCredentials(first));
  const whole = lineOf([...line, ...(after.length > 0 ? untitled(first) : [])], after.length > 0);
  const family = after.length > 0 ? untitled(first) : line.splice(familyStart(line));
  // With one word there is no telling; it counts as the family name.
  if (family.length === 0) family.push(...line.splice(-1));
  const [given, ...middle] = line;
  return { given: [...new Set([...(given ? [given] : []), ...nicknames.filter(Boolean)])], middle, family: familyParts(family), generation, line: whole };
}

/** "Jalaluddin" is "Jalal al-Din". */
const OF_FAITH = /^(.{3,}?)[aeu]dd(?:i|ee)n$/;
const SERVANT = /^abd(?:[aeiou]l|u([dnrstz])(?=\1))(.{4,})$/;

/** "Abdulrahman" and "Abdurrahman" are two words, as in "Abd al-Rahman". */
function arabicWords(word: string): string[] {
  if (word.startsWith('abd')) return word.replace(/^abd[aeu]l$/, 'abd').replace(SERVANT, 'abd $2').split(' ');
  return word.endsWith('n') && word.includes('dd') ? word.replace(OF_FAITH, '$1 din').split(' ') : [word];
}

function lineOf(words: string[], isOrdered: boolean): NameLine {
  const line: NameWord[] = [];
  for (const word of words) for (const part of word.includes('-') ? word.split('-') : [word]) {
    for (const text of arabicWords(part)) line.push({ text: unscanned(text), isBare: false });
  }
  return { words: line, isOrdered };
}

function split(text: string): string[] {
  // "D.E." is two initials; "Kimberly-Ann" one name; "Smith-Jones" is kept whole and cut as a family name.
  return plain(text).replace(/\b(\p{L})\.(?=\p{L})/gu, '$1 ').match(/[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*/gu) ?? [];
}

function untitled(parts: string[]): string[] {
  let start = 0;
  while (start < parts.length - 1 && TITLES.has(parts[start]!) && (start < parts.length - 2 || !GIVEN_TITLES.has(parts[start]!))) start++;
  return parts.slice(start);
}

function withoutCredentials(parts: string[]): string[] {
  let end = parts.length;
  // Without a comma before it, "Ma" or "Do" is a family name.
  while (end > 2 && CREDENTIALS.has(parts[end - 1]!) && (parts[end - 1]!.length > 2 || parts[end - 1] === 'md')) end--;
  return parts.slice(0, end);
}

function familyStart(parts: string[]): number {
  let start = parts.length - 1;
  while (start > 1 && PARTICLES.has(parts[start - 1]!)) start--;
  return Math.max(start, 0);
}

/** "Van Dyk" and "VanDyk", "Mc Girl" and "McGirl" are one word; "Smith-Jones" and "Garcia Lopez" are two. */
function familyParts(parts: string[]): string[] {
  const joined: string[] = [];
  let open = '';
  for (const part of parts.flatMap((word) => word.split('-'))) {
    if (PARTICLES.has(part)) {
      open += part;
      continue;
    }
    joined.push(open + part);
    open = '';
  }
  return open ? [...joined, open] : joined;
}

/** The name in one form, family name last. */
export function normalizePerson(name: string): string {
  const { given, middle, family, generation } = personName(name);
  const order = ['', 'sr', 'jr', 'iii', 'iv', 'v'];
  return [...given.slice(0, 1), ...middle, family.join('-'), ...(generation ? [order[Number(generation)]!] : [])].filter(Boolean).join(' ');
}

/** How alike two names are: 1 the same, from 0.85 on probably the same, 0.8 as far as initials tell, below 0.6 different. */
export function personLikeness(one: PersonName, other: PersonName): number {
  const cut = cutLikeness(one, other);
  const isOver = cut >= ENOUGH || (one.generation && other.generation && one.generation !== other.generation);
  const likeness = isOver ? cut : Math.max(cut, alignedLikeness(one.line, other.line));
  return likeness > SLIPS.from && likeness < SLIPS.to && isOfSyllables(one.line) && isOfSyllables(other.line) && !haveSameWords(one.line, other.line) ? SLIPS.otherSyllable : likeness;
}

/** Whether the words are the same in any order, written apart or not. */
function haveSameWords(one: NameLine, other: NameLine): boolean {
  const [left, right] = [one, other].map(({ words: parts }) => parts.map(({ text }) => romanized(text)));
  return left!.sort().join('') === right!.sort().join('') || right!.join('') === left!.join('');
}

/** Names that agree but for a wrong letter. */
const SLIPS = { from: 0.8, to: 0.94, otherSyllable: 0.6 };

/** From here on nothing is gained by comparing words wherever they stand. */
const ENOUGH = 0.84;

/** Compares given name with given name and family name with family name. */
function cutLikeness(one: PersonName, other: PersonName): number {
  const squashed = squash(one);
  if (squashed.length > 5 && squashed === squash(other) && one.generation === other.generation) return isSameCut(one, other) ? 1 : 0.97;
  const straight = inOrder(one, other);
  if (straight >= 0.6) return straight;
  // "Griffith David": family name first without a comma. Where each word could be a first name, they are two people.
  const turned = [[turnedAround(one), other], [turnedAround(other), one]].map(([name, second]) => (name && second ? inOrder(name, second) - 0.1 : 0));
  const swapped = Math.min(0.86, Math.max(...turned));
  const ambiguous = [one, other].every((name) => isGivenName(name.family[0] ?? ''));
  return Math.max(straight, ambiguous ? Math.min(swapped, 0.65) : swapped);
}

const squash = ({ given, middle, family }: PersonName): string => [given[0] ?? '', ...middle, ...family].join('').replaceAll('-', '');
const isSameCut = (one: PersonName, other: PersonName): boolean => one.family.join('') === other.family.join('') && one.given[0] === other.given[0] && (one.given[0]?.length ?? 0) > 1;

function turnedAround({ given, middle, family, generation, line }: PersonName): PersonName | null {
  if (given.length === 0 || given[0]!.length < 2 || family.length !== 1) return null;
  const [first, ...rest] = [...middle, family[0]!];
  return { given: [first!], middle: rest, family: [given[0]!], generation, line };
}

function inOrder(one: PersonName, other: PersonName): number {
  const family = familyLikeness(one, other);
  if (family === 0) return 0;
  const given = givenLikeness(one, other);
  if (given === 0) return 0.3 * family;
  let likeness = Math.min(family, given, family < 1 && given < 1 ? family * given : 1);
  if (one.generation && other.generation && one.generation !== other.generation) return 0.4;
  if (middlesDiffer(one, other)) likeness = Math.min(likeness * 0.9, 0.72);
  return likeness;
}

function familyLikeness(one: PersonName, other: PersonName): number {
  const [left, right] = [one.family.join(''), other.family.join('')];
  if (left === '' || right === '') return 0;
  if (left === right) return 1;
  // Two family names, of which the first was read as a middle name.
  const ends = (name: PersonName, tail: string) => name.middle.length > 0 && `${name.middle.at(-1)!}${name.family.join('')}` === tail;
  if (ends(one, right) || ends(other, left)) return 0.99;
  const shared = one.family.some((part) => other.family.includes(part));
  // A double name of which one half is left out, or a name taken on marriage with the old one as middle name; with another half it is another name.
  if (shared) return one.family.length > 1 && other.family.length > 1 && one.family.length === other.family.length ? 0 : 0.88;
  const [lastLeft, lastRight] = [one.family.at(-1)!, other.family.at(-1)!];
  if (other.middle.includes(lastLeft) || one.middle.includes(lastRight)) return 0.75;
  if (COMMON_SURNAMES.has(left) && COMMON_SURNAMES.has(right)) return 0;
  return isSlip(left, right) ? 0.92 : 0;
}

function givenLikeness(one: PersonName, other: PersonName): number {
  if (one.given.length === 0 || other.given.length === 0) return 0.62;
  let best = 0;
  for (const left of one.given) for (const right of other.given) best = Math.max(best, givenWordLikeness(left, right));
  if (best >= 0.85) return best;
  const whole = (name: PersonName) => [name.given[0], ...name.middle].join('').replaceAll('-', '');
  if (whole(one) === whole(other) && whole(one).length > 2) return 0.97;
  // Known by the middle name: "J. Scott Clarke" and "Scott Clarke".
  const byMiddle = (name: PersonName, by: PersonName) => name.middle.some((middle) => middle.length > 1 && by.given.some((given) => given.length > 1 && areVariants(middle, given)));
  if (byMiddle(one, other) || byMiddle(other, one)) best = Math.max(best, 0.86);
  // "J.K. Haden" is called Kent.
  const byInitial = (name: PersonName, by: PersonName) => name.given[0]!.length === 1 && name.middle[0]?.length === 1 && by.middle.length === 0 && by.given[0]![0] === name.middle[0];
  if (byInitial(one, other) || byInitial(other, one)) best = Math.max(best, INITIAL);
  return best;
}

/** What a first letter tells. */
const INITIAL = 0.82;

function givenWordLikeness(one: string, other: string): number {
  const [left, right] = [one.replaceAll('-', ''), other.replaceAll('-', '')];
  if (left === right) return left.length > 1 ? 1 : INITIAL;
  if (left.length === 1 || right.length === 1) {
    if (left[0] === right[0]) return INITIAL;
    // "W. Eigel" is called Bill.
    return [left, right].some((name) => name.length > 1 && formalNames(name).some((formal) => formal[0] === left || formal[0] === right)) ? INITIAL : 0;
  }
  if (areVariants(left, right)) return 0.95;
  if (one.split('-')[0] === other.split('-')[0]) return 0.9;
  if (isGivenName(left) && isGivenName(right)) return 0;
  if (isSlip(left, right)) return 0.92;
  const [short, long] = left.length < right.length ? [left, right] : [right, left];
  if (isGivenName(long) && short.length === long.length - 1 && abbreviates(short, long)) return 0.86;
  return short.length >= 3 && long.startsWith(short) && !isGivenName(long) && !FEMININE.test(long.slice(short.length)) ? 0.86 : 0;
}

function middlesDiffer(one: PersonName, other: PersonName): boolean {
  if (one.middle.length === 0 || other.middle.length === 0) return false;
  const isOne = (left: string, right: string) => (left.length === 1 || right.length === 1 ? left[0] === right[0] : areVariants(left, right) || isSlip(left, right));
  return !one.middle.some((left) => other.middle.some((right) => isOne(left, right)));
}

/** Whether many people are called so. */
export const isFrequent = (name: PersonName): boolean => COMMON_SURNAMES.has(name.family.join(''));
