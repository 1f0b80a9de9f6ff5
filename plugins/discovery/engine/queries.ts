import { foldText } from 'civic';

/** How many searches a run makes. */
export const MOST_QUERIES = { standard: 12, deep: 40 };
const MOST_TEXT = 50_000;

/** What a run looks for: the words of each of its issue areas, the most common first. */
export interface Subject {
  slug: string;
  terms: string[];
}

/** Returns searches for a place: the first term of each issue area, then the second of each, and so on. */
export function plannedQueries(subjects: Subject[], place: string, most: number): string[] {
  const queries = new Set<string>();
  const longest = Math.max(0, ...subjects.map(({ terms }) => terms.length));
  for (let at = 0; at < longest; at++) {
    for (const { terms } of subjects) if (terms[at] !== undefined && queries.size < most) queries.add(`${terms[at]} ${place}`);
  }
  return [...queries];
}

/** Returns which issue areas a text is about: those of which it has a term, as whole words. */
export function subjectsOf(text: string, subjects: Subject[]): string[] {
  const folded = spaced(text.slice(0, MOST_TEXT));
  return subjects.filter(({ terms }) => terms.some((term) => folded.includes(spaced(term)))).map(({ slug }) => slug);
}

function spaced(text: string): string {
  return ` ${foldText(text).replace(/[^\p{L}\p{N}]+/gu, ' ').trim()} `;
}
