import { cursorAfter, pageOf, problem } from 'civic';
import { withMembers } from '../actors/wire.ts';
import type { ActorDetail, Claim, Source } from '../types.ts';
import { claimLine, continued, countOf, fitting, shortened } from './text.ts';

const LONGEST_CURSOR = 200;

/** An actor with some of its claims and the sources of these claims. */
export interface DetailPage extends ActorDetail {
  next_cursor: string | null;
}

/** Returns an actor with as many claims as the result of a tool may have: the first, or those after the cursor. `json` is set when all claims fit. */
export function detailPage(body: string, position: { id: string; cursor?: string }, maxBytes: number): { data: DetailPage; json?: string } {
  const detail = JSON.parse(body) as ActorDetail;
  // Nearly every actor fits as a whole, and measuring its parts takes as long as reading it.
  const isWhole = position.cursor === undefined && Buffer.byteLength(body) + LONGEST_CURSOR <= maxBytes;
  if (!isWhole) return { data: claimsAfter(detail, position, maxBytes) };
  return { data: { ...detail, next_cursor: null }, json: withMembers(body, { next_cursor: 'null' }) };
}

/** Returns the claims after the cursor, whose position is the id of the last claim of the page before. */
function claimsAfter(detail: ActorDetail, { id, cursor }: { id: string; cursor?: string }, maxBytes: number): DetailPage {
  const list = { path: `/api/entities/${id}`, query: { ...(cursor !== undefined && { cursor }) }, given: [] };
  const { after } = pageOf(list, ['text']);
  const cursorOf = (claim: Claim) => cursorAfter(list, { query: {}, limit: 0, after: null }, [claim.id]);
  const bytes = (value: object) => Buffer.byteLength(JSON.stringify(value)) + 1;
  const start = after ? detail.claims.findIndex((claim) => claim.id === after[0]) + 1 : 0;
  const sources = new Map<string, Source>();
  const claims: Claim[] = [];
  let left = maxBytes - bytes({ ...detail, claims: [], sources: [], next_cursor: detail.claims[0] ? cursorOf(detail.claims[0]) : null });
  for (const claim of detail.claims.slice(start)) {
    const source = sources.has(claim.source_id) ? undefined : detail.sources.find(({ id: sourceId }) => sourceId === claim.source_id);
    left -= bytes(claim) + (source ? bytes(source) : 0);
    if (left < 0) break;
    claims.push(claim);
    if (source) sources.set(source.id, source);
  }
  if (claims.length === 0 && start < detail.claims.length) {
    throw problem('result_too_large', { detail: `One claim has more than ${maxBytes} bytes.` });
  }
  const hasMore = start + claims.length < detail.claims.length;
  return { ...detail, claims, sources: [...sources.values()], next_cursor: hasMore ? cursorOf(claims.at(-1)!) : null };
}

/** Returns the summary of an actor for clients that show text only. */
export function detailText(page: DetailPage): string {
  const { name, type, description, places, issue_areas, status, source_count, claim_count, claims, sources, next_cursor, url } = page;
  const urls = new Map(sources.map((source) => [source.id, source.url]));
  return [
    `${shortened(name)} (${type}, ${status}); ${countOf(claim_count, 'claim')} from ${countOf(source_count, 'source')}; ${url}`,
    ...(description ? [shortened(description, 500)] : []),
    ...(places.length > 0 ? [`Places: ${places.map(({ place_key }) => place_key).join('; ')}`] : []),
    ...(issue_areas.length > 0 ? [`Issue areas: ${issue_areas.join(', ')}`] : []),
    'Claims, each with its source:',
    ...fitting(claims.map((claim) => claimLine(claim, urls))),
    ...continued(next_cursor),
  ].join('\n');
}
