import { normalizeEmail, normalizePhone, normalizeWebsite } from '../matching/contact.ts';
import { formalName } from '../matching/nicknames.ts';
import { personName } from '../matching/person.ts';
import { foldText } from 'civic';

/** What a person is recognized by. */
export interface Person {
  names: string[];
  /** Place keys, each with those of its county and state. */
  places: string[];
  emails: string[];
  phones: string[];
  /** Own pages and profiles. */
  urls: string[];
}

export const TRAIT_KINDS = ['name', 'email', 'phone', 'url'] as const;

export interface Trait {
  kind: (typeof TRAIT_KINDS)[number];
  /** In the form that is hashed. */
  text: string;
}

/** Returns what a person is recognized by, in one form: accents, case, titles, middle names, nicknames and the order of names do not matter. */
export function traitsOf({ names, places, emails, phones, urls }: Person): Trait[] {
  const of = (kind: Trait['kind'], texts: (string | null | undefined)[]): Trait[] => [...new Set(texts)].flatMap((text) => (text ? [{ kind, text: `${kind}\n${text}` }] : []));
  return [
    ...of('name', names.flatMap(nameForms).flatMap((name) => places.map((place) => `${name}\n${place}`))),
    ...of('email', emails.map((email) => normalizeEmail(email.replaceAll(INVISIBLE, '').replace(/\.$/, ''))?.address)),
    ...of('phone', phones.map(normalizePhone)),
    ...of('url', urls.map(profileOf)),
  ];
}

/** Characters that are not seen, such as the zero-width space. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Returns the first and the family name, in the order of the alphabet; none for a single word, which many share. */
export function nameForms(name: string): string[] {
  // An invisible character may stand inside a word or between words.
  const written = [name.replaceAll(INVISIBLE, ''), name.replaceAll(INVISIBLE, ' ')];
  // "Ada Brandt, Mayor" has the role after the comma.
  const beforeComma = written.map((text) => text.split(',')[0]!.trim()).filter((text) => text.includes(' '));
  return [...new Set([...written, ...beforeComma].flatMap(formsOf))];
}

function formsOf(name: string): string[] {
  const { given, middle, family } = personName(name);
  // "J. Robert Hale" is called Robert.
  const called = given.flatMap((word) => (word.length === 1 && middle[0] ? [word, middle[0]] : [word])).filter((word) => word.length > 1);
  const families = family.length > 1 ? [family.join(''), ...family] : family;
  return [...new Set(called.flatMap((first) => families.map((last) => [formalName(foldText(first)), foldText(last)].sort().join(' '))))];
}

/** The page of a host that many share names its owner by the path; so does a page of any other site, whose home is no profile of a person. */
function profileOf(url: string): string | null {
  const website = normalizeWebsite(url);
  if (!website) return null;
  return website.site.includes('/') ? website.site : website.page;
}
