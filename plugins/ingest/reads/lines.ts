import type { SignalChange } from 'civic/firehose';

const MOST_LINES = 50;
const LONGEST_LINE = 1000;

/** Returns the lines of a text that were added or removed. A line that only moved is neither; one that replaces another at its place is one change. */
export function changedLines(before: string, after: string): SignalChange[] {
  const removed = missing(before, after);
  const added = missing(after, before);
  const changes: SignalChange[] = [];
  for (let index = 0; index < Math.max(removed.length, added.length) && changes.length < MOST_LINES; index++) {
    changes.push({ field: 'text', before: removed[index] ?? null, after: added[index] ?? null });
  }
  return changes;
}

/** Returns the lines that `text` has more often than `other`. */
function missing(text: string, other: string): string[] {
  const counts = new Map<string, number>();
  for (const line of linesOf(other)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return linesOf(text).filter((line) => {
    const count = counts.get(line) ?? 0;
    if (count > 0) counts.set(line, count - 1);
    return count === 0;
  });
}

const VARIABLE = /\d[\d.,:]*|\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|[ap]m)\b/gi;

/** Returns a text without the lines that its owner ignores, such as a counter of visitors. Numbers and dates in them stand for any others. */
export function withoutLines(text: string, ignored: string[]): string {
  const patterns = new Set(ignored.flatMap(linesOf).map(patternOf));
  return patterns.size === 0 ? text : text.split('\n').filter((line) => !patterns.has(patternOf(cutLine(line.trim())))).join('\n');
}

function patternOf(line: string): string {
  return line.replaceAll(VARIABLE, '#');
}

/** Cuts a line without cutting a character in two: half of one cannot be stored. */
export function cutLine(line: string): string {
  return line.slice(0, LONGEST_LINE).replace(/[\uD800-\uDBFF]$/, '');
}

export function linesOf(text: string): string[] {
  return text.split('\n').map((line) => cutLine(line.trim())).filter((line) => line !== '');
}
