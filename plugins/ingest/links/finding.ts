import { parseUrl } from 'civic';
import type { Read } from 'civic/reader';

/** What a read says about a link. */
export type Finding =
  | { kind: 'reached'; moved_to: string | null }
  /** The page is gone, or its host cannot be reached: repeated, the link is broken. */
  | { kind: 'failed'; reason: string; detail: string }
  /** The host does not let programs read the page, which says nothing about people. */
  | { kind: 'blocked'; reason: string; detail: string }
  /** It was not requested yet. */
  | { kind: 'put_off'; until: string | null };

const GONE = [404, 410];
/** A host that is overloaded, or that suspects a program. */
const LATER = 503;
const PERMANENT = [301, 308];
const FAILURES = ['unreachable', 'too_slow', 'bad_response'];

/** Returns what a read says about its address. In doubt a link is blocked, never failed. */
export function findingOf(read: Pick<Read, 'outcome' | 'reason' | 'detail' | 'status' | 'hops' | 'url' | 'final_url' | 'retry_at'>): Finding {
  const { outcome, reason, status, hops, url, final_url } = read;
  if (outcome === 'put_off') return { kind: 'put_off', until: read.retry_at };
  if (outcome === 'read' || outcome === 'unchanged') return { kind: 'reached', moved_to: PERMANENT.includes(hops[0]?.status ?? 0) && final_url !== url ? final_url : null };
  if (reason === 'too_large') return { kind: 'reached', moved_to: null };
  const detail = read.detail ?? 'The page could not be read.';
  if (reason === 'http_status' && GONE.includes(status!)) return { kind: 'failed', reason: 'not_found', detail };
  if (reason === 'http_status' && status! >= 500 && status !== LATER) return { kind: 'failed', reason: 'server_error', detail };
  return { kind: outcome === 'failed' && FAILURES.includes(reason!) ? 'failed' : 'blocked', reason: reason!, detail };
}

/** Hosts that exist in examples only (RFC 2606 and 6761). */
const RESERVED = /(?:^|\.)(?:example|invalid|localhost|test|example\.(?:com|net|org))\.?$/;

/** Returns the host of an address that can be checked; null for others. */
export function hostToCheck(address: string): string | null {
  const url = parseUrl(address);
  return url && /^https?:$/.test(url.protocol) && !RESERVED.test(url.hostname) ? url.host : null;
}
