import type { FetchErrorCode, FetchHop, Reader, Tx } from 'civic';

export interface ReadRequest {
  url: string;
  /** Which work needs it, such as `ingest`: part of the record of the read. */
  purpose: string;
  max_bytes?: number;
  /** Returns what was archived since this time, or why the address could not be read since then, without a request: for work that goes on after it was interrupted. */
  since?: string;
  /** Content may be archived since this earlier time; failures still count from `since`. */
  content_since?: string;
  /** Renders a page that has no text without its scripts, where a browser is installed. Reads of one run share the object. */
  browser?: BrowserRun;
  signal?: AbortSignal;
}

/** Counts the pages that one run rendered: the operator limits them. */
export interface BrowserRun {
  renders: number;
}

/** `unchanged` is a success: the server stated so, or the content has the same hash. `put_off` was not requested yet; `refused` must not be. */
export type ReadOutcome = 'read' | 'unchanged' | 'put_off' | 'refused' | 'failed';

/** Why there is no content. */
export type ReadReason = 'robots' | 'robots_unreachable' | 'host_busy' | 'host_rests' | 'browser_busy' | 'http_status' | 'render_failed' | FetchErrorCode;

/** The record of one attempt to read an address. */
export interface Read {
  id: string;
  /** As it was requested, and after redirects. */
  url: string;
  final_url: string;
  hops: FetchHop[];
  at: string;
  outcome: ReadOutcome;
  reason: ReadReason | null;
  /** A sentence for the person who chose the address. */
  detail: string | null;
  status: number | null;
  /** Of all responses that were needed. */
  bytes: number;
  milliseconds: number;
  via: 'http' | 'browser';
  /** When it makes sense to try again; null when nothing is known. */
  retry_at: string | null;
  content: Content | null;
}

/** An archived page or file. */
export interface Content {
  /** SHA-256 of the body, in hexadecimal. */
  hash: string;
  content_type: string;
  body: Uint8Array;
}

/** What other plugins may do with the network and the archive. */
export interface ReadService {
  /** Reads an address: within robots.txt, at the pace of its host, and only what changed. Archives the content and records the attempt, also a failed one. Throws only when it is aborted. */
  read(request: ReadRequest): Promise<Read>;
  /** Returns an archived content; null when there is none of that hash, or it was pruned. */
  content(reader: Reader, hash: string): Promise<Content | null>;
  /** Keeps contents for good, because evidence refers to them. */
  keep(tx: Tx, hashes: string[]): Promise<void>;
  /** Reads what robots.txt excludes too; called in `register`. For a person's own machine: no option of an instance does this. */
  ignoreRobots(): void;
}
