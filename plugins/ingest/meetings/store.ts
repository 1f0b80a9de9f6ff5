import { dialectOf, type Reader } from 'civic';
import type { MeetingsQuery } from 'civic/directory';

export interface PublicMeeting {
  data: string;
  signal_id: string;
  first_seen_at: string;
  /** When it last changed; null for rows that were stored before this was recorded. */
  content_at: string | null;
  /** When it vanished, and was reported as cancelled. */
  gone_at: string | null;
  source_name: string;
  source_url: string;
  place_key: string | null;
  issues: string;
}

/** Returns the published meetings of the operator's sources from a time on, the earliest first; those that are cancelled or gone only if they are wanted. */
export async function publicMeetings(reader: Reader, query: MeetingsQuery): Promise<PublicMeeting[]> {
  const { limit, with_cancelled: withCancelled = false } = query;
  const listed: PublicMeeting[] = await published(reader, query).whereNull('meetings.gone_at').modify((one) => {
    if (!withCancelled) one.whereRaw(`${field(reader, 'status')} <> 'cancelled'`);
  });
  if (!withCancelled) return listed;
  // Rows of a former address of a source are not cancelled.
  const gone: PublicMeeting[] = await published(reader, query).whereNotNull('meetings.gone_at').whereNotNull('meetings.cancelled_id');
  return [...listed, ...gone].toSorted((a, b) => (startOf(a) < startOf(b) ? -1 : 1)).slice(0, limit);
}

function published(reader: Reader, { places, issue_area: issue, since, limit }: MeetingsQuery) {
  const start = field(reader, 'start');
  const query = reader('ingest_rows as meetings').join('ingest_sources as sources', 'sources.key', 'meetings.source_key')
    // A date alone is that whole day.
    .whereRaw(`(${start} >= ? or ${start} = ?)`, [since, since.slice(0, 10)])
    .whereNotNull('meetings.signal_id').whereNull('sources.workspace_id')
    .orderByRaw(start).orderBy('meetings.key').limit(limit)
    .select('meetings.data', 'meetings.signal_id', 'meetings.first_seen_at', 'meetings.content_at', 'meetings.gone_at', 'sources.name as source_name', 'sources.url as source_url', 'sources.place_key', 'sources.issues');
  if (places) query.whereIn('sources.place_key', places);
  // Slugs are words of letters, digits and underscores, so a quoted one is found as a part of the JSON.
  if (issue !== undefined) query.whereRaw(`${dialectOf(reader) === 'postgres' ? 'sources.issues::text' : 'sources.issues'} like ?`, [`%"${issue}"%`]);
  return query;
}

/** Returns the SQL of a field of a meeting. */
function field(reader: Reader, name: 'start' | 'status'): string {
  return dialectOf(reader) === 'postgres' ? `(meetings.data::json ->> '${name}') collate "C"` : `json_extract(meetings.data, '$.${name}')`;
}

function startOf({ data }: PublicMeeting): string {
  return (JSON.parse(data) as { start: string }).start;
}
