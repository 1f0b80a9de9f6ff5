import type { Topic } from '../adapters/types.ts';

/** The tags of sources all of whose posts are of one type, such as the feed of a coalition. */
const TAGS = new Map<string, Topic>([['grants', 'grant_award'], ['comments', 'public_comment'], ['coalition', 'coalition_activity']]);

/** The words that tell what a post is about, where that is a type of signal of its own. The first that matches counts. */
const TOPICS: [Topic, RegExp][] = [
  ['grant_award', /\b(?:grant(?:s)?\s+(?:award(?:s|ed)?|agreement)|award(?:s|ed|ing)?\s+(?:of\s+)?(?:a\s+|the\s+)?(?:\S+\s+){0,3}grants?|accept(?:s|ed|ing|ance of)?\s+(?:a\s+|the\s+)?(?:\S+\s+){0,4}grants?)\b/i],
  ['public_comment', /\b(?:public\s+comment(?:s)?|comment\s+period|written\s+testimony|request\s+for\s+comment(?:s)?)\b/i],
  ['coalition_activity', /\b(?:coalition|joint\s+statement|open\s+letter|alliance\s+of|sign-on\s+letter)\b/i],
];
const MOST_TEXT = 2000;

/** Returns the type of signal that the tags of a source give to its posts. */
export function topicOfTags(tags: string[]): Topic | null {
  return tags.map((tag) => TAGS.get(tag)).find(Boolean) ?? null;
}

/** Returns the type of signal that a text is about; null for the usual one of its row. */
export function topicOf(text: string): Topic | null {
  const some = text.slice(0, MOST_TEXT);
  return TOPICS.find(([, words]) => words.test(some))?.[0] ?? null;
}
