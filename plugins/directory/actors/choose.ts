import type { ClaimRow, SourceRow } from '../ledger/rows.ts';
import type { ClaimValues, Property } from '../types.ts';

/** What a reader may see of the claims: all but hidden and retracted ones. */
export function isShown(claim: Pick<ClaimRow, 'status'>): boolean {
  return claim.status === 'active' || claim.status === 'disputed';
}

/** What the record is worked out from: shown, not deprecated, not past its end. */
export function counts(claim: ClaimRow, now: string): boolean {
  return isShown(claim) && claim.rank !== 'deprecated' && (claim.expires_at === null || claim.expires_at > now);
}

/** Better claims first: preferred ones, then undisputed, then surer, then seen later, then older in the ledger. */
export function byWeight(a: ClaimRow, b: ClaimRow): number {
  return Number(b.rank === 'preferred') - Number(a.rank === 'preferred')
    || Number(a.status === 'disputed') - Number(b.status === 'disputed')
    || b.confidence - a.confidence
    || (a.last_seen_at < b.last_seen_at ? 1 : a.last_seen_at > b.last_seen_at ? -1 : 0)
    || a.key - b.key;
}

/** The claims that speak for an actor, by property, best first. */
export class Chosen {
  /** Those that decide what is shown. */
  readonly used: ClaimRow[] = [];
  readonly #byProperty = new Map<Property, ClaimRow[]>();

  constructor(claims: ClaimRow[], now: string) {
    for (const claim of claims) {
      if (!counts(claim, now)) continue;
      const others = this.#byProperty.get(claim.property);
      if (others) others.push(claim);
      else this.#byProperty.set(claim.property, [claim]);
    }
    for (const some of this.#byProperty.values()) if (some.length > 1) some.sort(byWeight);
  }

  /** The best claim's value. */
  one<Name extends Property>(property: Name): ClaimValues[Name] | null {
    const best = this.#byProperty.get(property)?.[0];
    if (!best) return null;
    this.used.push(best);
    return JSON.parse(best.value) as ClaimValues[Name];
  }

  /** Every value that is claimed, each once. */
  all<Name extends Property>(property: Name): ClaimValues[Name][] {
    const seen = new Set<string>();
    const values: ClaimValues[Name][] = [];
    for (const claim of this.#byProperty.get(property) ?? []) {
      if (seen.has(claim.value)) continue;
      seen.add(claim.value);
      this.used.push(claim);
      values.push(JSON.parse(claim.value) as ClaimValues[Name]);
    }
    return values;
  }

  /** Further values of a property that has one: other names, for the search. */
  others(property: Property): string[] {
    return (this.#byProperty.get(property) ?? []).slice(1).map(({ value }) => String(JSON.parse(value)));
  }
}

export function latest(times: (string | null)[]): string | null {
  let last: string | null = null;
  for (const time of times) if (time !== null && (last === null || time > last)) last = time;
  return last;
}

export function sourceTime(source: SourceRow): string {
  return source.published_at ?? source.retrieved_at;
}
