import type { Document } from 'civic/reader';
import type { SourceClass } from 'civic/firehose';

/** A range of characters in `text` of the document that a row was read from. */
export interface Passage {
  start: number;
  end: number;
}

/** A meeting of a public body, or an event of a group. */
export interface MeetingRow {
  kind: 'meeting';
  /** The same in every read: an id of the platform where there is one, else the title and the date. */
  key: string;
  title: string;
  /** The body that meets. */
  body: string | null;
  /** A time in UTC such as `2026-02-01T18:00:00.000Z`, or a date such as `2026-02-01` when no time is known. */
  start: string | null;
  end: string | null;
  location: string | null;
  status: 'confirmed' | 'tentative' | 'cancelled';
  url: string | null;
  /** Agendas, minutes, videos. */
  documents: LinkedDocument[];
  /** Null when the agenda was not read this time: what is known of it stays. */
  items: AgendaItem[] | null;
  passage: Passage | null;
}

export interface LinkedDocument {
  title: string;
  url: string;
}

export interface AgendaItem {
  key: string;
  number: string | null;
  title: string;
  /** The file number of the matter, such as `Int 0123-2026`. */
  matter: string | null;
  action: string | null;
  passed: boolean | null;
  /** Null when they were not read this time. */
  votes: Vote[] | null;
}

export interface Vote {
  person: string;
  /** As it was recorded: `Affirmative`. */
  value: string;
}

/** A bill, resolution, application or other matter that was filed. */
export interface FilingRow {
  kind: 'filing';
  key: string;
  /** Its file number. */
  number: string | null;
  title: string;
  type: string | null;
  status: string | null;
  body: string | null;
  introduced: string | null;
  /** Null when they were not read this time, as `actions`. */
  sponsors: string[] | null;
  actions: FilingAction[] | null;
  url: string | null;
  passage: Passage | null;
}

export interface FilingAction {
  key: string;
  date: string | null;
  body: string | null;
  action: string;
  passed: boolean | null;
  votes: Vote[];
}

/** An entry of a feed or of a list of news. */
export interface PostRow {
  kind: 'post';
  key: string;
  title: string;
  summary: string | null;
  url: string | null;
  published: string | null;
  passage: Passage | null;
  /** What the post is, where the platform states it. Otherwise its words or the tags of its source do. */
  topic?: Topic;
  /** The organizations that it names. */
  actors?: { name: string; role: string }[];
}

/** The types of signals that posts can be. */
export type Topic = 'grant_award' | 'public_comment' | 'coalition_activity';

/** The text of a page that has no rows. */
export interface PageRow {
  kind: 'page';
  key: string;
  title: string | null;
  text: string;
  /** The range of the text in the document. */
  passage: Passage | null;
}

export type Row = MeetingRow | FilingRow | PostRow | PageRow;

export interface AdapterContext {
  /** Milliseconds since the Unix epoch. */
  now: number;
  /** The zone of times without an offset, such as `America/Chicago`. */
  time_zone: string;
  /** Reads a further document of the source, such as the next page; null when it cannot be read. There is a limit for each read of the source. */
  open(url: string): Promise<Document | null>;
  /** Notes that rows after a time are left out whose keys begin with this text, because a series has too many: they are not gone. */
  leaveOut(keys: string, after: string): void;
}

/** What a platform's adapter is: one file and one test. */
export interface Adapter {
  /** As in `platform` of a watched source. */
  name: string;
  /** What people call the platform. */
  label: string;
  source_class: SourceClass;
  /** Whether a read lists every meeting between its first and its last. Only then does one that is missing count as cancelled: a feed has room for its latest entries only. */
  isComplete?: boolean;
  /** Whether a read also lists every meeting after the last it has, because its request has no end and all pages are read. Other lists may have room for the next few only. */
  hasNoEnd?: boolean;
  /** Whether rows depend on further documents, so that an unchanged first one does not mean that nothing changed. */
  opensMore?: boolean;
  /** Returns how certain it is to read the document, from 0 (not at all) to 1. The adapter with the highest value reads a new source. */
  recognises(document: Document): number;
  /** Returns the address to watch instead of one that a person gave, such as the calendar file beside a page; the same one when absent. */
  address?(document: Document): string;
  /** Returns the address of one read, such as a query for the coming weeks; the watched one when absent. */
  request?(url: string, now: number): string;
  /** Returns the rows of a document. Takes time in proportion to its length, whatever the text. */
  rows(document: Document, context: AdapterContext): Row[] | Promise<Row[]>;
}
