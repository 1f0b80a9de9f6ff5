import type { Reader, Tx } from 'civic';
import type { Document } from '../types.ts';

/** A page of the archive that can be searched. */
export interface NewIndexedPage {
  /** Whose searches find it; null for everybody's. What was read for a workspace is found by that workspace only. */
  workspace_id: string | null;
  url: string;
  content_hash: string;
  read_at: string;
  /** The parsed content, where the caller has it; otherwise a job parses it. */
  document?: Document;
}

export interface FoundPage {
  url: string;
  title: string | null;
  read_at: string;
}

/** The full-text index of the archive. */
export interface SearchService {
  /** Adds a page to the index, or replaces what the index has for its address. Feeds, calendars and data are left out. */
  index(tx: Tx, page: NewIndexedPage): Promise<void>;
  /** Returns public pages, and those of the workspace, that have all words of one of the queries. Those that most queries find are first, then the latest. */
  find(reader: Reader, search: { workspace_id: string | null; queries: string[]; limit: number }): Promise<FoundPage[]>;
  /** Deletes the index of a workspace that is deleted. */
  deleteIndex(tx: Tx, workspaceId: string): Promise<void>;
}
