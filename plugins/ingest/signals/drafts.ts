import { cutText, isWebUrl, Joi } from 'civic';
import type { SignalChange, SignalDraft, SourceClass } from 'civic/firehose';
import type { FilingRow, MeetingRow, PageRow, PostRow, Row } from '../adapters/types.ts';
import { publicUrl } from '../reads/clean.ts';
import { isUpcoming, type Change } from '../reads/compare.ts';
import { isPast } from '../reads/prune.ts';
import { isShortNotice, type NoticeRule } from './notice.ts';
import { topicOf, topicOfTags } from './topics.ts';
import { newVotes, voteDraft } from './votes.ts';
import { changeTitle, meetingTime } from './words.ts';

/** What the signals of one read have in common. */
export interface SignalContext {
  source: { url: string; name: string; source_class: SourceClass; place_keys: string[]; issues: string[]; tags: string[]; workspace_id: string | null };
  /** The first read of a source: what it lists has been there for an unknown time. */
  isFirst: boolean;
  /** In milliseconds. Rows about an earlier time may have been deleted, so one that appears is not taken for a new one. */
  known_since: number;
  now: number;
  time_zone: string;
  notice: NoticeRule;
  content_hash: string;
  /** The text of the document that the passages of rows are ranges of. */
  text: string;
}

/** A signal, and whether it is the one about the row itself: later reads publish new versions of that one. */
export interface RowSignal {
  draft: SignalDraft;
  isOfRow: boolean;
}

const DAY_MS = 24 * 3600_000;
/** What a first read publishes of the past. */
const FIRST_DAYS = 30;
const LONGEST_PASSAGE = 1000;
const LONGEST_TITLE = 300;
const LONGEST_NAME = 200;
const MOST_CHANGES = 100;
const MOST_CHANGE_BYTES = 40_000;
const address = Joi.string().uri({ scheme: ['http', 'https'] }).max(2000);

/** Returns the signals of a change. `signalId` is the signal that was published about the row before, if any. */
export function signalsOf(change: Change, signalId: string | null, context: SignalContext): RowSignal[] {
  if (change.type === 'gone') return [cancelled(change.row as MeetingRow, context, 'It is no longer in the calendar of the source.')];
  if (change.type === 'added') return added(change.row, context);
  return [...changed(change, signalId, context), ...voteSignals(change.row, change.before, context)];
}

function added(row: Row, context: SignalContext): RowSignal[] {
  if (row.kind === 'page' || (context.isFirst && isOld(row, context.now)) || isPast(row, context.known_since)) return [];
  if (row.kind === 'meeting' && row.status === 'cancelled') return isAhead(row, context.now) ? [cancelled(row, context, null)] : [];
  const isShort = row.kind === 'meeting' && !context.isFirst && isShortNotice(row, context.now, context.notice);
  return [ofRow(row, context), ...(isShort ? [shortNotice(row, context)] : []), ...voteSignals(row, null, context)];
}

function changed({ before, row, fields, isShifted }: Extract<Change, { type: 'changed' }>, signalId: string | null, context: SignalContext): RowSignal[] {
  const changes = fitting(fields);
  const isOff = row.kind === 'meeting' && before.kind === 'meeting' && row.status === 'cancelled' && before.status !== 'cancelled';
  const newVersion = signalId === null || row.kind === 'page' ? [] : [{ draft: { ...ofRow(row, context).draft, id: signalId, changes }, isOfRow: true }];
  if (isOff) return [...newVersion, cancelled(row, context, null)];
  if (changes.length === 0) return isShifted ? newVersion : [];
  const draft = { ...base(row, context), type: 'source_change', title: cutText(changeTitle(row, changes, context.time_zone), LONGEST_TITLE), occurred_at: new Date(context.now).toISOString(), changes };
  return [...newVersion, { draft, isOfRow: false }];
}

function voteSignals(row: Row, before: Row | null, context: SignalContext): RowSignal[] {
  return newVotes(row, before, context.now).map((vote) => ({ draft: { ...base(row, context), ...voteDraft(vote) }, isOfRow: false }));
}

/** Returns the signal about the row itself. */
function ofRow(row: Row, context: SignalContext): RowSignal {
  const about = row.kind === 'meeting' ? meeting(row) : row.kind === 'filing' ? filing(row) : post(row as PostRow, context.source.tags);
  return { draft: { ...base(row, context), ...about }, isOfRow: true };
}

function meeting(row: MeetingRow): Pick<SignalDraft, 'type' | 'title' | 'summary' | 'occurred_at'> {
  return { type: 'public_meeting', title: cutText(row.title, LONGEST_TITLE), summary: row.location, occurred_at: row.start };
}

function filing(row: FilingRow): Pick<SignalDraft, 'type' | 'title' | 'summary' | 'occurred_at'> {
  const title = [row.number, row.title].filter(Boolean).join(': ');
  return { type: 'filing', title: cutText(title, LONGEST_TITLE), summary: [row.type, row.status].filter(Boolean).join(', ') || null, occurred_at: row.introduced };
}

function post(row: PostRow, tags: string[]): Pick<SignalDraft, 'type' | 'title' | 'summary' | 'occurred_at'> {
  return { type: row.topic ?? topicOfTags(tags) ?? topicOf(`${row.title} ${row.summary ?? ''}`) ?? 'new_source', title: cutText(row.title, LONGEST_TITLE), summary: row.summary && cutText(row.summary, LONGEST_PASSAGE), occurred_at: row.published };
}

function cancelled(row: MeetingRow, context: SignalContext, summary: string | null): RowSignal {
  const title = `Cancelled: ${row.title}${row.start ? `, ${meetingTime(row.start, context.time_zone)}` : ''}`;
  return { draft: { ...base(row, context), type: 'meeting_cancelled', title: cutText(title, LONGEST_TITLE), summary, occurred_at: row.start }, isOfRow: false };
}

function shortNotice(row: MeetingRow, context: SignalContext): RowSignal {
  const hours = Math.max(1, Math.round((Date.parse(row.start!) - context.now) / 3600_000));
  const summary = `It was first seen ${hours === 1 ? 'one hour' : `${hours} hours`} before it begins; the rule is ${context.notice.hours} hours${context.notice.source ? ` (${context.notice.source})` : ''}.`;
  return { draft: { ...base(row, context), type: 'short_notice', title: cutText(`Short notice: ${row.title}, ${meetingTime(row.start!, context.time_zone)}`, LONGEST_TITLE), summary, occurred_at: row.start }, isOfRow: false };
}

/** Returns the members that all signals of a row have. */
function base(row: Row, { source, now, content_hash, text }: SignalContext): Omit<SignalDraft, 'type' | 'title'> {
  const passage = passageOf(row, text);
  return {
    source_class: source.source_class,
    detected_at: new Date(now).toISOString(),
    places: source.place_keys,
    issues: source.issues,
    actors: namedIn(row).map(({ name, role }) => ({ name: cutText(name, LONGEST_NAME), type: 'organization' as const, role })),
    visibility: source.workspace_id === null ? 'public' : 'workspace',
    workspace_id: source.workspace_id,
    evidence: [{
      source_url: webAddress('url' in row ? row.url : null) ?? publicUrl(source.url), title: cutText(source.name, LONGEST_TITLE), captured_at: new Date(now).toISOString(),
      passage: passage && cutText(passage.text, LONGEST_PASSAGE), locator: passage && { start: passage.start, end: passage.end }, content_hash,
    }],
  };
}

/** Returns the organizations that a row names. */
function namedIn(row: Row): { name: string; role: string }[] {
  if (row.kind === 'post') return row.actors ?? [];
  return 'body' in row && row.body ? [{ name: row.body, role: 'body' }] : [];
}

/** Returns an address that evidence can have; null for others, such as those of mail. */
function webAddress(url: string | null): string | null {
  return url !== null && isWebUrl(url) && address.validate(url).error === undefined ? url : null;
}

/** Returns the first changes, as many as a signal has room for. */
function fitting(fields: SignalChange[]): SignalChange[] {
  let bytes = 0;
  return fields.slice(0, MOST_CHANGES).filter((change) => (bytes += JSON.stringify(change).length * 2) < MOST_CHANGE_BYTES);
}

function passageOf(row: Row, text: string): { text: string; start: number; end: number } | null {
  const range = row.kind === 'page' ? { start: 0, end: Math.min((row as PageRow).text.length, LONGEST_PASSAGE) } : row.passage;
  if (!range) return null;
  const end = Math.min(range.end, range.start + LONGEST_PASSAGE);
  const shown = text.slice(range.start, end);
  return shown.trim() === '' ? null : { text: shown, start: range.start, end };
}

function isAhead(row: MeetingRow, now: number): boolean {
  return isUpcoming({ ...row, status: 'confirmed' }, now);
}

/** Whether a first read leaves a row unpublished because it is about the past. */
function isOld(row: Row, now: number): boolean {
  if (row.kind === 'meeting') return row.start === null || Date.parse(row.start) < now - DAY_MS;
  const date = row.kind === 'filing' ? row.introduced : row.kind === 'post' ? row.published : null;
  return date === null || Date.parse(date) < now - FIRST_DAYS * DAY_MS;
}
