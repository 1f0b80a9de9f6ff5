import { cursorAfter, fitText, pageOf, problem, quoteText, resultBytes, summaryTail, truncate, type Reader, type Truncation } from 'civic';
import type { DirectoryContext } from '../actors/context.ts';
import { CLAIM_POSITION } from '../actors/detail.ts';
import { comparePositions } from '../actors/position.ts';
import type { ShownActor } from '../actors/read-store.ts';
import { actorDetail, actorWithPositions } from '../actors/reads.ts';
import { withMembers } from '../actors/wire.ts';
import type { Actor, ActorDetail, Claim, Source } from '../types.ts';
import { claimLine, countOf, namesOf, urlText } from './text.ts';

const CURSOR_BYTES = 500;
const DESCRIPTION_LENGTH = 500;

/** An actor with some of its claims and the sources of these claims. */
export interface DetailPage extends ActorDetail {
  next_cursor: string | null;
  truncated?: Truncation[];
}

interface PageQuery {
  id: string;
  cursor?: string;
}

/** Returns an actor with as many claims as the result of a tool may have: the first, or those after the cursor. `json` is set when all claims fit. */
export async function detailPage(context: DirectoryContext, find: (reader: Reader) => Promise<ShownActor>, query: PageQuery, maxBytes: number): Promise<{ data: DetailPage; json?: string }> {
  if (query.cursor === undefined) {
    // Nearly every actor fits as a whole, and measuring its parts takes as long as reading it.
    const { body } = await actorDetail(context, find);
    if (resultBytes(body) + CURSOR_BYTES <= maxBytes) return { data: { ...JSON.parse(body) as ActorDetail, next_cursor: null }, json: withMembers(body, { next_cursor: 'null' }) };
  }
  return { data: claimsAfter(await actorWithPositions(context, find), query, maxBytes) };
}

interface PositionedActor {
  detail: ActorDetail;
  /** Of each claim. */
  positions: number[][];
}

/** Returns the claims after the cursor. All pages have the other members of the actor, with lists and texts cut to half of the result; the claims have them whole. */
function claimsAfter({ detail: { claims, sources, ...actor }, positions }: PositionedActor, { id, cursor }: PageQuery, maxBytes: number): DetailPage {
  const list = { path: `/api/entities/${id}`, query: { ...(cursor !== undefined && { cursor }) }, given: [] };
  const page = pageOf(list, CLAIM_POSITION);
  const isNext = (position: number[]) => page.after === null || comparePositions(position, page.after as number[]) > 0;
  const start = positions.findIndex(isNext);
  const own = shortened<Actor>(actor, maxBytes / 2);
  const result: DetailPage = { ...own.value, claims: [], sources: [], next_cursor: null };
  const truncated = [...own.truncated];
  const sourceById = new Map(sources.map((source) => [source.id, source]));
  const room = maxBytes - own.bytes - CURSOR_BYTES;
  let left = room;
  const rest = start === -1 ? [] : claims.slice(start);
  for (const claim of rest) {
    const isCited = result.sources.some((source) => source.id === claim.source_id);
    const pair = shortened<CitedClaim>({ claim, ...(!isCited && { source: sourceById.get(claim.source_id)! }) }, room);
    left -= pair.bytes;
    if (left < 0) break;
    truncated.push(...pair.truncated.map(({ pointer, left_out }) => ({ pointer: pointer.replace('/claim/', `/claims/${result.claims.length}/`).replace('/source/', `/sources/${result.sources.length}/`), left_out })));
    result.claims.push(pair.value.claim);
    if (pair.value.source) result.sources.push(pair.value.source);
  }
  const hasMore = result.claims.length < rest.length;
  const next = hasMore ? cursorAfter(list, { query: {}, limit: 0, after: null }, positions[start + result.claims.length - 1]!) : null;
  return { ...result, next_cursor: next, ...(truncated.length > 0 && { truncated }) };
}

interface CitedClaim {
  claim: Claim;
  /** Absent when the page has it already. */
  source?: Source;
}

function shortened<Value extends object>(value: Value, maxBytes: number): { value: Value; truncated: Truncation[]; bytes: number } {
  const bytes = resultBytes(JSON.stringify(value));
  const shorter = bytes <= maxBytes ? { value, truncated: [], bytes } : truncate(value, maxBytes);
  if (!shorter) throw problem('result_too_large', { detail: `A claim or the other members of the actor have more than ${maxBytes} bytes.` });
  return shorter;
}

/** Returns the summary of an actor for clients that show text only. */
export function detailText(page: DetailPage): string {
  const { name, type, description, places, issue_areas, status, source_count, claim_count, claims, sources, url } = page;
  const urls = new Map(sources.map((source) => [source.id, source.url]));
  return fitText([
    `${quoteText(name)} (${type}, ${status}); ${countOf(claim_count, 'claim')} from ${countOf(source_count, 'source')}; ${urlText(url)}`,
    ...(description ? [`Description: ${quoteText(description, DESCRIPTION_LENGTH)}`] : []),
    ...(places.length > 0 ? [`Places: ${namesOf(places.map(({ place_key }) => place_key))}`] : []),
    ...(issue_areas.length > 0 ? [`Issue areas: ${namesOf(issue_areas)}`] : []),
    'Claims, each with its source:',
    ...claims.map((claim) => claimLine(claim, urls)),
  ], summaryTail(page));
}
