import type { Reader } from 'civic';

/** A public meeting that another plugin knows, such as one of a watched calendar. It is no entry of the directory. */
export interface ListedMeeting {
  /** The same for all versions of the meeting. */
  id: string;
  title: string;
  /** A time in UTC, or a date such as `2026-12-24`. */
  start: string;
  end: string | null;
  location: string | null;
  status: 'confirmed' | 'tentative' | 'cancelled';
  place_key: string | null;
  issue_areas: string[];
  /** The page that states it, and the name of its source. */
  url: string;
  source: string;
  created_at: string;
  updated_at: string;
}

/** The meetings from a time on, the earliest first. Without places and an issue area, those of all. */
export interface MeetingsQuery {
  places?: string[];
  issue_area?: string;
  since: string;
  limit: number;
  /** Whether meetings that were announced and are cancelled are listed too: calendars show them as such, so that people do not come. */
  with_cancelled?: boolean;
}

export type ReadMeetings = (reader: Reader, query: MeetingsQuery) => Promise<ListedMeeting[]>;

/** Cached responses with this tag show meetings. */
export const MEETINGS = 'meetings';

/** A slot of calendars, which another plugin fills. */
export interface MeetingsSlot {
  fill(read: ReadMeetings): void;
  read: ReadMeetings;
}

export function createMeetingsSlot(): MeetingsSlot {
  let filled: ReadMeetings | null = null;
  return {
    fill(read) {
      if (filled) throw new Error('The meetings of calendars are filled twice');
      filled = read;
    },
    read: async (reader, query) => (filled ? filled(reader, query) : []),
  };
}
