/** What is read of a document at most. A document that has more is `truncated`. */
export const LIMITS = {
  bytes: 10_000_000,
  /** Elements inside deeper ones become children of the last. */
  depth: 250,
  elements: 200_000,
  attributes: 60,
  attribute_length: 20_000,
  text: 2_000_000,
  blocks: 10_000,
  links: 10_000,
  tables: 300,
  cells: 20_000,
  items: 5000,
  item_depth: 20,
  /** Values and items of all items, and the characters of their texts. */
  item_values: 30_000,
  item_text: 2_000_000,
  /** Of JSON-LD that is wrong: the repair takes time that grows with the square of the length. */
  repaired_json: 60_000,
  /** Of JSON: parsed values can be 28 times as large as their text, and a thread has 256 MB. */
  json: 3_000_000,
  feed_entries: 1000,
  /** Tags of XML that a library parses. */
  xml_tags: 200_000,
  calendar_lines: 200_000,
  events: 5000,
  /** Occurrences of one event, and steps to find them. */
  occurrences: 1000,
  /** Of one event: nothing takes place each minute. */
  occurrences_a_day: 12,
  steps: 50_000,
  /** Steps for all events of a calendar. */
  all_steps: 400_000,
  pdf_pages: 300,
  /** What one compressed stream of a PDF and all of them unpack to. Streams above are left out. */
  pdf_stream: 20_000_000,
  pdf_bytes: 60_000_000,
  /** One buffer of a decoder, which doubles as it grows, and all buffers of the thread. */
  pdf_buffer: 70_000_000,
  pdf_memory: 150_000_000,
  /**
   * All buffers of a document up to these sizes, also those that are free again: the C library keeps their memory. Fonts have up to 128 KB, so that a document
   * of many fonts needs more of those. A PDF of 300 pages of text needs 3 MB.
   */
  pdf_small_buffers: [{ size: 16_384, total: 12_000_000 }, { size: 131_072, total: 24_000_000 }],
} as const;

/** Counts what was left out. */
export interface Cut {
  truncated: boolean;
}
