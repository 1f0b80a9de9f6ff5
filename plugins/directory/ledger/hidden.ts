import { lazily, type Tx } from 'civic';
import type { Cluster } from '../actors/derive.ts';
import type { Property } from '../types.ts';
import { heldKeys, setHidden } from './holds-store.ts';
import type { ClaimRow } from './rows.ts';

/** Loads the library of telephone numbers. */
const loadContact = lazily(() => import('./contact-key.ts'));

/** Statements about how to reach somebody: once hidden, they stay hidden, whoever states them again. */
const CONTACTS: Property[] = ['email', 'phone', 'social'];

/** Returns which claims of an actor state the same as some of them. */
export async function withSameValue(claims: ClaimRow[], some: ClaimRow[]): Promise<ClaimRow[]> {
  if (some.length === 0) return [];
  const { valueKey } = await loadContact();
  const values = new Set(some.map(valueKey));
  return claims.filter((claim) => values.has(valueKey(claim)));
}

/** Hides contacts that a reviewer hid before: an import, or another source, may state them again. Claims that only a hold hides do not count. */
export async function hideAgain(tx: Tx, clusters: Cluster[]): Promise<Cluster[]> {
  const hidden = clusters.flatMap(({ claims }) => claims.filter(isHiddenContact));
  if (hidden.length === 0) return clusters;
  const held = await heldKeys(tx, hidden);
  const again = new Set<number>();
  for (const { claims } of clusters) {
    const forGood = claims.filter((claim) => isHiddenContact(claim) && !held.has(claim.key));
    for (const { key, status } of await withSameValue(claims, forGood)) if (status !== 'hidden') again.add(key);
  }
  if (again.size === 0) return clusters;
  await setHidden(tx, [...again]);
  return clusters.map((cluster) => ({ ...cluster, claims: cluster.claims.map((claim) => (again.has(claim.key) ? { ...claim, status: 'hidden' as const } : claim)) }));
}

function isHiddenContact({ property, status }: ClaimRow): boolean {
  return status === 'hidden' && CONTACTS.includes(property);
}
