import { createHash } from 'node:crypto';
import { singleLine } from 'civic';
import type { ClaimDraft, SourceDraft } from 'civic/directory';
import type { Document, Read } from 'civic/reader';
import type { Finding } from '../candidates/propose.ts';
import type { FoundActor } from '../extract/types.ts';

const EXCERPT_AROUND = 100;
const LONGEST_EXCERPT = 1000;
const PLACE_AROUND = 1000;
/** Characters that a database cannot store. */
const NOT_STORED = /[\0\p{Surrogate}]/u;

/** Returns the actors of a page as findings: each claim with its passage in the archived text. */
export function findingsOf(found: FoundActor[], document: Document, read: Read, place: { key: string; name: string } | null): Finding[] {
  const source: SourceDraft = {
    local_id: createHash('sha256').update(read.final_url).digest('hex').slice(0, 16), url: read.final_url, title: singleLine(document.title ?? '', 500) || null, publication: singleLine(document.site_name ?? '', 300) || null,
    retrieved_at: read.at, content_hash: read.content!.hash,
  };
  return found.map(({ type, score, method, claims }) => {
    const placed = place && placeClaim(document.text, claims.find(({ property }) => property === 'name')!.start, place, source.local_id);
    return {
      type, score, sources: [source],
      claims: [...claims.map(({ property, value, start, end }): ClaimDraft => ({ property, value, source_local_id: source.local_id, ...passageAt(document.text, start, end), confidence: score, method })), ...(placed ? [placed] : [])],
    };
  });
}

/** A page that does not name the place near the actor states nothing about it. */
function placeClaim(text: string, nameAt: number, { key, name }: { key: string; name: string }, sourceId: string): ClaimDraft | null {
  const from = Math.max(0, nameAt - PLACE_AROUND);
  const inside = indexOfWords(text.slice(from, nameAt + PLACE_AROUND), name);
  return inside < 0 ? null : { property: 'place', value: key, source_local_id: sourceId, ...passageAt(text, from + inside, from + inside + name.length), confidence: 0.6, method: 'rules' };
}

/** Returns where a text has a name as whole words; -1 where it does not. */
function indexOfWords(text: string, name: string): number {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (!/[\p{L}\p{N}]$/u.test(text.slice(Math.max(0, at - 2), at)) && !/^[\p{L}\p{N}]/u.test(text.slice(at + name.length, at + name.length + 2))) return at;
  }
  return -1;
}

/** Returns the words around a range of the text. */
function passageAt(text: string, start: number, end: number): Pick<ClaimDraft, 'excerpt' | 'locator'> {
  const last = Math.min(end, start + LONGEST_EXCERPT);
  const before = /\s(\S[^\n]*)$/.exec(text.slice(Math.max(0, start - EXCERPT_AROUND), start))?.[1]!.length ?? 0;
  const after = /^([^\n]*\S)\s/.exec(text.slice(last, last + EXCERPT_AROUND))?.[1]!.length ?? 0;
  const locator = { start: start - before, end: last + after };
  const excerpt = text.slice(locator.start, locator.end);
  if (NOT_STORED.test(excerpt)) return { excerpt: null, locator: null };
  const lead = excerpt.length - excerpt.trimStart().length;
  return { excerpt: excerpt.trim(), locator: { start: locator.start + lead, end: locator.start + lead + excerpt.trim().length } };
}
