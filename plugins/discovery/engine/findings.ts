import { createHash } from 'node:crypto';
import { indexOfWords, passageAround, singleLine } from 'civic';
import type { ClaimDraft, SourceDraft } from 'civic/directory';
import type { Document, Read } from 'civic/reader';
import type { Finding } from '../candidates/propose.ts';
import type { FoundActor } from '../extract/types.ts';

const PLACE_AROUND = 1000;

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

function passageAt(text: string, start: number, end: number): Pick<ClaimDraft, 'excerpt' | 'locator'> {
  return passageAround(text, start, end) ?? { excerpt: null, locator: null };
}
