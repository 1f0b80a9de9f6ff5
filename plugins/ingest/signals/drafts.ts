import { cutText } from 'civic';
import type { SignalChange, SignalDraft, SourceClass } from 'civic/firehose';
import type { FilingRow, MeetingRow, PostRow, Row } from '../adapters/types.ts';
import type { ReadDocument } from '../reads/actors.ts';
import { isUpcoming, type Change } from '../reads/compare.ts';
import { isPast } from '../reads/prune.ts';
import { dayText, localTimeAt } from '../text/zone.ts';
import { itemEvidence, pageEvidence, rowEvidence, vanishedEvidence, voteEvidence, type Evidence } from './evidence.ts';
import { isShortNotice, type NoticeRule } from './notice.ts';
import { topicOf, topicOfTags } from './topics.ts';
import { newVotes, voteDraft, type PublishedVotes, type RecordedVote } from './votes.ts';
import { changeTitle, meetingTime } from './words.ts';

/** What the signals of one read have in common. */
export interface SignalContext {
  source: { url: string; name: string; source_class: SourceClass; place_keys: string[]; issues: string[]; tags: string[]; workspace_id: string | null };
  /** The first read of a source: what it lists has been there for an unknown time. */
  isFirst: boolean;
  /** When the source was last read well, in milliseconds; -Infinity for a first read. */
  last_read: number;
  /** In milliseconds. Rows about an earlier time may have been deleted, so one that appears is not taken for a new one. */
  known_since: number;
  now: number;
  time_zone: string;
  notice: NoticeRule;
  content_hash: string;
  /** The text of the document that the passages of rows are ranges of. */
  text: string;
  /** The further documents that were opened. */
  opened: ReadDocument[];
}

/** What earlier reads stored of a row. */
export interface Former {
  row: Row;
  /** The signal about it, of which later reads publish new versions. */
  signal_id: string | null;
  /** The signal that states that the meeting is cancelled. */
  cancelled_id: string | null;
  /** The votes that signals are about. */
  votes: PublishedVotes;
  /** The content that it was read from, when, and its passage there. */
  content_hash: string | null;
  content_at: string | null;
  passage: string | null;
}

/** A signal, and what it is to the row: the one about it, the one that states that it is cancelled, the correction of that one, or a vote. */
export interface RowSignal {
  draft: SignalDraft;
  is: 'row' | 'cancellation' | 'correction' | 'vote' | null;
  vote?: RecordedVote;
}

const DAY_MS = 24 * 3600_000;
/** What a first read publishes of the past. */
const FIRST_DAYS = 30;
const LONGEST_PASSAGE = 1000;
const LONGEST_TITLE = 300;
const LONGEST_NAME = 200;
const MOST_CHANGES = 100;
const MOST_CHANGE_BYTES = 40_000;
const VANISHED = 'It is no longer in the calendar of the source.';
const RETURNED = 'It is in the calendar of the source again.';

/** Returns the signals of a change. `former` is what is stored of the row, if anything. */
export function signalsOf(change: Change, former: Former | null, context: SignalContext): RowSignal[] {
  if (change.type === 'gone') return vanished(change.row as MeetingRow, former, context);
  if (change.type === 'added') return added(change.row, context);
  if (change.type === 'returned') return [...returned(change, former, context), ...voteSignals(change.row, { before: change.before, former }, context)];
  return [...changed(change, former, context), ...voteSignals(change.row, { before: change.before, former }, context)];
}

function added(row: Row, context: SignalContext): RowSignal[] {
  if (row.kind === 'page' || (context.isFirst && isOld(row, context)) || isPast(row, context.known_since)) return [];
  if (row.kind === 'meeting' && row.status === 'cancelled') return isAhead(row, context.now) ? [cancelled(row, null, context)] : [];
  // The rules are those of public bodies.
  const isShort = row.kind === 'meeting' && context.source.source_class.startsWith('government') && isShortNotice(row, context, context.notice);
  return [ofRow(row, context), ...(isShort ? [shortNotice(row, context)] : []), ...voteSignals(row, { before: null, former: null }, context)];
}

/** What differs at another address of the source is a new version of the row, but no change: it may have been there before. */
function changed({ before, row, fields, isShifted, isElsewhere = false }: Omit<Extract<Change, { type: 'changed' }>, 'type'> & { isElsewhere?: boolean }, former: Former | null, context: SignalContext): RowSignal[] {
  const changes = fitting(fields);
  const isOff = (one: Row) => one.kind === 'meeting' && one.status === 'cancelled';
  if (row.kind === 'meeting' && isOff(before) && !isOff(row)) return reinstated(row, changes, former, context);
  const newVersion = versionOf(row, changes, former, context);
  if (row.kind === 'meeting' && isOff(row) && !isOff(before)) return [...newVersion, cancelled(row, former, context)];
  if (changes.length === 0) return isShifted ? newVersion : [];
  if (isElsewhere) return newVersion;
  const evidence = row.kind === 'page' ? pageEvidence(row, changes, former, context) : itemEvidence(row, before, changes, context) ?? rowEvidence(row, context);
  return [...newVersion, { draft: changeDraft(row, changes, context, evidence), is: null }];
}

function changeDraft(row: Row, changes: SignalChange[], context: SignalContext, evidence: Evidence): SignalDraft {
  return { ...base(row, context, evidence), type: 'source_change', title: cutText(changeTitle(row, changes, context.time_zone), LONGEST_TITLE), occurred_at: new Date(context.now).toISOString(), changes };
}

/** Returns the new version of the signal about a row that has one. */
function versionOf(row: Row, changes: SignalChange[], former: Former | null, context: SignalContext): RowSignal[] {
  return former?.signal_id && row.kind !== 'page' ? [{ draft: { ...ofRow(row, context).draft, id: former.signal_id, changes }, is: 'row' }] : [];
}

/** A meeting that vanished: its signal states that it is cancelled, and quotes the content that had it. */
function vanished(row: MeetingRow, former: Former | null, context: SignalContext): RowSignal[] {
  const off: MeetingRow = { ...row, status: 'cancelled' };
  const evidence = vanishedEvidence(row, former, context);
  const versions = versionOf(off, [{ field: 'status', before: row.status, after: 'cancelled' }], former, context);
  return [...versions.map(({ draft, is }) => ({ draft: { ...draft, summary: VANISHED, evidence }, is })), cancelled(row, former, context, { summary: VANISHED, evidence })];
}

/** A meeting that vanished and is listed again was first seen earlier, so that it is no short notice. */
function returned({ before, row, fields, wasCancelled }: Extract<Change, { type: 'returned' }>, former: Former | null, context: SignalContext): RowSignal[] {
  if (row.kind !== 'meeting' || !wasCancelled) return changed({ before, row, fields, isElsewhere: true }, former, context);
  if (row.status === 'cancelled') return [];
  const status = { field: 'status', before: 'cancelled', after: row.status };
  return reinstated(row, fitting([status, ...fields.filter(({ field }) => field !== 'status')]), former, context);
}

/** A meeting takes place after all: its signal continues, and the one that states that it is cancelled becomes a correction. */
function reinstated(row: MeetingRow, changes: SignalChange[], former: Former | null, context: SignalContext): RowSignal[] {
  const supersedes = former?.cancelled_id ?? null;
  const [version] = versionOf(row, changes, former, context);
  const about = { draft: { ...(version ?? ofRow(row, context)).draft, supersedes }, is: 'row' as const };
  const draft = changeDraft(row, changes, context, rowEvidence(row, context));
  if (supersedes === null) return [about, { draft, is: null }];
  const title = cutText(`Takes place after all: ${row.title}${timeOf(row, context)}`, LONGEST_TITLE);
  return [about, { draft: { ...draft, id: supersedes, title, summary: RETURNED }, is: 'correction' }];
}

function voteSignals(row: Row, { before, former }: { before: Row | null; former: Former | null }, context: SignalContext): RowSignal[] {
  return newVotes(row, before, former?.votes ?? {}, context.now).map((vote) => {
    const { changes = [], ...draft } = voteDraft(vote);
    return { draft: { ...base(row, context, voteEvidence(row, vote, context)), ...draft, changes: fitting(changes) }, is: 'vote', vote };
  });
}

/** Returns the signal about the row itself. */
function ofRow(row: Row, context: SignalContext): RowSignal {
  const about = row.kind === 'meeting' ? meeting(row) : row.kind === 'filing' ? filing(row) : post(row as PostRow, context.source.tags);
  return { draft: { ...base(row, context), ...about }, is: 'row' };
}

function meeting(row: MeetingRow): Pick<SignalDraft, 'type' | 'title' | 'summary' | 'occurred_at'> {
  return { type: 'public_meeting', title: cutText(`${row.status === 'cancelled' ? 'Cancelled: ' : ''}${row.title}`, LONGEST_TITLE), summary: row.location, occurred_at: row.start };
}

function filing(row: FilingRow): Pick<SignalDraft, 'type' | 'title' | 'summary' | 'occurred_at'> {
  const title = [row.number, row.title].filter(Boolean).join(': ');
  return { type: 'filing', title: cutText(title, LONGEST_TITLE), summary: [row.type, row.status].filter(Boolean).join(', ') || null, occurred_at: row.introduced };
}

function post(row: PostRow, tags: string[]): Pick<SignalDraft, 'type' | 'title' | 'summary' | 'occurred_at'> {
  return { type: row.topic ?? topicOfTags(tags) ?? topicOf(`${row.title} ${row.summary ?? ''}`) ?? 'new_source', title: cutText(row.title, LONGEST_TITLE), summary: row.summary && cutText(row.summary, LONGEST_PASSAGE), occurred_at: row.published };
}

function cancelled(row: MeetingRow, former: Former | null, context: SignalContext, { summary, evidence }: { summary: string | null; evidence: Evidence } = { summary: null, evidence: rowEvidence(row, context) }): RowSignal {
  const title = cutText(`Cancelled: ${row.title}${timeOf(row, context)}`, LONGEST_TITLE);
  return { draft: { ...base(row, context, evidence), type: 'meeting_cancelled', title, summary, occurred_at: row.start, supersedes: former?.signal_id ?? null }, is: 'cancellation' };
}

function timeOf({ start }: MeetingRow, { time_zone }: SignalContext): string {
  return start === null ? '' : `, ${meetingTime(start, time_zone)}`;
}

function shortNotice(row: MeetingRow, context: SignalContext): RowSignal {
  const hours = Math.max(1, Math.round((Date.parse(row.start!) - context.now) / 3600_000));
  const summary = `It was first seen ${hours === 1 ? 'one hour' : `${hours} hours`} before it begins; the rule is ${context.notice.hours} hours${context.notice.source ? ` (${context.notice.source})` : ''}.`;
  return { draft: { ...base(row, context), type: 'short_notice', title: cutText(`Short notice: ${row.title}, ${meetingTime(row.start!, context.time_zone)}`, LONGEST_TITLE), summary, occurred_at: row.start }, is: null };
}

/** Returns the members that all signals of a row have. */
function base(row: Row, context: SignalContext, evidence = rowEvidence(row, context)): Omit<SignalDraft, 'type' | 'title'> {
  const { source, now } = context;
  return {
    source_class: source.source_class,
    detected_at: new Date(now).toISOString(),
    places: source.place_keys,
    issues: source.issues,
    actors: namedIn(row).map(({ name, role }) => ({ name: cutText(name, LONGEST_NAME), type: 'organization' as const, role })),
    visibility: source.workspace_id === null ? 'public' : 'workspace',
    workspace_id: source.workspace_id,
    evidence,
  };
}

/** Returns the organizations that a row names. */
function namedIn(row: Row): { name: string; role: string }[] {
  if (row.kind === 'post') return row.actors ?? [];
  return 'body' in row && row.body ? [{ name: row.body, role: 'body' }] : [];
}

/** Returns the first changes, as many as a signal has room for. */
function fitting(fields: SignalChange[]): SignalChange[] {
  let bytes = 0;
  return fields.slice(0, MOST_CHANGES).filter((change) => (bytes += JSON.stringify(change).length * 2) < MOST_CHANGE_BYTES);
}

function isAhead(row: MeetingRow, now: number): boolean {
  return isUpcoming({ ...row, status: 'confirmed' }, now);
}

/** Whether a first read leaves a row unpublished because it is about the past. A meeting without a time of day is not until its day is over. */
function isOld(row: Row, { now, time_zone }: SignalContext): boolean {
  if (row.kind === 'meeting') return row.start === null || (row.start.includes('T') ? Date.parse(row.start) <= now : row.start < dayText(localTimeAt(now, time_zone)));
  const date = row.kind === 'filing' ? row.introduced : row.kind === 'post' ? row.published : null;
  return date === null || Date.parse(date) < now - FIRST_DAYS * DAY_MS;
}
