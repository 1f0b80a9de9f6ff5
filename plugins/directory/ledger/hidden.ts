import { lazily } from 'civic';
import type { Patch } from './service.ts';
import type { ClaimRow } from './rows.ts';

/** Loads the library of telephone numbers. */
const loadContact = lazily(() => import('./contact-key.ts'));

/** Returns which claims of an actor state the same as some of them. */
export async function withSameValue(claims: ClaimRow[], some: ClaimRow[]): Promise<ClaimRow[]> {
  if (some.length === 0) return [];
  const { valueKey } = await loadContact();
  const values = new Set(some.map(valueKey));
  return claims.filter((claim) => values.has(valueKey(claim)));
}

/** Returns hidden claims with the status that they had before. */
export function formerClaims(claims: ClaimRow[], unhide: NonNullable<Patch['unhide']>): ClaimRow[] {
  const former = new Map(unhide.map(({ claim_id, status }) => [claim_id, status]));
  return claims.flatMap((claim) => (claim.status === 'hidden' && former.has(claim.id) ? [{ ...claim, status: former.get(claim.id)! }] : []));
}
