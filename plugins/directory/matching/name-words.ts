import { distance } from 'fastest-levenshtein';
import { isBareFormOf } from './bare.ts';
import { areFormsOfOne, hasKnownForms } from './given-forms.ts';
import { areVariants, COMMON_SURNAMES, isGivenName } from './nicknames.ts';
import { isBeginningAlike, looksAlike, romanized } from './romanized.ts';
import { isTypo } from './strings.ts';

/** How alike two words of names of people are, by what makes them alike. */
export const ALIKE = { sound: 0.97, variant: 0.95, bare: 0.93, typo: 0.9, wife: 0.86, initial: 0.82, translated: 0.82 };

/** A word of a name, and whether it is written without short vowels. */
export interface NameWord {
  text: string;
  isBare: boolean;
}

export function nameWordLikeness(one: NameWord, other: NameWord): number {
  const [left, right] = [one.text, other.text];
  if (left === right) return left.length > 1 ? 1 : ALIKE.initial;
  if (left.length === 1 || right.length === 1) return left[0] === right[0] || romanized(left)[0] === romanized(right)[0] ? ALIKE.initial : 0;
  if (one.isBare || other.isBare) return isBareAlike(one, other) ? ALIKE.bare : 0;
  return writtenLikeness(left, right);
}

function isBareAlike(one: NameWord, other: NameWord): boolean {
  if (one.isBare && other.isBare) return Math.min(one.text.length, other.text.length) > 3 && distance(one.text, other.text) === 1;
  return one.isBare ? isBareFormOf(one.text, other.text) : isBareFormOf(other.text, one.text);
}

function writtenLikeness(left: string, right: string): number {
  if (areVariants(left, right)) return ALIKE.variant;
  const areForms = areFormsOfOne(left, right);
  if (!areForms && (Math.abs(left.length - right.length) > 4 || !isBeginningAlike(left, right))) return 0;
  const [sound, otherSound] = [romanized(left), romanized(right)];
  const isNear = distance(sound, otherSound) * 2 <= Math.min(sound.length, otherSound.length);
  if (areForms) return isNear ? ALIKE.variant : ALIKE.translated;
  if (!isNear) return 0;
  if (sound === otherSound && sound.length > 2) return ALIKE.sound;
  if (looksAlike(left, right)) return ALIKE.typo;
  if (areOfBothSexes(left, right)) return isFamilyName(left) && isFamilyName(right) ? ALIKE.wife : 0;
  return isSlip(left, right) || (isMisheard(sound, otherSound) && !(isKnown(left) && isKnown(right))) ? ALIKE.typo : 0;
}

/** Whether one name is likely the other with a typing error. Two names that both exist are two, and so are four letters with another one among them. */
export function isSlip(one: string, other: string): boolean {
  if (!isTypo(one, other) || (isKnown(one) && isKnown(other)) || areOfBothSexes(one, other)) return false;
  return one.length !== other.length || one.length > 4 || [...one].sort().join('') === [...other].sort().join('');
}

const isKnown = (word: string): boolean => isGivenName(word) || hasKnownForms(word) || COMMON_SURNAMES.has(word);

/** Endings that make the name of a woman of the name of a man. */
export const FEMININE = /^(?:l?e|n?ie|i?n?a|ine|ette|elle)$/;

/** "Ivanov" and "Ivanova", "Robert" and "Roberta", "Mario" and "Maria". */
function areOfBothSexes(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (long.startsWith(short)) return long.length === short.length + 1 ? long.endsWith('a') || (long.endsWith('e') && isKnown(short)) : FEMININE.test(long.slice(short.length));
  if (/sk[iy]+$/.test(short) && /sk?aya$/.test(long)) return true;
  // "Lukashenka" is the Belarusian "Lukashenko".
  return one.length === other.length && one.slice(0, -1) === other.slice(0, -1) && /(?<!enk)[ao]$/.test(one) && /[ao]$/.test(other);
}

const isFamilyName = (word: string): boolean => /(?:[oe]v|[iy]n|sk[iy]+)a?$|skaya$/.test(word);

/** A slip in a long word whose spelling depends on the language; in short words it makes another name. */
function isMisheard(sound: string, otherSound: string): boolean {
  const short = Math.min(sound.length, otherSound.length);
  const edits = distance(sound, otherSound);
  const startsAlike = sound[0] === otherSound[0] || ('hkC'.includes(sound[0]!) && 'hkC'.includes(otherSound[0]!)) || (short > 5 && /^[aeiou]{2}$/.test(sound[0]! + otherSound[0]!));
  return startsAlike && edits <= (short < 5 ? 0 : short < 9 ? 1 : 2);
}
