import { foldText } from 'civic';

/** What an actor is found by. */
export interface SearchDocument {
  key: number;
  /** See `priorOf`: actors with more sources come first. */
  prior: number;
  name: string;
  /** Further texts: description, other names, places, affiliations. */
  texts: string[];
  /** What it can be filtered by: `t:person`, `s:mo`, `i:housing`. */
  tags: string[];
  /** The workspace that alone may find it; null when everybody may. */
  workspace: string | null;
}

const BUCKETS = 15;
const KEYS = 2 ** 40;
const LONGEST_WORD = 64;
const LONGEST_TAG = 200;
/** A name is known by its first words up to this many. */
export const START_WORDS = 3;

// Marks stand before what is not a plain word. No folded word holds one, and SQLite's tokenizer takes them for letters.
const NAME = '＝';
const START = '＾';
const JOINT = '＿';
const PRIVATE = '＠';
const TAG = '：';

/** Words that say nothing about a text; they count in names only. */
const FILLERS = new Set(['a', 'an', 'and', 'at', 'by', 'for', 'from', 'in', 'is', 'of', 'on', 'or', 'our', 'that', 'the', 'to', 'with']);

export const isFiller = (word: string): boolean => FILLERS.has(word);

/** How much speaks for an actor before anything is asked, from 0 to 15. */
export function priorOf(sourceCount: number): number {
  return Math.min(BUCKETS, Math.floor(Math.log2(Math.max(1, sourceCount))));
}

/** Where an actor stands in the index; smaller is better. */
export function rankOf(prior: number, key: number): number {
  return (BUCKETS - prior) * KEYS + key;
}

export function keyOf(rank: number): number {
  return rank % KEYS;
}

/** The words of a text in their order, folded. */
export function wordsOf(text: string): string[] {
  // Nearly all texts are ASCII, where folding is no more than one case.
  const folded = /^[\0-\x7f]*$/.test(text) ? text.toLowerCase() : foldText(text);
  const words = folded.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => (word.length <= LONGEST_WORD ? word : Array.from(word).slice(0, LONGEST_WORD).join('')));
}

/** The first letter takes its wide form, so that beginnings of names are no longer than those of words, and found as quickly. */
export function nameToken(word: string): string {
  return /^[a-z0-9]/.test(word) ? wide(word[0]!) + word.slice(1) : NAME + word;
}

const wide = (sign: string): string => String.fromCharCode(sign.charCodeAt(0) + 0xfee0);

/** For a name that starts with these words; there are at most `START_WORDS` of them. */
export const startToken = (words: string[]): string => `${START}${words.length}${words.join(JOINT)}`;

/** Whatever is not a small letter or a digit takes its wide form, so that the tokenizer neither splits nor folds it. */
export function tagToken(tag: string): string {
  return tag.slice(0, LONGEST_TAG).replace(/[\0-\x2f\x3a-\x60\x7b-\x7f]/g, (sign) => (sign <= ' ' || sign === '\x7f' ? '\u3000' : wide(sign)));
}

/** How the tag looks that a token stands for; null for words and other tokens. */
export function tagOf(token: string): string | null {
  if (token[1] !== TAG) return null;
  return token.replace(/[\uff01-\uff5e]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xfee0));
}

/** Stands before every token of a workspace's own documents: nobody else's query holds it. By itself it is a token of all of them. */
export function workspaceMark(workspace: string): string {
  return `${PRIVATE}${BigInt(`0x${workspace.replaceAll('-', '')}`).toString(36)}${JOINT}`;
}

/** The words of a document that a text search looks for. */
export function termsOf(document: SearchDocument): string[] {
  const words = new Set(wordsOf(document.name));
  for (const text of document.texts) for (const word of wordsOf(text)) if (!isFiller(word)) words.add(word);
  return [...words];
}

export function tokensOf(document: SearchDocument): string[] {
  const name = wordsOf(document.name);
  const tokens = termsOf(document);
  for (const word of new Set(name)) tokens.push(nameToken(word));
  for (let count = 1; count <= Math.min(START_WORDS, name.length); count++) tokens.push(startToken(name.slice(0, count)));
  for (const tag of new Set(document.tags)) tokens.push(tagToken(tag));
  if (document.workspace === null) return tokens;
  const mark = workspaceMark(document.workspace);
  return [mark, ...tokens.map((token) => mark + token)];
}
