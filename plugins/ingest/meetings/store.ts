import { dialectOf, type Reader } from 'civic';
import type { MeetingsQuery } from 'civic/directory';

export interface PublicMeeting {
  data: string;
  signal_id: string;
  first_seen_at: string;
  /** When it last changed; null for rows that were stored before this was recorded. */
  content_at: string | null;
  source_name: string;
  source_url: string;
  place_key: string | null;
  issues: string;
}

/** Returns the published meetings of the operator's sources from a time on that are neither cancelled nor gone, the earliest first. */
export async function publicMeetings(reader: Reader, { places, issue_area: issue, since, limit }: MeetingsQuery): Promise<PublicMeeting[]> {
  const isPostgres = dialectOf(reader) === 'postgres';
  const start = isPostgres ? `(meetings.data::json ->> 'start') collate "C"` : `json_extract(meetings.data, '$.start')`;
  const status = isPostgres ? `meetings.data::json ->> 'status'` : `json_extract(meetings.data, '$.status')`;
  const query = reader('ingest_rows as meetings').join('ingest_sources as sources', 'sources.key', 'meetings.source_key')
    // A date alone is that whole day.
    .whereRaw(`(${start} >= ? or ${start} = ?)`, [since, since.slice(0, 10)]).whereRaw(`${status} <> 'cancelled'`)
    .whereNull('meetings.gone_at').whereNotNull('meetings.signal_id').whereNull('sources.workspace_id')
    .orderByRaw(start).orderBy('meetings.key').limit(limit)
    .select('meetings.data', 'meetings.signal_id', 'meetings.first_seen_at', 'meetings.content_at', 'sources.name as source_name', 'sources.url as source_url', 'sources.place_key', 'sources.issues');
  if (places) query.whereIn('sources.place_key', places);
  // Slugs are words of letters, digits and underscores, so a quoted one is found as a part of the JSON.
  if (issue !== undefined) query.whereRaw(`${isPostgres ? 'sources.issues::text' : 'sources.issues'} like ?`, [`%"${issue}"%`]);
  return query;
}
