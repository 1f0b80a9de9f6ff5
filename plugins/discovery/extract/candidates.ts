import type { Range } from 'civic/reader';
import type { Line } from './lines.ts';
import { foldName } from './text.ts';

/** A text that may be a name, with what speaks for and against it. */
export interface Candidate extends Range {
  name: string;
  /** The line of the best mention; null for a name that is only found again in the text. */
  line: Line | null;
  mentions: number;
  /** How much speaks for the mention that `start`, `end` and `line` are of. */
  weight: number;
  features: Set<string>;
  /** The office before the name of a person: `Mayor Jane Doe`. */
  office: Range | null;
}

const MOST_CANDIDATES = 5000;
const LONGEST_NAME = 120;

/** Collects candidates by folded name; a feature of any mention counts for all. */
export class Candidates {
  readonly #byName = new Map<string, Candidate>();

  add(name: string, range: Range, line: Line | null, features: string[], weight = 0, office: Range | null = null): void {
    const key = foldName(name);
    if (name.length > LONGEST_NAME || !/\p{L}{2}/u.test(name)) return;
    let candidate = this.#byName.get(key);
    if (!candidate) {
      if (this.#byName.size >= MOST_CANDIDATES) return;
      candidate = { name, ...range, line, mentions: 0, weight, features: new Set(), office };
      this.#byName.set(key, candidate);
    }
    candidate.mentions++;
    if (candidate.line === null || weight > candidate.weight) Object.assign(candidate, { name, ...range, line, weight, office });
    for (const feature of features) candidate.features.add(feature);
  }

  get(key: string): Candidate | undefined {
    return this.#byName.get(key);
  }

  entries(): [string, Candidate][] {
    return [...this.#byName];
  }
}
