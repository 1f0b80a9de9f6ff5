import { foldText } from 'civic';
import type { IssueArea } from './file.ts';
import type { Match } from './match.ts';

/** Returns the name of an issue area in the language of the reader. */
export type NameOf = (area: IssueArea) => string;

/** Below this a match shares too little with the text to be suggested. */
const LEAST_SCORE = 0.5;

/** Creates the function that finds issue areas by the beginning of a name, a word of it or a search term; then by what the text is about. The best match is first. */
export function createCompleter(areas: readonly IssueArea[], resolve: (text: string) => Match<IssueArea>[]): (text: string, nameOf: NameOf) => IssueArea[] {
  const terms = new Map(areas.map((area) => [area, area.search_terms.map(foldText)]));

  function rankOf(area: IssueArea, start: string, nameOf: NameOf): number {
    const names = [nameOf(area), area.name].map(foldText);
    if (names.some((name) => name.startsWith(start))) return 0;
    if (names.some((name) => name.includes(` ${start}`) || name.includes(`-${start}`))) return 1;
    return terms.get(area)!.some((term) => term.startsWith(start)) ? 2 : Infinity;
  }

  return (text, nameOf) => {
    const start = foldText(text).trim();
    if (start === '') return [];
    const begun = areas.map((area) => ({ area, rank: rankOf(area, start, nameOf) })).filter(({ rank }) => rank < Infinity).sort((a, b) => a.rank - b.rank);
    const meant = resolve(text).filter(({ score }) => score >= LEAST_SCORE);
    return [...new Set([...begun.map(({ area }) => area), ...meant.map(({ item }) => item)])];
  };
}
