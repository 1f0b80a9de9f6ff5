import { tellingWords } from './alignment.ts';
import { STRONG_SCHEMES } from './contact.ts';
import type { NameWord } from './name-words.ts';
import { formalName, isGivenName } from './nicknames.ts';
import { rarity, type OrganizationName } from './organization.ts';
import type { PersonName } from './person.ts';
import type { Prepared } from './profile.ts';
import { consonants } from './romanized.ts';

/** A block that more actors share tells nothing and is not looked at. */
export const MOST_IN_BLOCK = 50;
export const MOST_BLOCKS = 12;
export const LONGEST_BLOCK = 60;

export const emailBlock = (address: string): string => `e:${address}`;
export const phoneBlock = (phone: string): string => `p:${phone}`;

/**
 * Short strings of which two actors that may be one share at least one, most telling first. They depend on nothing but the
 * actor, so that they can be kept in a table and looked up.
 */
export function blocks(actor: Prepared): string[] {
  const { profile, identifiers, websites, phones, emails, people, organizations } = actor;
  const found = [
    ...identifiers.filter(({ scheme }) => STRONG_SCHEMES.has(scheme)).slice(0, 3).map(({ scheme, value }) => `i:${scheme}:${value}`),
    ...emails.slice(0, 2).map(({ address }) => emailBlock(address)),
    ...phones.slice(0, 2).map(phoneBlock),
    ...websites.slice(0, 2).map(({ site }) => `w:${site}`),
    ...people.slice(0, 2).flatMap((name) => personBlocks(name, profile.places, profile.states[0] ?? '')),
    ...organizations.slice(0, 2).flatMap((name) => organizationBlocks(name, profile.states[0] ?? '', profile.places[0] ?? '')),
  ];
  return [...new Set(found.map((block) => block.slice(0, LONGEST_BLOCK)))].slice(0, MOST_BLOCKS);
}

const sound = (word: string): string => consonants(word) || word;
/** Words of scripts without short vowels have their long ones, which others may write with any letters. */
const bareSound = (word: string): string => sound(word.replace(/(?<=.)[wy]/g, ''));

function personBlocks({ given, family, line }: PersonName, places: string[], state: string): string[] {
  const surname = family.at(-1);
  if (!surname) return [];
  const words = tellingWords(line);
  const hear = ({ text, isBare }: NameWord) => (isBare ? bareSound(text) : sound(formalName(text)));
  // In one order, for those who put the family name first.
  const both = [words[0]!, words.at(-1)!].map(hear).sort().join(' ');
  const first = given[0] ?? '';
  return [
    ...(words.length > 1 && words[0]!.text.length > 1 ? [`g:${both}:${state}`, `n:${both}`] : []),
    ...places.slice(0, 1).flatMap((place) => familyWords(words).map((word) => `s:${hear(word)}:${place}`)),
    // A family name with a wrong letter.
    ...(first.length > 1 ? places.slice(0, 1).map((place) => `f:${formalName(first)}:${surname.slice(0, 2)}:${place}`) : []),
  ];
}

/** Returns the words that may be a family name: the last ones that are no usual first name, and the last. */
function familyWords(words: NameWord[]): NameWord[] {
  const last = words.at(-1)!;
  return [last, ...words.slice(0, -1).filter(({ text }) => text.length > 1 && !isGivenName(text)).reverse()].slice(0, 2);
}

function organizationBlocks({ words, numbers, acronyms, isBare }: OrganizationName, state: string, place: string): string[] {
  const rarest = [...new Set(words)].sort((one, other) => rarity(other) - rarity(one) || other.length - one.length || (one < other ? -1 : 1));
  const [first, second, third] = rarest;
  const hear = isBare ? bareSound : sound;
  const short = words.length === 1 && words[0]!.length >= 3 ? words : acronyms.filter((acronym) => acronym.length >= 4).slice(-1);
  return [
    `k:${[...words, ...numbers].sort().join(' ')}`,
    ...(first && second ? [`o:${[first, second].sort().join(' ')}:${state}`] : []),
    // Without the rarest, for when that one has a wrong letter; frequent words only within a place.
    ...(second && third ? [`o:${[second, third].sort().join(' ')}:${rarity(second) === 1 ? state : place}`] : []),
    ...(first ? [`r:${hear(first)}:${state}`] : []),
    ...(second && rarity(second) === 1 ? [`r:${hear(second)}:${state}`] : []),
    // Two words that others write as one.
    ...(words.length === 2 ? [`r:${hear(words.join(''))}:${state}`] : []),
    ...short.map((acronym) => `a:${acronym}:${state}`),
  ];
}

/** A block as it is kept, and whether it tells nearly enough by itself: an identifier or an address. */
export interface KeptBlock {
  block: number;
  isTelling: boolean;
}

const TELLING = /^[iepw]:/;

export function keptBlocks(actor: Prepared): KeptBlock[] {
  const kept = blocks(actor).map((block) => ({ block: blockNumber(block), isTelling: TELLING.test(block) }));
  return [...new Map(kept.map((one) => [one.block, one])).values()];
}

/** A block as a number: 52 bits of its text. That two of a million fall together costs one needless comparison. */
export function blockNumber(block: string): number {
  let [one, other] = [0x811c9dc5, 0x9747b28c];
  for (let at = 0; at < block.length; at++) {
    const code = block.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x5bd1e995) ^ (other >>> 13);
  }
  return (one >>> 0) * 0x100000 + (other >>> 12);
}
