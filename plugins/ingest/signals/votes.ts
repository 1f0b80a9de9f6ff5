import { cutText } from 'civic';
import type { SignalChange, SignalDraft } from 'civic/firehose';
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
  /** What its signal states until now; null for a vote without one. */
  published: PublishedVote | null;
}

/** A vote as its signal states it. */
export interface PublishedVote extends Outcome {
  id: string;
}

type Outcome = Pick<RecordedVote, 'action' | 'passed' | 'votes'>;

/** By the key of the item or the action. */
export type PublishedVotes = Record<string, PublishedVote>;

const MOST_ACTORS = 150;
const RECENT_MS = 14 * 24 * 3600_000;
const LONGEST = 300;
const LONGEST_NAME = 200;
const LONGEST_VALUE = 100;

/** Returns the votes of a row that differ from what was published of them, or from its earlier version. Votes that are read for the first time are new only if they are recent. */
export function newVotes(row: Row, before: Row | null, published: PublishedVotes, now: number): RecordedVote[] {
  const known = new Map(recorded(before).map(({ key, votes }) => [key, votes]));
  const hasList = before === null || (before.kind === 'meeting' ? before.items !== null : before.kind === 'filing' && before.actions !== null);
  return recorded(row).map((vote) => ({ ...vote, votes: vote.votes ?? [], published: published[vote.key] ?? null })).filter((vote) => {
    const { key, votes, date } = vote;
    if (votes.length === 0) return false;
    if (vote.published) return correctionsOf(vote, vote.published).length > 0;
    const former = known.get(key);
    const wasRead = hasList && former !== null;
    if (!wasRead && !(now - Date.parse(date ?? '') < RECENT_MS)) return false;
    return stableJson(former ?? null) !== stableJson(votes);
  });
}

function recorded(row: Row | null): (Omit<RecordedVote, 'votes' | 'published'> & { votes: Vote[] | null })[] {
  if (row?.kind === 'meeting') return (row.items ?? []).map(({ key, title, matter, action, passed, votes }) => ({ key, title, matter, action, passed, date: row.start, body: row.body, votes }));
  if (row?.kind !== 'filing') return [];
  return (row.actions ?? []).map(({ key, date, body, action, passed, votes }) => ({ key, title: row.title, matter: row.number, action, passed, date, body, votes }));
}

export function publishedVote({ action, passed, votes }: Outcome, id: string): PublishedVote {
  return { id, action, passed, votes };
}

/** Returns the signal of a vote: each person with how they voted, and the counts. That of a corrected vote is a new version, which states what it corrects. */
export function voteDraft(vote: RecordedVote): Pick<SignalDraft, 'id' | 'type' | 'title' | 'summary' | 'occurred_at' | 'actors' | 'changes'> {
  const { title, matter, date, body, votes, published } = vote;
  const corrections = published ? correctionsOf(vote, published) : [];
  const people = votes.slice(0, MOST_ACTORS).map(({ person, value }) => ({ name: cutText(person, LONGEST_NAME), type: 'person' as const, role: cutText(value, LONGEST_VALUE) }));
  return {
    ...(published && { id: published.id, changes: corrections }),
    type: 'vote',
    title: cutText(`${resultOf(vote)}: ${[matter, title].filter(Boolean).join(', ')}`, LONGEST),
    summary: cutText(`${countsOf(votes)}${body ? `, ${body}` : ''}${corrections.length > 0 ? `. Corrected: ${corrections.map(described).join('; ')}` : ''}`, LONGEST),
    occurred_at: date,
    actors: [...(body ? [{ name: cutText(body, LONGEST_NAME), type: 'organization' as const, role: 'body' }] : []), ...people],
  };
}

function resultOf({ action, passed }: Pick<Outcome, 'action' | 'passed'>): string {
  return passed === null ? action ?? 'Vote' : passed ? 'Passed' : 'Failed';
}

/** Returns what differs between two recordings of a vote, whatever the order of the people. */
function correctionsOf(now: Outcome, before: Outcome): SignalChange[] {
  const [old, current] = [byPerson(before.votes), byPerson(now.votes)];
  const result = { field: 'result', before: resultOf(before), after: resultOf(now) };
  const people = [...new Set([...current.keys(), ...old.keys()])].map((key) => ({ field: 'votes', before: old.get(key) ?? null, after: current.get(key) ?? null }));
  return [...(result.before === result.after ? [] : [result]), ...people.filter((change) => change.before?.value !== change.after?.value)];
}

/** Two members of a body can have the same name. */
function byPerson(votes: Vote[]): Map<string, Vote> {
  const seen = new Map<string, number>();
  return new Map(votes.map(({ person, value }) => {
    const count = (seen.get(person) ?? 0) + 1;
    seen.set(person, count);
    return [`${count} ${person}`, { person: cutText(person, LONGEST_NAME), value: cutText(value, LONGEST_VALUE) }];
  }));
}

/** Returns `Ana Flores from Affirmative to Negative`. */
function described({ field, before, after }: SignalChange): string {
  if (field === 'result') return `result from ${String(before)} to ${String(after)}`;
  const [old, now] = [before as Vote | null, after as Vote | null];
  if (old && now) return `${now.person} from ${old.value} to ${now.value}`;
  return now ? `added ${now.person} (${now.value})` : `removed ${old!.person} (${old!.value})`;
}

/** Returns `48 Affirmative, 2 Negative`. */
function countsOf(votes: Vote[]): string {
  const counts = new Map<string, number>();
  for (const { value } of votes) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted((a, b) => b[1] - a[1]).map(([value, count]) => `${count} ${value}`).join(', ');
}
