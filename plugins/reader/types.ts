import type { ReadService } from './fetch/types.ts';
import type { SearchService } from './search/types.ts';

/** A part of the text of a document, in UTF-16 code units: `document.text.slice(start, end)`. */
export interface Range {
  start: number;
  end: number;
}

export interface Link extends Range {
  /** Absolute; of the web, mail or telephone. */
  url: string;
  /** The visible text, or the text of an image without one. */
  text: string;
  /** The attribute `rel` in lower case; '' without one. */
  rel: string;
}

/** A run of text without a block-level element inside, such as a paragraph, a heading or a table cell. */
export interface Block extends Range {
  /** The element, such as `p`, `h2` or `td`; for a PDF `line`. */
  tag: string;
  text: string;
  /** How deep the element is nested. */
  depth: number;
  /** Siblings that repeat, such as rows, list items and cards, share a group; null outside of such. */
  group: number | null;
  /** Blocks inside the same of these siblings share an item. */
  item: number | null;
  /** Classes, and ids as `#id`, of the element and of its nearest ancestors, nearest first. */
  classes: string[];
  links: Link[];
  /** The attribute `datetime` of the first `<time>` in it. */
  time: string | null;
}

export interface Cell extends Range {
  text: string;
  links: Link[];
}

/** A table without a table inside. A cell that spans columns or rows is repeated in each. */
export interface Table {
  caption: string | null;
  /** The texts of the header row; empty without one. */
  header: string[];
  rows: { cells: Cell[] }[];
}

export type Syntax = 'json-ld' | 'microdata' | 'microformats' | 'opengraph' | 'rdfa';

/** A value of a property: a text, number or boolean, or an item. */
export type ItemValue = string | number | boolean | NestedItem;

export interface NestedItem {
  /** Without the address of schema.org: `Event`; those of other vocabularies in full; of microformats `h-event`. */
  types: string[];
  /** `@id` or `itemid`. */
  id: string | null;
  /** By name, without the address of schema.org. Microformats of version 1 have the names of version 2. */
  properties: Record<string, ItemValue[]>;
  /** The text of the element, where the item has one of its own. */
  value?: string;
  /** The HTML of an item of microformats in a property `e-*`. */
  html?: string;
  /** Items of microformats inside that are no property. */
  children?: NestedItem[];
}

export interface StructuredItem extends NestedItem {
  syntax: Syntax;
}

/** An entry of a feed. The range is that of its title and text. */
export interface FeedEntry extends Range {
  id: string | null;
  url: string | null;
  title: string | null;
  /** The content or the summary as plain text. */
  text: string;
  author: string | null;
  /** ISO 8601, or null when the feed has none that can be read. */
  published: string | null;
  updated: string | null;
  categories: string[];
  enclosures: { url: string; type: string | null }[];
}

export interface Feed {
  format: 'rss' | 'atom' | 'rdf' | 'json';
  title: string | null;
  url: string | null;
  description: string | null;
  entries: FeedEntry[];
}

/** An event of a calendar; of a recurring one each occurrence inside the window. The range is that of its lines in the text. */
export interface CalendarEvent extends Range {
  uid: string | null;
  /** The original start of an occurrence, in the form of `start`; null for an event that does not recur. */
  recurrence_id: string | null;
  sequence: number;
  status: 'confirmed' | 'tentative' | 'cancelled' | null;
  summary: string | null;
  description: string | null;
  location: string | null;
  url: string | null;
  organizer: string | null;
  categories: string[];
  /** `2026-05-04` for a whole day, `2026-05-04T18:00:00-05:00`, or `2026-05-04T18:00:00` where the calendar names no time zone. */
  starts: string;
  /** Exclusive, also for whole days; null when the event has no end. */
  ends: string | null;
  /** An IANA name, where the calendar has one. */
  time_zone: string | null;
  last_modified: string | null;
}

export type DocumentKind = 'html' | 'feed' | 'calendar' | 'json' | 'xml' | 'pdf' | 'text' | 'other';

/** What was read from a document of the web, as plain JSON. */
export interface Document {
  url: string;
  /** By the content where it shows the kind, because content types are often wrong. */
  kind: DocumentKind;
  title: string | null;
  /** A language tag such as `en-us`, in lower case. */
  language: string | null;
  site_name: string | null;
  description: string | null;
  canonical_url: string | null;
  /** The visible text: blocks are joined by line breaks, and white space is folded. All ranges refer to it. */
  text: string;
  /** The main content, without navigation; null when there is no text. */
  main: Range | null;
  blocks: Block[];
  tables: Table[];
  links: Link[];
  /** Feeds and calendars that the page names. */
  feeds: { url: string; title: string | null; type: string }[];
  items: StructuredItem[];
  feed: Feed | null;
  calendar: CalendarEvent[] | null;
  /** The pages of a PDF. */
  pages: Range[];
  /** The decoded text of JSON, XML, feeds and calendars. */
  body: string | null;
  /** Almost no text, but scripts: only a browser shows what is on the page. */
  is_script_page: boolean;
  /** The page asks for a password and has little else. */
  login_wall: boolean;
  /** A limit was reached, so that the end or a part is left out. */
  truncated: boolean;
}

export interface DocumentInput {
  /** The final address, after redirects. */
  url: string;
  /** The header `content-type`; '' without one. */
  content_type: string;
  body: Uint8Array;
  /** Recurring events of calendars are expanded from `start` to `end`, as ISO 8601. Without a window none of their occurrences is returned. */
  window?: { start: string; end: string };
}

export interface ReaderService extends ReadService, SearchService {
  /** Parses a document in a thread. Rejects with a `ThreadError` when it takes more than 10 s or 256 MB. */
  document(input: DocumentInput): Promise<Document>;
}

declare module 'civic' {
  interface Services { reader: ReaderService }
}
