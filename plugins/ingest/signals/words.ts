import { cutText } from 'civic';
import type { SignalChange } from 'civic/firehose';
import type { Row } from '../adapters/types.ts';

const LONGEST = 120;

/** Returns a sentence-like title for what changed: the change that matters most to readers, and how many more there are. */
export function changeTitle(row: Row, changes: SignalChange[], zone: string): string {
  const [first] = changes.toSorted((a, b) => importance(a) - importance(b));
  const more = changes.length - 1;
  return `${nameOf(row)}: ${described(first!, zone)}${more > 0 ? `, and ${more === 1 ? 'one more change' : `${more} more changes`}` : ''}`;
}

/** Returns `10 Feb 2026, 13:30` in the zone of the source; the date alone of a meeting without a time. */
export function meetingTime(start: string, zone: string): string {
  const hasTime = start.includes('T');
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: hasTime ? zone : 'UTC', day: 'numeric', month: 'short', year: 'numeric', ...(hasTime && { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' as const }) });
  return format.format(new Date(start));
}

function nameOf(row: Row): string {
  const name = row.kind === 'filing' ? row.number ?? row.title : row.title;
  return cutText(name ?? 'Page', LONGEST);
}

const ORDER = ['start', 'status', 'location', 'items', 'sponsors', 'actions', 'documents', 'text'];

function importance({ field }: SignalChange): number {
  const index = ORDER.indexOf(field);
  return index < 0 ? ORDER.length : index;
}

const NOUNS: Record<string, string> = { items: 'agenda item', documents: 'document', sponsors: 'sponsor', actions: 'action', text: 'passage' };

function described({ field, before, after }: SignalChange, zone: string): string {
  if (field === 'start') return `moved from ${timeOf(before, zone)} to ${timeOf(after, zone)}`;
  // The name of what changed is the new title.
  if (field === 'title') return `title changed from ${textOf(before) || 'none'}`;
  if (field === 'location') return `place changed to ${textOf(after) || 'none'}`;
  const noun = NOUNS[field];
  if (noun === undefined) return `${field} changed to ${textOf(after) || 'none'}`;
  const verb = before === null ? 'added' : after === null ? 'removed' : 'changed';
  return `${noun} ${verb}: ${textOf(after ?? before)}`;
}

function timeOf(value: unknown, zone: string): string {
  return typeof value === 'string' ? meetingTime(value, zone) : 'no time';
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'object') return cutText(String(value), LONGEST);
  const { title, action, matter, number } = value as Record<string, string | null>;
  return cutText([matter ?? number, title ?? action].filter(Boolean).join(', '), LONGEST);
}
