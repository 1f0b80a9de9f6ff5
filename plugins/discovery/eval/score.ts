import type { FoundActor } from '../extract/types.ts';
import { foldName } from '../extract/text.ts';
import type { MarkedPage, MarkedType } from './pages.ts';

/** Shares are between 0 and 1. */
export interface Score {
  /** Names that are marked, that were found, and that are both. */
  marked: number;
  found: number;
  right: number;
  precision: number;
  recall: number;
  f1: number;
}

export interface PageScore {
  file: string;
  /** Marked names that were not found, and found names that are not marked, above the default score. */
  missing: Record<MarkedType, string[]>;
  extra: Record<MarkedType, string[]>;
}

/** Names of one type on one page: the marked ones, and those found with at least a score. */
interface Names {
  marked: Set<string>;
  found: Set<string>;
}

/** Folds the names of a page. All names of an actor count, because a page may write it in two ways. */
export function namesOn({ names }: MarkedPage, actors: FoundActor[], type: MarkedType, score: number): Names {
  const found = actors.filter((actor) => actor.type === type && actor.score >= score).flatMap(({ claims }) => claims.flatMap(({ property, value }) => (property === 'name' ? [foldName(value)] : [])));
  return { marked: new Set(names[type].map(foldName)), found: new Set(found) };
}

/** Sums up over pages: a name counts once a page. */
export function scoreNames(pages: Names[]): Score {
  const count = (of: (names: Names) => number) => pages.reduce((sum, names) => sum + of(names), 0);
  const [marked, found, right] = [count((names) => names.marked.size), count((names) => names.found.size), count((names) => [...names.found].filter((name) => names.marked.has(name)).length)];
  const [precision, recall] = [found > 0 ? right / found : 0, marked > 0 ? right / marked : 0];
  return { marked, found, right, precision, recall, f1: right > 0 ? (2 * precision * recall) / (precision + recall) : 0 };
}
