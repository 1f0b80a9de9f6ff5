import anyAscii from 'any-ascii';

/** Arabic letters that any-ascii leaves out or writes in a way that hides the long vowel. */
const ARABIC: Record<string, string> = { ا: 'a', أ: 'a', آ: 'a', إ: 'i', ٱ: 'a', ى: 'a', ة: 'a', ه: 'h', ع: '', ء: '', و: 'w', ؤ: 'w', ي: 'y', ی: 'y', ئ: 'y', ک: 'k', گ: 'g', چ: 'ch', پ: 'p', ژ: 'zh' };
/** Hebrew letters for sounds that any-ascii writes as another one. */
const HEBREW: Record<string, string> = { ע: '', א: 'a', ו: 'w', י: 'y', ש: 'sh', פ: 'p', ף: 'f', ב: 'b', צ: 'ts', ץ: 'ts', ח: 'h', כ: 'k', ך: 'k' };
/** Ukrainian letters that any-ascii reads as Russian ones. */
const UKRAINIAN: Record<string, string> = { г: 'h', Г: 'H', и: 'y', И: 'Y', ї: 'i', Ї: 'I', є: 'ie', Є: 'Ie' };

const ABJAD = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;
/** Scripts that leave out short vowels, or of which any-ascii leaves out the vowel that each letter has by itself. */
const BARE = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gujarati}\p{Script=Gurmukhi}]/u;
/** Scripts in which a syllable is one letter and words are not separated. */
const SYLLABLES = /[\p{Script=Han}]+|[\p{Script=Hangul}]+/gu;

/** Whether a text is written without short vowels. */
export const isBareText = (text: string): boolean => BARE.test(text);

const isLatin = (text: string): boolean => !/[^\s -\u017f\u1e00-\u1eff\u2010-\u201f]/.test(text);

/**
 * Returns a name in Latin letters. `cut` says how a run of syllables becomes words: 习近平 is the person Xi Jinping, and in the
 * name of an organization words are looked up.
 */
export function latin(text: string, cut: (run: string) => string[]): string {
  if (isLatin(text)) return text;
  const spaced = text.normalize('NFC').replace(SYLLABLES, (run) => ` ${cut(run).join(' ')} `);
  const isUkrainian = /[іїєґІЇЄҐ]/.test(text);
  return spaced.replace(/[^\s]+/g, (word) => (ABJAD.test(word) ? bareWord(word) : isUkrainian ? ukrainian(word) : anyAscii(word))).replace(/<<|>>/g, ' ');
}

/** Returns syllables in Latin letters as one word. */
export const syllables = (run: string): string => anyAscii(run).toLowerCase();

/** The family name has one syllable, and the given name the others. */
export function cutPerson(run: string): string[] {
  const [family = '', ...given] = Array.from(run).map(syllables);
  return given.length > 0 && given.length < 4 ? [family, given.join('')] : [[family, ...given].join('')];
}

function bareWord(word: string): string {
  const bare = word.replace(/\p{M}/gu, '');
  // The article is written with its noun; the name of God begins with it.
  const noun = bare.length > 4 && bare.startsWith('ال') && !bare.startsWith('الله') ? bare.slice(2) : bare;
  // This letter is heard only at the beginning, as a vowel.
  return Array.from(noun.replace(/^ع/, 'ا'), (letter) => ARABIC[letter] ?? HEBREW[letter] ?? anyAscii(letter)).join('').replace(/[^a-z0-9]/gi, '').toLowerCase();
}

function ukrainian(word: string): string {
  return anyAscii(Array.from(word, (letter) => UKRAINIAN[letter] ?? letter).join(''));
}
