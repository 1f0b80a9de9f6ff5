import { cutText } from 'civic';
import type { SignalDraft } from 'civic/firehose';
import type { Row, Vote } from '../adapters/types.ts';
import { stableJson } from '../reads/stable.ts';

/** A result that was recorded for an agenda item or a matter. */
export interface RecordedVote {
  /** Of the item or the action. */
  key: string;
  title: string;
  matter: string | null;
  action: string | null;
  passed: boolean | null;
  date: string | null;
  body: string | null;
  votes: Vote[];
}

const MOST_ACTORS = 150;
const RECENT_MS = 14 * 24 * 3600_000;
const LONGEST = 300;

/** Returns the votes of a row that its earlier version did not have, or had with other values. Votes that are read for the first time are new only if they are recent. */
export function newVotes(row: Row, before: Row | null, now: number): RecordedVote[] {
  const known = new Map(recorded(before).map(({ key, votes }) => [key, votes]));
  const hasList = before === null || (before.kind === 'meeting' ? before.items !== null : before.kind === 'filing' && before.actions !== null);
  return recorded(row).filter(({ key, votes, date }) => {
    if (votes === null || votes.length === 0) return false;
    const former = known.get(key);
    const wasRead = hasList && former !== null;
    if (!wasRead && !(now - Date.parse(date ?? '') < RECENT_MS)) return false;
    return stableJson(former ?? null) !== stableJson(votes);
  }).map((vote) => ({ ...vote, votes: vote.votes! }));
}

function recorded(row: Row | null): (Omit<RecordedVote, 'votes'> & { votes: Vote[] | null })[] {
  if (row?.kind === 'meeting') return (row.items ?? []).map(({ key, title, matter, action, passed, votes }) => ({ key, title, matter, action, passed, date: row.start, body: row.body, votes }));
  if (row?.kind !== 'filing') return [];
  return (row.actions ?? []).map(({ key, date, body, action, passed, votes }) => ({ key, title: row.title, matter: row.number, action, passed, date, body, votes }));
}

/** Returns the signal of a vote: each person with how they voted, and the counts. */
export function voteDraft({ title, matter, action, passed, date, body, votes }: Omit<RecordedVote, 'key'>): Pick<SignalDraft, 'type' | 'title' | 'summary' | 'occurred_at' | 'actors'> {
  const result = passed === null ? action ?? 'Vote' : passed ? 'Passed' : 'Failed';
  const people = votes.slice(0, MOST_ACTORS).map(({ person, value }) => ({ name: cutText(person, 200), type: 'person' as const, role: cutText(value, 100) }));
  return {
    type: 'vote',
    title: cutText(`${result}: ${[matter, title].filter(Boolean).join(', ')}`, LONGEST),
    summary: cutText(`${countsOf(votes)}${body ? `, ${body}` : ''}`, LONGEST),
    occurred_at: date,
    actors: [...(body ? [{ name: cutText(body, 200), type: 'organization' as const, role: 'body' }] : []), ...people],
  };
}

/** Returns `48 Affirmative, 2 Negative`. */
function countsOf(votes: Vote[]): string {
  const counts = new Map<string, number>();
  for (const { value } of votes) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted((a, b) => b[1] - a[1]).map(([value, count]) => `${count} ${value}`).join(', ');
}
