import { kept } from './kept.ts';

/** The spellings of a sound in Latin letters. Long vowels are written in these scripts, short ones are not. */
const SOUNDS: Record<string, string> = {
  a: '[aeo]+', e: '[ei]+', i: '[iey]+', o: '[ou]+', u: '[uo]+', w: '(?:[uowv]|ou|au)+', y: '(?:a?[ieyj]+)', b: '[bpv]+', p: '[pbf]+', t: '(?:th|t)+', th: '(?:th|s|t)+', j: '(?:dj|gu|j|g)+', ch: '(?:tch|ch)', h: '(?:ch|h)+', kh: '(?:kh|ch|h|x)+',
  d: 'd+', dh: '(?:dh|d|z|th)+', r: 'r+', z: '[zs]+', zh: '(?:zh|j)', s: '[scz]+', sh: '(?:sch|sh|ch|s)', ts: '(?:ts|tz|z|c)', gh: '(?:gh|g|q)+', f: '(?:ph|f)+', q: '(?:gh|[qkgc])+', k: '(?:kh|[kcqg])+', g: '[gj]+',
  l: 'l+', m: 'm+', n: 'n+', v: '[vw]+',
};
const SHORT = '(?:ou|oo|ee|aa|[aeiou])?';
/** A vowel at the beginning is written with one letter, whichever it is. */
const FIRST_VOWEL = '[aeiou]+';

const spellings = kept((bare: string): RegExp => {
  const sounds = bare.match(/[kdgtsz]h|ch|ts|[a-z]/g) ?? [];
  return new RegExp(`^${SHORT}${sounds.map((sound, at) => (at === 0 && sound === 'a' ? FIRST_VOWEL : SOUNDS[sound] ?? sound)).join(SHORT)}${SHORT}h?$`);
});

/** Whether a word without short vowels is the other one: "mhmd" is Mohammed and Muhamad. */
export const isBareFormOf = (bare: string, word: string): boolean => bare.length > 1 && spellings(bare).test(word);
