import { createHash } from 'node:crypto';
import type { ClaimDraft, SourceDraft } from 'civic/directory';
import type { Document, Read } from 'civic/reader';
import type { Finding } from '../candidates/propose.ts';
import type { FoundActor } from '../extract/types.ts';

const EXCERPT_AROUND = 100;
const LONGEST_EXCERPT = 1000;

/** Returns the actors of a page as findings: each claim with its passage in the archived text. */
export function findingsOf(found: FoundActor[], document: Document, read: Read, place: { key: string; name: string } | null): Finding[] {
  const source: SourceDraft = {
    local_id: createHash('sha256').update(read.final_url).digest('hex').slice(0, 16), url: read.final_url, title: document.title?.slice(0, 500) || null, publication: document.site_name?.slice(0, 300) || null,
    retrieved_at: read.at, content_hash: read.content!.hash,
  };
  const placed = place && placeClaim(document.text, place, source.local_id);
  return found.map(({ type, score, method, claims }) => ({
    type, score, sources: [source],
    claims: [...claims.map(({ property, value, start, end }): ClaimDraft => ({ property, value, source_local_id: source.local_id, ...passageAt(document.text, start, end), confidence: score, method })), ...(placed ? [placed] : [])],
  }));
}

/** A page that does not name the place states nothing about it. */
function placeClaim(text: string, { key, name }: { key: string; name: string }, sourceId: string): ClaimDraft | null {
  const at = text.indexOf(name);
  return at < 0 ? null : { property: 'place', value: key, source_local_id: sourceId, ...passageAt(text, at, at + name.length), confidence: 0.6, method: 'rules' };
}

/** Returns the words around a range of the text. */
function passageAt(text: string, start: number, end: number): Pick<ClaimDraft, 'excerpt' | 'locator'> {
  const last = Math.min(end, start + LONGEST_EXCERPT);
  const before = /\s(\S[^\n]*)$/.exec(text.slice(Math.max(0, start - EXCERPT_AROUND), start))?.[1]!.length ?? 0;
  const after = /^([^\n]*\S)\s/.exec(text.slice(last, last + EXCERPT_AROUND))?.[1]!.length ?? 0;
  const locator = { start: start - before, end: last + after };
  const excerpt = text.slice(locator.start, locator.end);
  const lead = excerpt.length - excerpt.trimStart().length;
  return { excerpt: excerpt.trim(), locator: { start: locator.start + lead, end: locator.start + lead + excerpt.trim().length } };
}
