import type { ClaimDraft, SourceDraft } from 'civic/directory';
import type { Match } from './match.ts';
import type { CandidateRow } from './store.ts';

export type ShownCandidate = ReturnType<typeof shownCandidate>;

/** Returns a candidate as the API does. */
export function shownCandidate({ id, type, name, score, claims, sources, match, decision, decided_at, entity_id, note }: CandidateRow) {
  return {
    id, type, name,
    score: Math.round(1000 * Number(score)) / 1000,
    // The type is a field of the candidate.
    claims: (JSON.parse(claims) as ClaimDraft[]).filter(({ property }) => property !== 'type').map(shownClaim),
    sources: (JSON.parse(sources) as SourceDraft[]).map(shownSource),
    match: match === null ? null : JSON.parse(match) as Match,
    decision, decided_at, entity_id, note,
  };
}

function shownClaim({ property, value, source_local_id, excerpt = null, locator = null, confidence = 1, method = 'rules' }: ClaimDraft) {
  return { property, value, source_local_id, excerpt, locator, confidence, method };
}

function shownSource({ local_id, url, title = null, publication = null, published_at = null, retrieved_at = null, content_hash = null }: SourceDraft) {
  return { local_id, url, title, publication, published_at, retrieved_at, content_hash };
}
