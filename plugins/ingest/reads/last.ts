import type { Change } from './compare.ts';
import { cutLine } from './lines.ts';

/** A change as the console shows it. Lines of a page have no title and can be ignored. */
export interface ShownChange {
  title: string | null;
  field: string;
  before: string | null;
  after: string | null;
}

const MOST = 50;

/** Returns the first changes of a read, with what was there before and what is there now as text. */
export function shownChanges(changes: Change[]): ShownChange[] {
  return changes.flatMap(linesOf).slice(0, MOST);
}

function linesOf(change: Change): ShownChange[] {
  const title = textOf(change.row.title);
  if (change.type === 'added' || change.type === 'returned') return [{ title: null, field: 'row', before: null, after: title }];
  if (change.type === 'gone') return [{ title: null, field: 'row', before: title, after: null }];
  const isPage = change.row.kind === 'page';
  return change.fields.map(({ field, before, after }) => ({ title: isPage ? null : title, field, before: textOf(before), after: textOf(after) }));
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return cutLine(value);
  const { title, action } = value as { title?: unknown; action?: unknown };
  return cutLine([title, action].filter((part) => typeof part === 'string' && part !== '').join(', ') || JSON.stringify(value));
}
