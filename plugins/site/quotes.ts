import { parseUrl } from 'civic';

/** A passage of a source, with the value in it. */
export interface Quote {
  before: string;
  /** The value as the passage has it; empty when it is not found literally. */
  match: string;
  after: string;
}

const MOST_QUOTED = 160;
/** A link to a longer passage names only its first and last words, by which browsers find it. */
const LONGEST_FRAGMENT = 80;
const FRAGMENT_WORDS = 5;

/** Returns about 160 characters of a passage, in whole words, around the first of `texts` that occurs in it. */
export function quoteAround(excerpt: string, texts: string[]): Quote {
  const passage = singleSpaced(excerpt);
  const folded = passage.toLowerCase();
  const found = texts.filter((text) => text.length > 1).map((text) => ({ text, at: folded.length === passage.length ? folded.indexOf(text.toLowerCase()) : passage.indexOf(text) })).find(({ at }) => at >= 0);
  const start = found?.at ?? 0;
  const end = start + (found?.text.length ?? 0);
  const around = Math.max(40, MOST_QUOTED - (end - start));
  const lead = found ? Math.min(start, Math.max(Math.floor(around / 2), around - (passage.length - end))) : 0;
  return { before: endOfWords(passage.slice(0, start), lead), match: passage.slice(start, end), after: startOfWords(passage.slice(end), around - lead) };
}

function startOfWords(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most + 1);
  const space = cut.lastIndexOf(' ');
  return `${(space > most / 2 ? cut.slice(0, space) : wholeCharacters(cut.slice(0, most))).trimEnd()}…`;
}

function endOfWords(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(-most - 1);
  const space = cut.indexOf(' ');
  return `…${(space >= 0 && space < most / 2 ? cut.slice(space + 1) : wholeCharacters(cut.slice(1))).trimStart()}`;
}

/** Removes halves of surrogate pairs at both ends. */
function wholeCharacters(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
}

function singleSpaced(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Returns the URL of a passage with a text fragment: browsers scroll to the text and highlight it. Null when the URL is not http or https. */
export function addressOfPassage(url: string, excerpt: string | null): string | null {
  if (!isWebAddress(url)) return null;
  const passage = excerpt === null ? '' : singleSpaced(excerpt.replaceAll('…', ' '));
  if (passage === '') return url;
  const words = passage.split(' ');
  const parts = passage.length <= LONGEST_FRAGMENT || words.length < 2 * FRAGMENT_WORDS
    ? [passage.slice(0, 2 * LONGEST_FRAGMENT)]
    : [words.slice(0, FRAGMENT_WORDS).join(' '), words.slice(-FRAGMENT_WORDS).join(' ')];
  // Hyphens and commas separate the parts of a text fragment, so those of the passage are encoded.
  const text = parts.map((part) => encodeURIComponent(part.replace(/\p{Surrogate}/gu, '')).replaceAll('-', '%2D')).join(',');
  return `${url}#:~:text=${text}`;
}

/** Returns whether a URL is http or https; others are not linked. */
export function isWebAddress(url: string): boolean {
  return /^https?:\/\//i.test(url);
}

export function hostOf(url: string): string {
  return (parseUrl(url)?.host ?? url).replace(/^www\./, '');
}
