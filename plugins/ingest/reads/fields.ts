import type { SignalChange } from 'civic/firehose';
import type { AgendaItem, FilingRow, LinkedDocument, MeetingRow, PageRow, PostRow, Row } from '../adapters/types.ts';
import { changedLines } from './lines.ts';

/** Returns what differs between two versions of a row, in the words of signals: one entry for each statement, such as an agenda item that was added. */
export function changedFields(before: Row, after: Row): SignalChange[] {
  if (before.kind === 'meeting' && after.kind === 'meeting') return meetingFields(before, after);
  if (before.kind === 'filing' && after.kind === 'filing') return filingFields(before, after);
  if (before.kind === 'page' && after.kind === 'page') return pageFields(before, after);
  return values(['title', 'summary', 'url'] satisfies (keyof PostRow)[], before as PostRow, after as PostRow);
}

function meetingFields(before: MeetingRow, after: MeetingRow): SignalChange[] {
  return [
    ...values(['title', 'body', 'start', 'end', 'location', 'status', 'url'], before, after),
    ...entries('documents', before.documents, after.documents, ({ url }) => url, ({ title, url }: LinkedDocument) => ({ title, url })),
    ...entries('items', before.items, after.items, ({ key }) => key, shownItem),
  ];
}

function filingFields(before: FilingRow, after: FilingRow): SignalChange[] {
  return [
    ...values(['number', 'title', 'type', 'status', 'body', 'introduced', 'url'], before, after),
    ...entries('sponsors', before.sponsors, after.sponsors, (name) => name, (name: string) => name),
    ...entries('actions', before.actions, after.actions, ({ key }) => key, ({ date, body, action, passed }) => ({ date, body, action, passed })),
  ];
}

function pageFields(before: PageRow, after: PageRow): SignalChange[] {
  return [...values(['title'], before, after), ...changedLines(before.text, after.text)];
}

/** Votes are signals of their own. */
function shownItem({ number, title, matter, action, passed }: AgendaItem): object {
  return { number, title, matter, action, passed };
}

function values<R extends Row>(names: (keyof R & string)[], before: R, after: R): SignalChange[] {
  return names.flatMap((field) => (before[field] === after[field] ? [] : [{ field, before: before[field], after: after[field] }]));
}

/** Compares two lists by key: entries that were added have no `before`, entries that were removed no `after`. A list that is read for the first time is no change. */
function entries<T>(field: string, before: T[] | null, after: T[] | null, keyOf: (entry: T) => string, shown: (entry: T) => unknown): SignalChange[] {
  if (before === null || after === null) return [];
  const old = new Map(before.map((entry) => [keyOf(entry), entry]));
  const now = new Set(after.map(keyOf));
  const added = after.flatMap((entry) => {
    const former = old.get(keyOf(entry));
    if (former === undefined) return [{ field, before: null, after: shown(entry) }];
    const change = { field, before: shown(former), after: shown(entry) };
    return JSON.stringify(change.before) === JSON.stringify(change.after) ? [] : [change];
  });
  const removed = before.filter((entry) => !now.has(keyOf(entry))).map((entry) => ({ field, before: shown(entry), after: null }));
  return [...added, ...removed];
}
