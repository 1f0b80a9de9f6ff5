import { foldText } from 'civic';
import type { Topic } from './file.ts';

export interface Match<Item> {
  item: Item;
  /** 1 when every word of the text belongs to a whole name or search term of the item; nearer 0 the less of it does. */
  score: number;
}

/** What a word of the text counts when it belongs to a whole phrase of an item, and when it is only a word of one. */
const WHOLE = { own: 1, around: 0.4 };
const PART = { name: 0.6, term: 0.45, description: 0.2, around: 0.15 };
/** Each further search term that has the word, up to a few, puts the items it is central to before others. */
const AGAIN = 0.02;
const AGAIN_MOST = 5;
const TYPO = 0.8;
/** A word nobody knows is more often a place or the rest of a sentence than the subject. */
const UNKNOWN = 0.25;
const LEAST_SCORE = 0.1;
const LONGEST_TEXT = 300;
const LONGEST_PHRASE = 10;
const TYPO_FROM_LETTERS = 5;
const STOP_WORDS = new Set('a about all an and are as at be by for from how i in into is it its my not of on or our s so that the their they this to us was we what when where which who why with you your'.split(' '));

/** For each word or phrase, what it counts for which item. */
type Index = Map<string, Map<number, number>>;

interface Word {
  text: string;
  /** Below 1 when it had to be corrected. */
  quality: number;
}

/**
 * Finds items by free text, best first; equal ones stay in their order. Words count more the fewer items have them.
 * `around` gives further phrases that speak for an item, but less than its own.
 */
export function createMatcher<Item extends Topic>(items: readonly Item[], around: (item: Item) => string[]): (text: string) => Match<Item>[] {
  const { phrases, words } = indexed(items, around);
  const vocabulary = [...new Set([...words.keys(), ...phrases.keys()])].filter((word) => word.length >= TYPO_FROM_LETTERS).sort();

  function known(text: string): Word {
    if (words.has(text) || phrases.has(text) || text.length < TYPO_FROM_LETTERS || STOP_WORDS.has(text)) return { text, quality: 1 };
    const near = vocabulary.filter((word) => isOneEdit(text, word));
    const likely = near.find((word) => word[0] === text[0]) ?? near[0];
    return likely === undefined ? { text, quality: 1 } : { text: likely, quality: TYPO };
  }

  function importance({ text }: Word): number {
    if (STOP_WORDS.has(text)) return 0;
    const holders = (words.get(text) ?? phrases.get(text))?.size;
    return holders === undefined ? UNKNOWN * Math.log(1 + items.length) : Math.log(1 + items.length / holders);
  }

  return (text) => {
    const asked = wordsOf(text.slice(0, LONGEST_TEXT)).map(known);
    const best = asked.map(() => new Map<number, number>());
    for (let start = 0; start < asked.length; start++) {
      for (let end = start + 1; end <= Math.min(asked.length, start + LONGEST_PHRASE); end++) {
        const window = asked.slice(start, end);
        const joined = window.map((word) => word.text).join('');
        const quality = Math.min(...window.map((word) => word.quality));
        for (const index of [words, phrases]) raise(best.slice(start, end), scaled(index.get(joined), quality));
      }
    }
    const weights = asked.map(importance);
    const sum = weights.reduce((one, other) => one + other, 0);
    const matches = items.map((item, at) => {
      const gained = best.reduce((score, counts, word) => score + weights[word]! * (counts.get(at) ?? 0), 0);
      return { item, score: sum > 0 ? Math.round((1000 * gained) / sum) / 1000 : 0 };
    });
    return matches.filter(({ score }) => score >= LEAST_SCORE).sort((one, other) => other.score - one.score);
  };
}

function indexed<Item extends Topic>(items: readonly Item[], around: (item: Item) => string[]): { phrases: Index; words: Index } {
  const phrases: Index = new Map();
  const words: Index = new Map();
  const add = (item: number, text: string, whole: number, part: number) => {
    const cut = wordsOf(text);
    // Joined, so that "health care", "health-care" and "healthcare" are one.
    if (whole > 0) put(phrases, cut.join(''), item, whole);
    for (const word of cut) put(words, word, item, part);
  };
  for (const [at, item] of items.entries()) {
    for (const name of [item.name, item.slug]) add(at, name, WHOLE.own, PART.name);
    for (const phrase of around(item)) add(at, phrase, WHOLE.around, PART.around);
    add(at, item.description, 0, PART.description);
    const times = new Map<string, number>();
    for (const term of item.search_terms) {
      for (const word of wordsOf(term)) times.set(word, (times.get(word) ?? 0) + 1);
      add(at, term, WHOLE.own, PART.term);
    }
    times.forEach((count, word) => { put(words, word, at, PART.term + AGAIN * Math.min(count - 1, AGAIN_MOST)); });
  }
  return { phrases, words };
}

function put(index: Index, key: string, item: number, count: number): void {
  const counts = index.get(key) ?? new Map<number, number>();
  index.set(key, counts.set(item, Math.max(count, counts.get(item) ?? 0)));
}

function raise(best: Map<number, number>[], counts: Map<number, number>): void {
  for (const one of best) counts.forEach((count, item) => { one.set(item, Math.max(count, one.get(item) ?? 0)); });
}

function scaled(counts: Map<number, number> | undefined, quality: number): Map<number, number> {
  return new Map([...(counts ?? [])].map(([item, count]) => [item, count * quality]));
}

function wordsOf(text: string): string[] {
  const words = foldText(text).replace(/['’]/g, '').match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map(singular);
}

/** One form for both numbers of a word; that it is the right one matters less than that it is the same. */
function singular(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (/(ss|x|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return word.length > 3 && /[^suia]s$/.test(word) ? word.slice(0, -1) : word;
}

/** Whether one letter too many, too few, wrong, or swapped with its neighbour makes one word of the other. */
function isOneEdit(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1 || one === other) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  const [rest, otherRest] = [one.slice(start), other.slice(start)];
  return rest.slice(1) === otherRest.slice(1) || rest.slice(1) === otherRest || rest === otherRest.slice(1)
    || (rest.slice(2) === otherRest.slice(2) && rest[0] === otherRest[1] && rest[1] === otherRest[0]);
}
