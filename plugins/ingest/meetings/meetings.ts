import { isWebUrl, type Reader } from 'civic';
import type { ListedMeeting, MeetingsQuery } from 'civic/directory';
import type { MeetingRow } from '../adapters/types.ts';
import { publicUrl } from '../reads/clean.ts';
import { publicMeetings, type PublicMeeting } from './store.ts';

/** Returns public meetings of watched sources for calendars and pages. */
export async function listedMeetings(reader: Reader, query: MeetingsQuery): Promise<ListedMeeting[]> {
  return (await publicMeetings(reader, query)).map(listed);
}

function listed({ data, signal_id: id, first_seen_at: created_at, content_at, gone_at, source_name: source, source_url, place_key, issues }: PublicMeeting): ListedMeeting {
  const { title, start, end, location, status, url } = JSON.parse(data) as MeetingRow;
  return { id, title, start: start!, end, location, status: gone_at === null ? status : 'cancelled', place_key, issue_areas: JSON.parse(issues) as string[], url: url !== null && isWebUrl(url) ? url : publicUrl(source_url), source, created_at, updated_at: gone_at ?? content_at ?? created_at };
}
