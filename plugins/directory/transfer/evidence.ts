import { PROPERTIES, type ActorDetail, type Claim } from '../types.ts';
import type { EvidenceClaim } from './row.ts';

/** Claims of an actor with the addresses of their sources, for formats that have no claims of their own. */
export function evidenceOf({ claims, sources }: Pick<ActorDetail, 'claims' | 'sources'>): EvidenceClaim[] {
  const urls = new Map(sources.map((source) => [source.id, source.url]));
  return claims.map((claim) => evidence(claim, urls.get(claim.source_id) ?? ''));
}

function evidence({ id, property, value, rank, confidence, method, excerpt, locator, first_seen_at, last_seen_at, expires_at, status }: Claim, source: string): EvidenceClaim {
  return { id, property, value, source, rank, confidence, method, excerpt, locator, first_seen_at, last_seen_at, expires_at, status };
}

/** Values of a property that still hold, without the one that is shown first. */
export function otherNames({ name, claims }: ActorDetail): string[] {
  const names = claims.filter((claim) => claim.property === 'name' && claim.status === 'active' && claim.rank !== 'deprecated').map((claim) => String(claim.value));
  return [...new Set(names)].filter((each) => each !== name);
}

const CARRIED = ['id', 'rank', 'confidence', 'method', 'excerpt', 'locator', 'first_seen_at', 'last_seen_at', 'expires_at', 'status'] as const;

/** What an export of ours left beside the fields; anything else is ignored. */
export function readEvidence(value: unknown): EvidenceClaim[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isEvidence).map((claim) => {
    const carried = CARRIED.filter((key) => claim[key] !== undefined).map((key) => [key, claim[key]]);
    return { ...Object.fromEntries(carried), property: claim.property, value: claim.value, source: claim.source };
  });
}

function isEvidence(value: unknown): value is EvidenceClaim {
  if (value === null || typeof value !== 'object') return false;
  const { property, source } = value as Partial<EvidenceClaim>;
  return PROPERTIES.some((known) => known === property) && typeof source === 'string';
}
